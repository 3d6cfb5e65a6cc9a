// Networks of one hidden layer, one for each arm; a block trains that of one arm in one round.
//
// Descent in batches of 32 entries, by the formulas of giro.kernels.network, in single precision.
// A bootstrap sample in random order is a sequence of independent draws, so an entry is drawn when
// it is needed. Without a bootstrap (SHUFFLED) the order is that of order.cuh.
// Rows come from memory two batches ahead. Sums are cut so that a number that was read from shared
// memory serves many products. Forward, a warp has 32 / WARPS entries, a lane SHARED of them with one
// of PARTS parts of the columns; then lanes exchange sums. Backward, a warp has some columns, a lane
// half of the entries.

#define WARPS 4
#define THREADS (32 * WARPS)
#define QUADS (DP / 4)
#define SHARED (QUADS % 16 == 0 ? 4 : QUADS % 8 == 0 ? 2 : 1)
#define PARTS (WARPS * SHARED)
#define STRIDE (DP + 4)                   // of a row in shared memory: no two lanes in one bank
#define UNITS ((HIDDEN + 4) / 4 * 4)      // one more than HIDDEN, and a multiple of 4
#define OWNED ((DP / 16 + WARPS - 1) / WARPS)  // columns of a lane on the way back
#define HALF ((HIDDEN + 1) / 2)
#define LARGEST 1e15f                     // weights are held within this: no product overflows

struct Space {  // of one block
    float rows[2][32 * STRIDE];
    float hidden[DP * UNITS];             // W, rows in the order of `slot_of`
    float output[UNITS];                  // v, and behind it the bias b
    float errors[32 * UNITS];             // [entry, unit] E
    float outer[32 * UNITS];              // [entry, unit] error times unit, and the error
    float targets[2][32];
};

struct Entry {
    int2 observed;                        // row, and the bits of its reward
    int kind;
};

__device__ inline float target_of(const Entry &entry)
{
    const float reward = __int_as_float(entry.observed.y);
    return entry.kind == REAL ? reward : entry.kind == ONE ? 1.0f : 0.0f;
}

// Where column j of W is kept: lanes that read at once find other banks.
__device__ inline int slot_of(int j)
{
    const int quad = j / 4;
    return (quad / PARTS * 4 + j % 4) * PARTS + quad % PARTS;
}

__device__ inline float within(float weight) { return fminf(fmaxf(weight, -LARGEST), LARGEST); }

__device__ inline float sigmoid(float score)
{
    return 1.0f / (1.0f + expf(-fminf(fmaxf(score, -80.0f), 80.0f)));
}

// Draws the entries of one arm's sample. What it needs is held in registers.
struct Sampler {
    const int2 *history;
    const float *contexts;
    u32 s, k, n;                          // rows, pseudo rewards of each kind, entries
    u32 round, place, number, key[2];     // of draws, see `words`
    float rate;
    uint4 drawn;
    Order order;
};

__device__ inline Sampler sampler_of(const Game &g, int run, int t, int arm, u32 s)
{
    Sampler from;
    from.history = history_of(g, run, arm);
    from.contexts = g.contexts;
    from.s = s;
    from.k = SHUFFLED ? 0 : pseudo_count(g, run, t, arm, s);
    from.n = s + 2 * from.k;
    from.round = (u32)t;
    from.place = (u32)ENTRIES << 16 | (u32)arm;
    from.number = (u32)g.numbers[run];
    from.key[0] = (u32)g.seed_low;
    from.key[1] = (u32)g.seed_high;
    from.rate = (float)g.rate;
    if (SHUFFLED) from.order = order_of(g, run, t, arm, s, 0);
    return from;
}

// The lane's entry of a batch. Its reward is not looked at: it may still be on its way.
__device__ inline Entry entry_at(Sampler &from, u32 batch)
{
    const u32 lane = threadIdx.x & 31, i = 32 * batch + lane;
    if (SHUFFLED) return Entry{from.history[i < from.n ? place_in(from.order, i) : 0], REAL};
    if ((batch & 1) == 0)
        from.drawn = philox(batch / 2 * 32 + lane, from.round, from.place, from.number,
                            from.key[0], from.key[1]);
    int kind;
    const bool odd = batch & 1;
    const int row = sampled(odd ? from.drawn.z : from.drawn.x, odd ? from.drawn.w : from.drawn.y,
                            from.s, from.k, kind);
    return Entry{from.history[row], kind};
}

// Begin to copy the rows of a batch.
__device__ inline void fetch_rows(const float *contexts, float *rows, int row)
{
#pragma unroll
    for (int i = 0; i < (32 * QUADS + THREADS - 1) / THREADS; i++) {
        const int place = THREADS * i + threadIdx.x, r = place / QUADS & 31, q = place % QUADS;
        const int from = __shfl_sync(0xffffffffu, row, r);
        if (place < 32 * QUADS)
            copy_ahead(rows + r * STRIDE + 4 * q, contexts + (size_t)from * DP + 4 * q);
    }
    end_copies();
}

// Set `sums` to W'x of the lane's entry, and return its number.
__device__ inline int forward(const float *rows, const float *hidden, float *sums)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, part = lane % PARTS;
    const int first = warp * (32 / WARPS) + lane / PARTS * SHARED;
    const float *mine = rows + first * STRIDE + 4 * part;
    float s[SHARED][HIDDEN];
#pragma unroll
    for (int m = 0; m < SHARED; m++)
#pragma unroll
        for (int k = 0; k < HIDDEN; k++) s[m][k] = 0.0f;
#pragma unroll
    for (int c = 0; c < QUADS / PARTS; c++) {
        float x[SHARED][4];
#pragma unroll
        for (int m = 0; m < SHARED; m++)
            *(float4 *)x[m] = *(const float4 *)(mine + m * STRIDE + 4 * PARTS * c);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float w[UNITS];
#pragma unroll
            for (int k = 0; k < UNITS; k += 4)
                *(float4 *)(w + k) =
                    *(const float4 *)(hidden + ((4 * c + j) * PARTS + part) * UNITS + k);
#pragma unroll
            for (int m = 0; m < SHARED; m++)
#pragma unroll
                for (int k = 0; k < HIDDEN; k++) s[m][k] += x[m][j] * w[k];
        }
    }
    int entry = first, distance = PARTS / 2;
#pragma unroll
    for (int left = SHARED / 2; left > 0; left /= 2) {
        const bool high = part & distance;
#pragma unroll
        for (int m = 0; m < left; m++)
#pragma unroll
            for (int k = 0; k < HIDDEN; k++)
                s[m][k] = (high ? s[m + left][k] : s[m][k]) +
                          __shfl_xor_sync(0xffffffffu, high ? s[m][k] : s[m + left][k], distance);
        entry += high ? left : 0;
        distance /= 2;
    }
#pragma unroll
    for (int k = 0; k < HIDDEN; k++) {
        sums[k] = s[0][k];
#pragma unroll
        for (int d = PARTS / (2 * SHARED); d > 0; d /= 2)
            sums[k] += __shfl_xor_sync(0xffffffffu, sums[k], d);
    }
    return entry;
}

// Set the errors of an entry; one behind the last has none. Lanes with the same entry write the same.
__device__ inline void set_errors(Space &space, float *sums, int entry, float target, bool counts)
{
    float score = space.output[HIDDEN];
#pragma unroll
    for (int k = 0; k < HIDDEN; k++) {
        sums[k] = fmaxf(sums[k], 0.0f);
        score += sums[k] * space.output[k];
    }
    const float error = counts ? sigmoid(score) - target : 0.0f;
    float errors[UNITS], outer[UNITS];
#pragma unroll
    for (int k = 0; k < UNITS; k++) {
        const bool is_unit = k < HIDDEN;
        const float sum = is_unit ? sums[is_unit ? k : 0] : 0.0f;
        errors[k] = sum > 0.0f ? error * space.output[k] : 0.0f;
        outer[k] = k == HIDDEN ? error : error * sum;
    }
    if (threadIdx.x % (PARTS / SHARED) != 0) return;
#pragma unroll
    for (int k = 0; k < UNITS; k += 4) {
        *(float4 *)(space.errors + entry * UNITS + k) = *(float4 *)(errors + k);
        *(float4 *)(space.outer + entry * UNITS + k) = *(float4 *)(outer + k);
    }
}

// Move W by -step times Σ x E'. Entries whose bit 2 is set are those of the upper lanes.
__device__ inline void move_hidden(Space &space, const float *rows, float step)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, upper = lane >> 4;
    const int column = (lane & 15) + 16 * warp;
    if (16 * warp >= DP) return;
    float sums[OWNED][HIDDEN];
#pragma unroll
    for (int m = 0; m < OWNED; m++)
#pragma unroll
        for (int k = 0; k < HIDDEN; k++) sums[m][k] = 0.0f;
#pragma unroll 8
    for (int i = 0; i < 16; i++) {
        const int entry = (i & 3) | upper << 2 | (i >> 2) << 3;
        float e[UNITS];
#pragma unroll
        for (int k = 0; k < UNITS; k += 4)
            *(float4 *)(e + k) = *(const float4 *)(space.errors + entry * UNITS + k);
#pragma unroll
        for (int m = 0; m < OWNED; m++) {
            const int at = column + 16 * WARPS * m;
            const float x = at < DP ? rows[entry * STRIDE + at] : 0.0f;
#pragma unroll
            for (int k = 0; k < HIDDEN; k++) sums[m][k] += x * e[k];
        }
    }
#pragma unroll
    for (int m = 0; m < OWNED; m++) {
        const int at = column + 16 * WARPS * m;
        float *weights = space.hidden + slot_of(at < DP ? at : 0) * UNITS;
#pragma unroll
        for (int k = 0; k < HALF; k++) {
            const float last = k + HALF < HIDDEN ? sums[m][k + HALF < HIDDEN ? k + HALF : 0] : 0.0f;
            const float sum = (upper ? last : sums[m][k]) +
                              __shfl_xor_sync(0xffffffffu, upper ? sums[m][k] : last, 16);
            const int unit = upper ? k + HALF : k;
            if (unit < HIDDEN && at < DP) weights[unit] = within(weights[unit] - step * sum);
        }
    }
}

// Move v and b. The last warp.
__device__ inline void move_output(Space &space, float step)
{
    const int lane = threadIdx.x & 31, upper = lane >> 4, unit = lane & 15;
    if (threadIdx.x / 32 != WARPS - 1) return;
    const int read = unit <= HIDDEN ? unit : HIDDEN;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 16; i++) sum += space.outer[(16 * upper + i) * UNITS + read];
    sum += __shfl_xor_sync(0xffffffffu, sum, 16);
    if (upper == 0 && unit <= HIDDEN) space.output[unit] = within(space.output[unit] - step * sum);
}

__device__ inline void take_step(Space &space, const float *rows, const float *targets, float rate,
                                 u32 size)
{
    float sums[HIDDEN];
    const float step = rate / (float)size;
    const int entry = forward(rows, space.hidden, sums);
    set_errors(space, sums, entry, targets[entry], (u32)entry < size);
    __syncthreads();
    move_output(space, step);
    move_hidden(space, rows, step);
}

// Train on all entries. Every warp draws all of a batch, so that each can fetch any of its rows.
__device__ inline void train(Space &space, Sampler &from)
{
    const u32 batches = (from.n + 31) / 32;
    Entry now = entry_at(from, 0), next = now, later = now;
    fetch_rows(from.contexts, space.rows[0], now.observed.x);
    if (batches > 1) next = entry_at(from, 1);
    for (u32 batch = 0; batch < batches; batch++) {
        if (threadIdx.x < 32) space.targets[batch & 1][threadIdx.x] = target_of(now);
        await_copies();
        __syncthreads();
        if (batch + 1 < batches)
            fetch_rows(from.contexts, space.rows[batch + 1 & 1], next.observed.x);
        if (batch + 2 < batches) later = entry_at(from, batch + 2);
        const u32 left = from.n - 32 * batch;
        const float *targets = space.targets[batch & 1];
        take_step(space, space.rows[batch & 1], targets, from.rate, left < 32 ? left : 32);
        now = next;
        next = later;
    }
    __syncthreads();
}

// What the network expects at a context. One warp.
__device__ inline double expected(const Space &space, const float *context)
{
    const int lane = threadIdx.x & 31;
    float score = lane == 0 ? space.output[HIDDEN] : 0.0f;
    for (int k = lane; k < HIDDEN; k += 32) {
        float sum = 0.0f;
        for (int j = 0; j < D; j++) sum += context[j] * space.hidden[slot_of(j) * UNITS + k];
        score += fmaxf(sum, 0.0f) * space.output[k];
    }
    return (double)sigmoid((float)warp_sum((double)score));
}

extern "C" __global__ void __launch_bounds__(THREADS)
fit_arms(const Game *__restrict__ game, int t)
{
    extern __shared__ __align__(16) unsigned char memory[];
    Space &space = *(Space *)memory;
    const Game &g = *game;
    const int run = blockIdx.x % (int)g.runs, arm = g.ranks[run * ARMS + blockIdx.x / (int)g.runs];
    const u32 s = g.length[run * ARMS + arm];
    if (s == 0 || (!SHUFFLED && has_untried(g, run))) return;

    float *kept = g.weights + ((size_t)run * ARMS + arm) * (DP + 1) * UNITS;
    for (int i = threadIdx.x; i < DP * UNITS; i += THREADS)
        space.hidden[slot_of(i / UNITS) * UNITS + i % UNITS] = kept[i];
    for (int i = threadIdx.x; i < UNITS; i += THREADS) space.output[i] = kept[DP * UNITS + i];
    Sampler from = sampler_of(g, run, t, arm, s);
    train(space, from);
    if (threadIdx.x < 32) {
        const float *context = g.contexts + (size_t)g.order[(size_t)run * g.rounds + t] * DP;
        const double value = expected(space, context);
        if (threadIdx.x == 0) g.values[run * ARMS + arm] = value;
    }
    for (int i = threadIdx.x; i < DP * UNITS; i += THREADS)
        kept[i] = space.hidden[slot_of(i / UNITS) * UNITS + i % UNITS];
    for (int i = threadIdx.x; i < UNITS; i += THREADS) kept[DP * UNITS + i] = space.output[i];
}

extern "C" __global__ void needs(int *bytes) { *bytes = (int)sizeof(Space); }
