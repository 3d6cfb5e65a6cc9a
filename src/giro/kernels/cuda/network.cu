// Networks of one hidden layer, one for each arm; a warp trains that of one arm in one round.
//
// Descent in batches of 32 entries, by the formulas of giro.kernels.network, in single precision.
// A bootstrap sample in random order is a sequence of independent draws, so an entry is drawn when
// it is needed. Without a bootstrap (SHUFFLED) the order is a random bijection of 0, ..., s - 1.
// Rows come from memory two batches ahead. Sums are cut so that a number that was read from shared
// memory serves many products: forward, four lanes share four entries, each with a quarter of the
// columns; backward, two lanes share some columns, each with half of the entries.

#define STRIDE (DP + 4)                   // of a row in shared memory: no two lanes in one bank
#define UNITS ((HIDDEN + 4) / 4 * 4)      // one more than HIDDEN, and a multiple of 4
#define OWNED (DP / 16)                   // columns of a lane on the way back
#define HALF ((HIDDEN + 1) / 2)
#define QUADS (DP / 4)
#define LARGEST 1e15f                     // weights are held within this: no product overflows

struct Space {  // of one warp
    float rows[2][32 * STRIDE];
    float hidden[DP * UNITS];             // W, rows in the order of `slot_of`
    float output[UNITS];                  // v, and behind it the bias b
    float errors[32 * UNITS];             // [entry, unit] E
    float outer[32 * UNITS];              // [entry, unit] error times unit, and the error
};

struct Entry {
    int row;
    float target;
};

// Where column j of W is kept: lanes that read at once find other banks.
__device__ inline int slot_of(int j) { return (j & ~15) | (j & 3) << 2 | (j >> 2 & 3); }

__device__ inline float within(float weight) { return fminf(fmaxf(weight, -LARGEST), LARGEST); }

__device__ inline float sigmoid(float score)
{
    return 1.0f / (1.0f + expf(-fminf(fmaxf(score, -80.0f), 80.0f)));
}

// A random bijection of 0, ..., s - 1: steps that can be undone on the numbers of `bits` bits, until
// the result is below s.
struct Order {
    u32 factor[4], shift[4];
    u32 mask, half, s;
};

__device__ inline Order order_of(const Game &g, int run, int t, int arm, u32 s)
{
    Order order;
    u32 bits = 2;
    while (1u << bits < s) bits++;
    const uint4 f = words(g, run, t, ORDER, arm, 0), a = words(g, run, t, ORDER, arm, 1);
    order.factor[0] = f.x | 1;
    order.factor[1] = f.y | 1;
    order.factor[2] = f.z | 1;
    order.factor[3] = f.w | 1;
    order.shift[0] = a.x;
    order.shift[1] = a.y;
    order.shift[2] = a.z;
    order.shift[3] = a.w;
    order.mask = (1u << bits) - 1;
    order.half = (bits + 1) / 2;
    order.s = s;
    return order;
}

__device__ inline u32 place_in(const Order &order, u32 i)
{
    do {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            i = (i * order.factor[k] + order.shift[k]) & order.mask;
            i ^= i >> order.half;
        }
    } while (i >= order.s);
    return i;
}

// Draws the entries of one arm's sample.
struct Sampler {
    const int2 *history;
    u32 s, k, n;                          // rows, pseudo rewards of each kind, entries
    uint4 drawn;
    Order order;
};

__device__ inline Entry entry_at(const Game &g, Sampler &from, int run, int t, int arm, u32 batch)
{
    const u32 lane = threadIdx.x & 31, i = 32 * batch + lane;
    if (SHUFFLED) {
        const int2 found = from.history[i < from.n ? place_in(from.order, i) : 0];
        return Entry{found.x, __int_as_float(found.y)};
    }
    if ((batch & 1) == 0) from.drawn = words(g, run, t, ENTRIES, arm, batch / 2 * 32 + lane);
    int kind;
    const bool odd = batch & 1;
    const int row = sampled(odd ? from.drawn.z : from.drawn.x, odd ? from.drawn.w : from.drawn.y,
                            from.s, from.k, kind);
    const int2 found = from.history[row];
    const float reward = __int_as_float(found.y);
    return Entry{found.x, kind == REAL ? reward : kind == ONE ? 1.0f : 0.0f};
}

// Begin to copy the rows of a batch.
__device__ inline void fetch_rows(const Game &g, float *rows, int row)
{
    const int lane = threadIdx.x & 31;
#pragma unroll 4
    for (int i = 0; i < QUADS; i++) {
        const int place = 32 * i + lane, r = place / QUADS, q = place % QUADS;
        const int from = __shfl_sync(0xffffffffu, row, r);
        copy_ahead(rows + r * STRIDE + 4 * q, g.contexts + (size_t)from * DP + 4 * q);
    }
    end_copies();
}

// Set `sums` to W'x of the lane's entry.
__device__ inline void forward(const float *rows, const float *hidden, float *sums)
{
    const int lane = threadIdx.x & 31, quarter = lane & 3;
    const float *mine = rows + (lane & ~3) * STRIDE + 4 * quarter;
    float s[4][HIDDEN];
#pragma unroll
    for (int m = 0; m < 4; m++)
#pragma unroll
        for (int k = 0; k < HIDDEN; k++) s[m][k] = 0.0f;
    for (int c = 0; c < DP / 16; c++) {
        float x[4][4];
#pragma unroll
        for (int m = 0; m < 4; m++) *(float4 *)x[m] = *(const float4 *)(mine + m * STRIDE + 16 * c);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float w[UNITS];
#pragma unroll
            for (int k = 0; k < UNITS; k += 4)
                *(float4 *)(w + k) =
                    *(const float4 *)(hidden + (16 * c + 4 * j + quarter) * UNITS + k);
#pragma unroll
            for (int m = 0; m < 4; m++)
#pragma unroll
                for (int k = 0; k < HIDDEN; k++) s[m][k] += x[m][j] * w[k];
        }
    }
    const bool high = quarter & 2, odd = quarter & 1;
#pragma unroll
    for (int k = 0; k < HIDDEN; k++) {
        float two[2];
#pragma unroll
        for (int m = 0; m < 2; m++)
            two[m] = (high ? s[m + 2][k] : s[m][k]) +
                     __shfl_xor_sync(0xffffffffu, high ? s[m][k] : s[m + 2][k], 2);
        sums[k] = (odd ? two[1] : two[0]) +
                  __shfl_xor_sync(0xffffffffu, odd ? two[0] : two[1], 1);
    }
}

// Set the errors of the lane's entry; an entry behind the last has none.
__device__ inline void set_errors(Space &space, float *sums, float target, bool counts)
{
    const int lane = threadIdx.x & 31;
    float score = space.output[HIDDEN];
#pragma unroll
    for (int k = 0; k < HIDDEN; k++) {
        sums[k] = fmaxf(sums[k], 0.0f);
        score += sums[k] * space.output[k];
    }
    const float error = counts ? sigmoid(score) - target : 0.0f;
#pragma unroll
    for (int k = 0; k < HIDDEN; k++) {
        space.errors[lane * UNITS + k] = sums[k] > 0.0f ? error * space.output[k] : 0.0f;
        space.outer[lane * UNITS + k] = error * sums[k];
    }
    space.outer[lane * UNITS + HIDDEN] = error;
}

// Move W by -step times Σ x E'. Entries whose bit 2 is set are those of the upper lanes.
__device__ inline void move_hidden(Space &space, const float *rows, float step)
{
    const int lane = threadIdx.x & 31, column = lane & 15, upper = lane >> 4;
    float sums[OWNED][HIDDEN];
#pragma unroll
    for (int m = 0; m < OWNED; m++)
#pragma unroll
        for (int k = 0; k < HIDDEN; k++) sums[m][k] = 0.0f;
#pragma unroll 4
    for (int i = 0; i < 16; i++) {
        const int entry = (i & 3) | upper << 2 | (i >> 2) << 3;
        float e[UNITS];
#pragma unroll
        for (int k = 0; k < UNITS; k += 4)
            *(float4 *)(e + k) = *(const float4 *)(space.errors + entry * UNITS + k);
#pragma unroll
        for (int m = 0; m < OWNED; m++) {
            const float x = rows[entry * STRIDE + column + 16 * m];
#pragma unroll
            for (int k = 0; k < HIDDEN; k++) sums[m][k] += x * e[k];
        }
    }
#pragma unroll
    for (int m = 0; m < OWNED; m++) {
        float *weights = space.hidden + slot_of(column + 16 * m) * UNITS;
#pragma unroll
        for (int k = 0; k < HALF; k++) {
            const float last = k + HALF < HIDDEN ? sums[m][k + HALF < HIDDEN ? k + HALF : 0] : 0.0f;
            const float sum = (upper ? last : sums[m][k]) +
                              __shfl_xor_sync(0xffffffffu, upper ? sums[m][k] : last, 16);
            const int unit = upper ? k + HALF : k;
            if (unit < HIDDEN) weights[unit] = within(weights[unit] - step * sum);
        }
    }
}

// Move v and b.
__device__ inline void move_output(Space &space, float step)
{
    const int lane = threadIdx.x & 31, upper = lane >> 4;
    for (int first = 0; first <= HIDDEN; first += 16) {
        const int unit = first + (lane & 15), read = unit <= HIDDEN ? unit : HIDDEN;
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < 16; i++) sum += space.outer[(16 * upper + i) * UNITS + read];
        sum += __shfl_xor_sync(0xffffffffu, sum, 16);
        if (upper == 0 && unit <= HIDDEN)
            space.output[unit] = within(space.output[unit] - step * sum);
    }
}

__device__ inline void take_step(const Game &g, Space &space, const float *rows, float target,
                                 u32 size)
{
    const u32 lane = threadIdx.x & 31;
    float sums[HIDDEN];
    const float step = (float)g.rate / (float)size;
    forward(rows, space.hidden, sums);
    set_errors(space, sums, target, lane < size);
    __syncwarp();
    move_hidden(space, rows, step);
    move_output(space, step);
    __syncwarp();
}

__device__ inline void train(const Game &g, Space &space, Sampler &from, int run, int t, int arm)
{
    const u32 batches = (from.n + 31) / 32;
    Entry now = entry_at(g, from, run, t, arm, 0), next = now, later = now;
    fetch_rows(g, space.rows[0], now.row);
    if (batches > 1) next = entry_at(g, from, run, t, arm, 1);
    for (u32 batch = 0; batch < batches; batch++) {
        if (batch + 1 < batches) fetch_rows(g, space.rows[batch + 1 & 1], next.row);
        if (batch + 2 < batches) later = entry_at(g, from, run, t, arm, batch + 2);
        if (batch + 1 < batches)
            await_copies_but_last();
        else
            await_copies();
        __syncwarp();
        const u32 left = from.n - 32 * batch;
        take_step(g, space, space.rows[batch & 1], now.target, left < 32 ? left : 32);
        now = next;
        next = later;
    }
}

// What the network expects at a context.
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

extern "C" __global__ void __launch_bounds__(32) fit_arms(const Game *__restrict__ game, int t)
{
    extern __shared__ __align__(16) unsigned char memory[];
    Space &space = *(Space *)memory;
    const Game &g = *game;
    const int lane = threadIdx.x, run = blockIdx.x % (int)g.runs;
    const int arm = g.ranks[run * ARMS + blockIdx.x / (int)g.runs];
    const u32 s = g.length[run * ARMS + arm];
    if (s == 0 || (!SHUFFLED && has_untried(g, run))) return;

    float *kept = g.weights + ((size_t)run * ARMS + arm) * (DP + 1) * UNITS;
    for (int i = lane; i < DP * UNITS; i += 32) space.hidden[i] = kept[i];
    for (int i = lane; i < UNITS; i += 32) space.output[i] = kept[DP * UNITS + i];
    Sampler from{history_of(g, run, arm), s, 0, s, make_uint4(0, 0, 0, 0), Order()};
    if (!SHUFFLED) {
        from.k = pseudo_count(g, run, t, arm, s);
        from.n = s + 2 * from.k;
    }
    __syncwarp();
    if (SHUFFLED) from.order = order_of(g, run, t, arm, s);
    train(g, space, from, run, t, arm);
    const float *context = g.contexts + (size_t)g.order[(size_t)run * g.rounds + t] * DP;
    const double value = expected(space, context);
    if (lane == 0) g.values[run * ARMS + arm] = value;
    for (int i = lane; i < DP * UNITS; i += 32) kept[i] = space.hidden[i];
    for (int i = lane; i < UNITS; i += 32) kept[DP * UNITS + i] = space.output[i];
}

extern "C" __global__ void needs(int *bytes) { *bytes = (int)sizeof(Space); }
