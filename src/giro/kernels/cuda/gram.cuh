// Σ y y' over rows y, by tensor cores, and the solution of linear equations with it.
//
// A block has its own sum. Rows come in chunks through shared memory, two chunks at a time, of which
// one is filled while the other is used. The upper triangle is cut into tiles of 16 x 8 columns;
// each warp keeps some of them in registers. Where there are few tiles, groups of warps take
// different rows of a chunk, and their sums are added in a fixed order.
//
// In double precision this is exact. In single precision it is good enough for a Hessian.
// Mirrors giro.kernels.regression.rows.weighted_gram and linear_algebra.factorise.

#define WARPS 8
#define THREADS (32 * WARPS)
#define BLOCKS ((D + 15) / 16)          // of 16 columns
#define GROUPS ((D + 8) / 8)            // of 8 columns; column D is one more
#define TILES (BLOCKS * GROUPS - BLOCKS * (BLOCKS - 1))
#define NEEDED ((TILES + 5) / 6)        // warps, with six tiles each
#define PARTS (NEEDED <= 1 ? 8 : NEEDED <= 2 ? 4 : NEEDED <= 4 ? 2 : 1)
#define TILE_WARPS (WARPS / PARTS)
#define TILES_EACH ((TILES + TILE_WARPS - 1) / TILE_WARPS)
#ifndef CHUNK
#define CHUNK (PARTS > 2 ? 16 * PARTS : 32)
#endif
#define QUADS (DP / 4)                  // float4s of a row
#define LOADS ((CHUNK * QUADS + THREADS - 1) / THREADS)
#define GRAM (DP + 1)                   // columns of the result: D for a sum, D + 1 for a context

template <class T> struct Layout;
template <> struct Layout<double> { static const int stride = DP + 4; };
template <> struct Layout<float> { static const int stride = DP + 8; };

struct Scaled {  // y = root x, and y[D] = last
    int row;
    double root, last;
};

// The block of 16 and the group of 8 columns of a tile.
__device__ inline void place_of(int tile, int &block, int &group)
{
    block = 0;
    while (tile >= GROUPS - 2 * block) {
        tile -= GROUPS - 2 * block;
        block++;
    }
    group = 2 * block + tile;
}

template <class T> __device__ inline void
put_rows(T *x, const float4 *quads, const Scaled *scaled)
{
    for (int i = 0; i < LOADS; i++) {
        const int place = threadIdx.x + i * THREADS, r = place / QUADS, q = place % QUADS;
        if (r >= CHUNK) break;
        const T root = (T)scaled[r].root;
        T *to = x + r * Layout<T>::stride + 4 * q;
        to[0] = root * (T)quads[i].x;
        to[1] = root * (T)quads[i].y;
        to[2] = root * (T)quads[i].z;
        to[3] = root * (T)quads[i].w;
        if (q == D / 4) to[D % 4] = (T)scaled[r].last;
    }
}

__device__ inline void load_rows(const Game &g, float4 *quads, const Scaled *scaled)
{
    for (int i = 0; i < LOADS; i++) {
        const int place = threadIdx.x + i * THREADS, r = place / QUADS, q = place % QUADS;
        if (r >= CHUNK) break;
        quads[i] = __ldg((const float4 *)(g.contexts + (size_t)scaled[r].row * DP) + q);
    }
}

template <class T> __device__ inline void
add_chunk(T (*sums)[4], const T *x, const int *block, const int *group, int part)
{
    const int lane = threadIdx.x & 31, row = lane & 3, column = lane >> 2;
    for (int first = 16 * part; first < CHUNK; first += 16 * PARTS) {
        const T *from = x + (first + row) * Layout<T>::stride + column;
        T a[8], b[4];
        int held = -1;
#pragma unroll
        for (int j = 0; j < TILES_EACH; j++) {
            if (group[j] < 0) continue;
            if (block[j] != held) {
                held = block[j];
#pragma unroll
                for (int i = 0; i < 8; i++)
                    a[i] = from[(i / 2) * 4 * Layout<T>::stride + 16 * held + 8 * (i & 1)];
            }
#pragma unroll
            for (int i = 0; i < 4; i++) b[i] = from[i * 4 * Layout<T>::stride + 8 * group[j]];
            accumulate(sums[j], a, b);
        }
    }
}

// Set the upper triangle of `gram` [row * GRAM + column] to Σ y y' over n rows, y[D] included.
// `scale(i)` returns the i-th row. `x` has two chunks, and may be where `gram` is.
template <class T, class Scale> __device__ inline void
add_up(const Game &g, int n, Scale scale, T *x, Scaled *scaled, double *gram)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x & 31, size = CHUNK * Layout<T>::stride;
    const int part = warp / TILE_WARPS, chunks = (n + CHUNK - 1) / CHUNK;
    int block[TILES_EACH], group[TILES_EACH];
    T sums[TILES_EACH][4];
#pragma unroll
    for (int j = 0; j < TILES_EACH; j++) {
        const int tile = (warp % TILE_WARPS) * TILES_EACH + j;
        group[j] = -1;
        block[j] = 0;
        if (tile < TILES) place_of(tile, block[j], group[j]);
        sums[j][0] = sums[j][1] = sums[j][2] = sums[j][3] = (T)0;
    }
    const bool scales = threadIdx.x < CHUNK;
    float4 quads[LOADS];
    for (int i = 0; i < 2; i++) {
        const int place = i * CHUNK + threadIdx.x;
        if (scales) scaled[place] = place < n ? scale(place) : Scaled{0, 0.0, 0.0};
    }
    __syncthreads();
    load_rows(g, quads, scaled);
    put_rows(x, quads, scaled);
    __syncthreads();
    for (int c = 0; c < chunks; c++) {
        Scaled next{0, 0.0, 0.0};
        const int place = (c + 2) * CHUNK + threadIdx.x;
        if (scales && place < n) next = scale(place);
        const Scaled *following = scaled + (c + 1) % 3 * CHUNK;
        if (c + 1 < chunks) load_rows(g, quads, following);
        add_chunk(sums, x + (c & 1) * size, block, group, part);
        if (c + 1 < chunks) put_rows(x + (c + 1 & 1) * size, quads, following);
        if (scales) scaled[(c + 2) % 3 * CHUNK + threadIdx.x] = next;
        __syncthreads();
    }
    for (int p = 0; p < PARTS; p++) {
        if (p == part) {
#pragma unroll
            for (int j = 0; j < TILES_EACH; j++) {
                if (group[j] < 0) continue;
                for (int i = 0; i < 4; i++) {
                    const int r = 16 * block[j] + (lane >> 2) + 8 * (i / 2);
                    const int column = 8 * group[j] + 2 * (lane & 3) + (i & 1);
                    double *to = gram + r * GRAM + column;
                    if (r < D && column <= D)
                        *to = (p ? *to : 0.0) + (double)sums[j][i];
                }
            }
        }
        __syncthreads();
    }
}

// 1 / x to nearly all digits, in a fifth of the instructions of a division.
__device__ inline double reciprocal(double x)
{
#ifdef EMULATED
    return 1.0 / x;
#else
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    r = fma(r, fma(-x, r, 1.0), r);
    return fma(r, fma(-x, r, 1.0), r);
#endif
}

#define FEW 4  // rows below that a warp works on at a time

// Eliminate: the upper triangle of A becomes M with A = M' diag(M)⁻¹ M, `inverse` holds diag(M)⁻¹, and
// what stands in columns D up to `last` becomes the y of M' diag(M)⁻¹ y = b. Four rows at a time: each
// thread eliminates their square by itself, and one column of them; then each warp takes the four
// from a few rows below at a time. All threads.
__device__ inline void eliminate(double *gram, double *inverse, int last)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
    for (int i = 0; i < D; i += 4) {
        const int j = i + threadIdx.x;
        const bool takes_part = i + 32 * warp <= last;
        double square[4][4], column[4], pivot[4];
        if (takes_part) {
#pragma unroll
            for (int a = 0; a < 4; a++) {
                column[a] = i + a < D && j <= last ? gram[(i + a) * GRAM + j] : 0.0;
#pragma unroll
                for (int b = a; b < 4; b++)
                    square[a][b] = i + b < D ? gram[(i + a) * GRAM + i + b] : a == b ? 1.0 : 0.0;
            }
#pragma unroll
            for (int a = 0; a < 4; a++) {
                pivot[a] = reciprocal(square[a][a]);
#pragma unroll
                for (int b = a + 1; b < 4; b++) {
                    const double factor = square[a][b] * pivot[a];
                    column[b] -= factor * column[a];
#pragma unroll
                    for (int c = b; c < 4; c++) square[b][c] -= factor * square[a][c];
                }
            }
        }
        __syncthreads();
        if (takes_part) {
#pragma unroll
            for (int a = 0; a < 4; a++) {
                if (i + a < D && j >= i + a && j <= last) gram[(i + a) * GRAM + j] = column[a];
                if (threadIdx.x == 0 && i + a < D) inverse[i + a] = pivot[a];
            }
        }
        __syncthreads();
        for (int k = i + 4 + FEW * warp; k < D; k += FEW * WARPS) {
            double factor[FEW][4];
#pragma unroll
            for (int a = 0; a < 4; a++) {
                const double by = inverse[i + a];
#pragma unroll
                for (int r = 0; r < FEW; r++)
                    factor[r][a] = k + r < D ? gram[(i + a) * GRAM + k + r] * by : 0.0;
            }
#pragma unroll
            for (int m = 0; m < LANE_COLUMNS; m++) {
                const int at = k + lane + 32 * m;
                if (at > last) break;
                double sums[FEW];
#pragma unroll
                for (int r = 0; r < FEW; r++)
                    sums[r] = k + r < D ? gram[(k + r) * GRAM + at] : 0.0;
#pragma unroll
                for (int a = 0; a < 4; a++) {
                    const double above = gram[(i + a) * GRAM + at];
#pragma unroll
                    for (int r = 0; r < FEW; r++) sums[r] -= factor[r][a] * above;
                }
#pragma unroll
                for (int r = 0; r < FEW; r++)
                    if (k + r < D && at >= k + r) gram[(k + r) * GRAM + at] = sums[r];
            }
        }
        __syncthreads();
    }
}

// Return y of M' diag(M)⁻¹ y = b, after `eliminate`. One warp.
__device__ inline Columns solve_forward(const double *gram, const double *inverse, Columns b)
{
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int part = 0; part < LANE_COLUMNS; part++) {
        const int end = 32 * part + 32 < D ? 32 * part + 32 : D;
        for (int i = 32 * part; i < end; i++) {
            const double factor = from_lane(b.at[part], i) * inverse[i];
#pragma unroll
            for (int m = part; m < LANE_COLUMNS; m++) {
                const int j = lane + 32 * m;
                if (j > i && j < D) b.at[m] -= factor * gram[i * GRAM + j];
            }
        }
    }
    return b;
}

// Return x of M x = y. One warp.
__device__ inline Columns solve_backward(const double *gram, const double *inverse, Columns y)
{
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int part = LANE_COLUMNS - 1; part >= 0; part--) {
        const int end = 32 * part + 32 < D ? 32 * part + 32 : D;
        for (int i = end - 1; i >= 32 * part; i--) {
            const double x = from_lane(y.at[part], i) * inverse[i];
#pragma unroll
            for (int m = 0; m <= part; m++) {
                const int j = lane + 32 * m;
                if (j < i) y.at[m] -= x * gram[j * GRAM + i];
            }
            if (lane == (i & 31)) y.at[part] = x;
        }
    }
    return y;
}
