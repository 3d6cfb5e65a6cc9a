// CUDA on one core: every thread is a fiber, and barriers, shuffles and tensor cores are emulated.
// Blocks are played one after the other. For tests of the kernels where there is no GPU.
//
// A warp goes on until all of it waits for the others, so that one which is far ahead shows where a
// barrier is missing. `last_first` says which warps are ahead. Shared memory begins as NaN, and what
// is written behind the part that a kernel asked for is reported.
#include <ucontext.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#define EMULATED
#define __global__
#define __device__
#define __shared__ static
#define __align__(n) alignas(n)
#define __launch_bounds__(...)
struct dim3 { unsigned x; };
struct uint4 { unsigned x, y, z, w; };
struct int2 { int x, y; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
static dim3 threadIdx, blockIdx, blockDim;
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
template <class T, class F> T bits(F f) { T t; std::memcpy(&t, &f, sizeof t); return t; }
inline int __float_as_int(float f) { return bits<int>(f); }
inline float __int_as_float(int i) { return bits<float>(i); }
inline double __longlong_as_double(unsigned long long i) { return bits<double>(i); }
inline double cospi(double x) { return std::cos(x * 3.14159265358979323846); }
template <class T> T __ldg(const T *p) { return *p; }
template <class T> T __ldcg(const T *p) { return *p; }
inline unsigned atomicAdd(unsigned *p, unsigned v) { unsigned old = *p; *p += v; return old; }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
using std::abs;
alignas(16) unsigned char memory[256 * 1024];

struct Barrier { int waiting = 0, turn = 0, line = 0; };
struct Fiber { ucontext_t context; bool done; int awaited; };
static std::vector<Fiber> fibers;
static std::vector<char> stacks;
static std::vector<Barrier> warp_barriers;
static Barrier block_barrier;
static ucontext_t scheduler;
static int alive, current;
static double exchange[64][32];
static double fragments[64][32][16];
inline void yield() { swapcontext(&fibers[current].context, &scheduler); }
inline void await(Barrier &b, int n) {
    const int turn = b.turn;
    if (++b.waiting >= n) { b.waiting = 0; b.turn++; return; }
    while (b.turn == turn) yield();
}
inline void fail(const char *text, int line) { std::fprintf(stderr, "%s, line %d\n", text, line); std::abort(); }
inline void await_block(int line) {
    if (block_barrier.waiting == 0) block_barrier.line = line;
    if (block_barrier.line != line) fail("threads of a block wait at several barriers", line);
    fibers[current].awaited = block_barrier.turn;
    await(block_barrier, alive);
    fibers[current].awaited = -1;
}
#define __syncthreads() await_block(__LINE__)
inline int warp_size() { int left = (int)blockDim.x - (int)(threadIdx.x / 32) * 32; return left < 32 ? left : 32; }
inline void __syncwarp() { await(warp_barriers[threadIdx.x / 32], warp_size()); }
template <class T> T __shfl_sync(unsigned, T v, int from) {
    const int warp = threadIdx.x / 32;
    exchange[warp][threadIdx.x & 31] = (double)v;
    __syncwarp();
    const T r = (T)exchange[warp][from & 31];
    __syncwarp();
    return r;
}
template <class T> T __shfl_xor_sync(unsigned mask, T v, int d) { return __shfl_sync(mask, v, (threadIdx.x & 31) ^ d); }
inline int __any_sync(unsigned mask, int v) {
    int any = 0;
    for (int lane = 0; lane < 32; lane++) any |= __shfl_sync(mask, v, lane);
    return any;
}
// Tensor cores add floats without rounding to the nearest.
template <class T> T towards_zero(double x) {
    const T t = (T)x;
    return std::abs((double)t) > std::abs(x) ? std::nextafter(t, (T)0) : t;
}
template <class T> void multiply(T *c, const T *a, const T *b) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
    for (int i = 0; i < 8; i++) fragments[warp][lane][i] = a[i];
    for (int i = 0; i < 4; i++) fragments[warp][lane][8 + i] = b[i];
    __syncwarp();
    for (int i = 0; i < 4; i++) {
        const int row = (lane >> 2) + 8 * (i / 2), column = 2 * (lane & 3) + (i & 1);
        double sum = c[i];
        for (int k = 0; k < 16; k++) {
            sum += fragments[warp][(row % 8) * 4 + k % 4][k / 4 * 2 + row / 8] *
                   fragments[warp][column * 4 + k % 4][8 + k / 4];
            if (k % 8 == 7) sum = (double)towards_zero<T>(sum);
        }
        c[i] = (T)sum;
    }
    __syncwarp();
}
inline void copy_ahead(float *to, const float *from) { std::memcpy(to, from, 16); }
inline void end_copies() {}
inline void await_copies() {}

static void (*body)();
static void begin() { body(); fibers[current].done = true; alive--; if (block_barrier.waiting && block_barrier.waiting >= alive) { block_barrier.waiting = 0; block_barrier.turn++; } yield(); }
// Let the threads of a warp go on until each has ended or waits for the block.
inline void go_on(unsigned first, unsigned last) {
    for (bool goes = true; goes;) {
        goes = false;
        for (unsigned i = first; i < last; i++) {
            if (fibers[i].done || fibers[i].awaited == block_barrier.turn) continue;
            goes = true;
            current = (int)i;
            threadIdx.x = i;
            swapcontext(&scheduler, &fibers[i].context);
        }
    }
}
inline void launch(unsigned blocks, unsigned threads, unsigned shared, int last_first, void (*function)()) {
    const size_t size = 256 * 1024;
    const unsigned warps = (threads + 31) / 32;
    body = function;
    blockDim.x = threads;
    stacks.resize(size * threads);
    for (unsigned block = 0; block < blocks; block++) {
        blockIdx.x = block;
        fibers.assign(threads, Fiber());
        warp_barriers.assign(warps, Barrier());
        block_barrier = Barrier();
        alive = (int)threads;
        std::memset(memory, 0xff, sizeof memory);
        for (unsigned i = 0; i < threads; i++) {
            getcontext(&fibers[i].context);
            fibers[i].context.uc_stack.ss_sp = stacks.data() + size * i;
            fibers[i].context.uc_stack.ss_size = size;
            fibers[i].context.uc_link = &scheduler;
            fibers[i].done = false;
            fibers[i].awaited = -1;
            makecontext(&fibers[i].context, begin, 0);
        }
        while (alive > 0)
            for (unsigned w = 0; w < warps; w++) {
                const unsigned first = 32 * (last_first ? warps - 1 - w : w);
                go_on(first, first + 32 < threads ? first + 32 : threads);
            }
        for (size_t i = shared; i < sizeof memory; i++)
            if (memory[i] != 0xff) fail("written behind shared memory, at byte", (int)i);
    }
}
