// Linear models by stochastic gradient descent; a block fits the model of one arm in one round.
//
// Step t takes θ to (1 - η penalty) θ - η (x'θ - y) x with η = 0.01 t^(-1/4), for each entry of the sample
// in turn, in another order in each pass; see giro.models.sgd for when passes end. Within a batch the
// errors e of the steps are linear in θ, with which the batch begins:
//
//     (I + L) e = X θ - y,   L_ij = η_j x_i'x_j for j < i,   θ becomes θ - X' diag(η) e.
//
// L and T = (I + L)^-1 do not depend on θ. So all warps but the first draw entries, fetch rows and make
// L and T ahead, a bundle of 32 entries each, while the first takes the steps e = T (X θ - y) of the
// bundles that were made before. Where T has large numbers, or errors are so large that they may be
// cut, (I + L) e = X θ - y is solved step by step.
// Mirrors giro.models.sgd, but that within a batch the penalty acts on θ as it was before, and that θ is
// rounded to single precision for scores: both change as much as rounding does.
//
// RULE GIRO: models fitted to bootstrap samples; GREEDY: to histories. BATCH: steps, 16 or 32;
// BUILDERS: warps that make bundles.

#define GIRO 0
#define GREEDY 1
#define THREADS (32 * (BUILDERS + 1))
#define BUNDLE 32                         // entries, one for each lane
#define PARTS (BUNDLE / BATCH)            // batches of a bundle, and lanes of a row
#define STRIDE (DP + 4)                   // of a row in shared memory: no two lanes in one bank
#define WIDTH (DP / PARTS)                // columns of a row that a lane multiplies with θ
#define WIDE (DP <= 32 ? 1 : DP <= 64 ? 2 : 4)  // columns of θ that a lane has
#define HALVES (DP <= 16 ? 2 : 1)         // lanes that have the same
#define LANES (32 / HALVES)
#define SIDE (BATCH + 4)                  // of L and T, likewise
#define MOST_PASSES 1000
#define PATIENCE 5                        // passes without improvement
#define STEEPEST 1e12f                    // larger slopes are cut
#define LARGEST 1e6f                      // a larger coefficient comes from overshooting
#define LARGEST_SQUARE 1e37f
#define LARGEST_FACTOR 16.0f              // larger numbers of T come from overshooting
#define SAFE (STEEPEST / (LARGEST_FACTOR * BATCH))  // below it no error can be too large

struct __align__(16) Given {  // of an entry
    float target, rate;
    float before;                         // sum of the rates of its batch before it
    float all;                            // and of all
};

struct __align__(16) Bundle {
    float rows[BUNDLE * STRIDE];
    float square[BUNDLE * SIDE];          // of each batch: L' above the diagonal, then T
    Given given[BUNDLE];
    int steep[PARTS];                     // whether T has too large numbers
};

struct __align__(16) Space {
    Bundle bundles[2][BUILDERS];
    float theta[DP];
    float starts[BATCH], moves[BATCH];    // X θ - y, and -η e
    double loss;
};

struct Sample {  // of one arm
    const int2 *history;
    const float *contexts;
    int run, t, arm;
    u32 s, k, n;                          // rows, pseudo rewards of each kind, entries
};

struct Entry {
    int2 observed;
    int kind;
};

// The i-th entry of a pass. Its reward is not looked at: it may still be on its way.
__device__ inline Entry entry_at(const Game &g, const Sample &from, const Order &order, u32 i)
{
    if (i >= from.n) return Entry{make_int2(0, 0), ZERO};
    const u32 place = place_in(order, i);
    if (RULE == GREEDY) return Entry{from.history[place], REAL};
    const uint4 w = words(g, from.run, from.t, ENTRIES, from.arm, place / 2);
    int kind;
    const int row = sampled(place & 1 ? w.z : w.x, place & 1 ? w.w : w.y, from.s, from.k, kind);
    return Entry{from.history[row], kind};
}

// Copy N numbers, four at a time if there are so many.
template <int N> __device__ inline void load(float *to, const float *from)
{
#pragma unroll
    for (int i = 0; i + 4 <= N; i += 4) {
        const float4 quad = *(const float4 *)(from + i);
        to[i] = quad.x;
        to[i + 1] = quad.y;
        to[i + 2] = quad.z;
        to[i + 3] = quad.w;
    }
    if (N == 2) {
        const float2 pair = *(const float2 *)from;
        to[0] = pair.x;
        to[1] = pair.y;
    }
    if (N == 1) to[0] = from[0];
}

// Begin to copy the rows of a bundle.
__device__ inline void fetch_rows(const float *contexts, float *rows, int row)
{
#pragma unroll
    for (int first = 0; first < BUNDLE * DP / 4; first += 32) {
        const int place = first + (threadIdx.x & 31), r = place / (DP / 4), q = place % (DP / 4);
        const int from = __shfl_sync(0xffffffffu, row, r);
        copy_ahead(rows + r * STRIDE + 4 * q, contexts + (size_t)from * DP + 4 * q);
    }
    end_copies();
}

// What a step needs of the lane's entry. What is not in the sample has the rate 0.
__device__ inline Given given_by(const Entry &entry, bool is_there, float step)
{
    const int row = (threadIdx.x & 31) % BATCH;
    const float reward = __int_as_float(entry.observed.y);
    const float target = entry.kind == REAL ? reward : entry.kind == ONE ? 1.0f : 0.0f;
    const float rate = is_there ? 0.01f * rsqrtf(sqrtf(step)) : 0.0f;
    float sum = rate;
#pragma unroll
    for (int distance = 1; distance < BATCH; distance *= 2) {
        const float other = __shfl_sync(0xffffffffu, sum, (threadIdx.x - distance) & 31);
        if (row >= distance) sum += other;
    }
    return Given{target, rate, sum - rate, __shfl_sync(0xffffffffu, sum, threadIdx.x | (BATCH - 1))};
}

// Write L' above the diagonals of the squares. One warp.
__device__ inline void multiply_rows(Bundle &bundle)
{
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int block = 0; block < BUNDLE; block += 16) {
        const int batch = block / BATCH * BATCH;
        float sums[BATCH / 8][4] = {};
#pragma unroll
        for (int first = 0; first < DP; first += 16) {
            const float *from = bundle.rows + (lane >> 2) * STRIDE + first + (lane & 3);
            float a[8], b[4];
#pragma unroll
            for (int i = 0; i < 8; i++) a[i] = from[(block + 8 * (i & 1)) * STRIDE + 4 * (i / 2)];
#pragma unroll
            for (int group = batch; group < block + 16; group += 8) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    b[i] = group < block ? from[group * STRIDE + 4 * i] : a[2 * i + (group - block) / 8];
                accumulate(sums[(group - batch) / 8], a, b);
            }
        }
#pragma unroll
        for (int group = batch; group < block + 16; group += 8)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int later = block + (lane >> 2) + 8 * (i / 2);
                const int sooner = group + 2 * (lane & 3) + (i & 1);
                const float rate = bundle.given[sooner].rate;
                if (sooner < later)
                    bundle.square[sooner * SIDE + later - batch] = rate * sums[(group - batch) / 8][i];
            }
    }
}

// Put T in the place of L': each lane solves (I + L) c = its column of I. One warp.
__device__ inline void invert(Bundle &bundle)
{
    const int lane = threadIdx.x & 31, place = lane % BATCH, part = lane / BATCH;
    float *square = bundle.square + part * BATCH * SIDE;
    float column[BATCH];
    bool is_steep = false;
#pragma unroll
    for (int i = 0; i < BATCH; i++) column[i] = i == place ? 1.0f : 0.0f;
#pragma unroll
    for (int i = 0; i < BATCH - 1; i++) {
        float above[BATCH];
        load<BATCH>(above, square + i * SIDE);
#pragma unroll
        for (int j = i + 1; j < BATCH; j++) column[j] -= above[j] * column[i];
    }
    if (place == 0) bundle.steep[part] = 0;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
        square[i * SIDE + place] = column[i];
        is_steep |= !(fabsf(column[i]) <= LARGEST_FACTOR);
    }
    if (is_steep) bundle.steep[part] = 1;
}

// Make a bundle of the lane's entry, and return that of `ahead`. One warp.
__device__ inline Entry make(const Game &g, Bundle &bundle, const Sample &from, const Order &order,
                             const Entry &entry, bool is_there, float step, u32 ahead)
{
    fetch_rows(from.contexts, bundle.rows, entry.observed.x);
    bundle.given[threadIdx.x & 31] = given_by(entry, is_there, step);
    const Entry next = entry_at(g, from, order, ahead);
    await_copies();
    __syncwarp();
    multiply_rows(bundle);
    __syncwarp();
    invert(bundle);
    return next;
}

// The product of a part of two rows.
__device__ inline float product_of(const float *a, const float *b)
{
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int j = 0; j < WIDTH; j += 4) {
        const float4 x = *(const float4 *)(a + j), y = *(const float4 *)(b + j);
        sum.x += x.x * y.x;
        sum.y += x.y * y.y;
        sum.z += x.z * y.z;
        sum.w += x.w * y.w;
    }
    return (sum.x + sum.y) + (sum.z + sum.w);
}

// The sum of what the lanes of a row have.
__device__ inline float row_sum(float value)
{
    if (PARTS > 1) value += __shfl_xor_sync(0xffffffffu, value, BATCH);
    return value;
}

__device__ inline float cut(float error) { return fminf(fmaxf(error, -STEEPEST), STEEPEST); }

// The error of the lane's step, where each moves the scores of those after it, and is cut.
__device__ inline float error_by_steps(const float *rows, const Given *given, float error)
{
    const int row = (threadIdx.x & 31) % BATCH, first = (threadIdx.x & 31) / BATCH * WIDTH;
    for (int e = 0; e < BATCH - 1; e++) {
        const float before = cut(__shfl_sync(0xffffffffu, error, e));
        const float product = row_sum(product_of(rows + row * STRIDE + first, rows + e * STRIDE + first));
        if (row > e) error -= given[e].rate * product * before;
    }
    return error;
}

struct Model {  // of an arm, in the registers of a warp
    float theta[WIDE], rest[WIDE];        // what a lane has of θ is the sum of the two
    double loss;                          // of the lane's entries and columns in this pass
};

// Add to a sum, and keep what rounding leaves.
__device__ inline void add(float &sum, float &rest, float value)
{
    value += rest;
    const float total = sum + value, added = total - sum;
    rest = (sum - (total - added)) + (value - added);
    sum = total;
}

// Take the steps of the `left` first entries of a batch. One warp.
__device__ inline void take_steps(Space &space, const Bundle &bundle, int batch, u32 left,
                                  float penalty, Model &model)
{
    const int lane = threadIdx.x & 31, row = lane % BATCH, part = lane / BATCH;
    const int column = WIDE * (lane % LANES), half = BATCH / HALVES * (lane / LANES);
    const float *rows = bundle.rows + batch * BATCH * STRIDE, *row_part = rows + row * STRIDE + part * WIDTH;
    const Given given = bundle.given[batch * BATCH + row];
    float factors[BATCH / PARTS], columns[BATCH / HALVES][WIDE], starts[BATCH / PARTS];
#pragma unroll
    for (int e = 0; e < BATCH / HALVES; e++)
        load<WIDE>(columns[e], rows + (half + e) * STRIDE + (column < DP ? column : 0));
    load<BATCH / PARTS>(factors, bundle.square + (batch * BATCH + row) * SIDE + part * (BATCH / PARTS));
    const float score = row_sum(product_of(row_part, space.theta + part * WIDTH));
    const float start = row < left ? score - given.before * penalty * score - given.target : 0.0f;
    space.starts[row] = start;
    const bool by_steps = __any_sync(0xffffffffu, bundle.steep[batch] || !(fabsf(start) <= SAFE));
    __syncwarp();
    load<BATCH / PARTS>(starts, space.starts + part * (BATCH / PARTS));
    float sums[4] = {};
#pragma unroll
    for (int j = 0; j < BATCH / PARTS; j++) sums[j % 4] += factors[j] * starts[j];
    float error = row_sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (by_steps) error = error_by_steps(rows, bundle.given + batch * BATCH, start);
    space.moves[row] = -given.rate * cut(error);
    __syncwarp();
    float moves[BATCH / HALVES], square = 0.0f, changes[WIDE][4 / WIDE] = {};
    load<BATCH / HALVES>(moves, space.moves + half);
#pragma unroll
    for (int e = 0; e < BATCH / HALVES; e++)
#pragma unroll
        for (int w = 0; w < WIDE; w++) changes[w][e % (4 / WIDE)] += moves[e] * columns[e][w];
#pragma unroll
    for (int w = 0; w < WIDE; w++) {
        float change = changes[w][0];
        for (int i = 1; i < 4 / WIDE; i++) change += changes[w][i];
        if (HALVES > 1) change += __shfl_xor_sync(0xffffffffu, change, LANES);
        square += model.theta[w] * model.theta[w];
        add(model.theta[w], model.rest[w], change - given.all * penalty * model.theta[w]);
        if (column < DP) space.theta[column + w] = model.theta[w];
    }
    __syncwarp();
    const float kept = lane < DP / WIDE ? penalty * (float)(left < BATCH ? left : BATCH) * square : 0.0f;
    const float lost = row < left && part == 0 ? fminf(error * error, LARGEST_SQUARE) : 0.0f;
    model.loss += 0.5 * ((double)lost + (double)kept);
}

// Take a step for each entry, and return their mean loss. All threads.
__device__ inline double descend(const Game &g, Space &space, const Sample &from, u32 pass,
                                 Model &model)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
    const Order order = order_of(g, from.run, from.t, from.arm, from.n, pass);
    const u32 group = BUNDLE * BUILDERS, groups = (from.n + group - 1) / group;
    u32 i = BUNDLE * (warp - 1) + lane;   // the lane's entry, where the warp makes bundles
    Entry entry = {};
    if (warp > 0) entry = entry_at(g, from, order, i);
    model.loss = 0.0;
    for (u32 now = 0; now <= groups; now++) {
        if (warp > 0 && i - lane < from.n) {
            const float step = (float)pass * (float)from.n + (float)(i + 1);
            entry = make(g, space.bundles[now & 1][warp - 1], from, order, entry, i < from.n, step,
                         i + group);
            i += group;
        }
        if (warp == 0 && now > 0) {
            u32 done = group * (now - 1);
            for (int batch = 0; batch < BUILDERS * PARTS && done < from.n; batch++, done += BATCH)
                take_steps(space, space.bundles[now & 1 ^ 1][batch / PARTS], batch % PARTS,
                           from.n - done, (float)g.penalty, model);
        }
        __syncthreads();
    }
    if (warp == 0) {
        const double loss = warp_sum(model.loss);
        if (lane == 0) space.loss = loss / from.n;
    }
    __syncthreads();
    return space.loss;
}

// Fit an arm's model from its last fit, and return its score of a context to the first warp. All threads.
__device__ inline double fit_arm(const Game &g, Space &space, const Sample &from,
                                 const float *context)
{
    const int lane = threadIdx.x & 31;
    double *kept = g.theta + ((size_t)from.run * ARMS + from.arm) * DP;
    Model model;
    const int column = WIDE * (lane % LANES);
    for (int w = 0; w < WIDE; w++) {
        const double theta = column < DP ? kept[column + w] : 0.0;
        model.theta[w] = (float)theta;
        model.rest[w] = (float)(theta - model.theta[w]);
    }
    for (int j = threadIdx.x; j < DP; j += THREADS) space.theta[j] = (float)kept[j];
    double lowest = CUDART_INF;
    int without_improvement = 0;
    for (u32 pass = 0; pass < MOST_PASSES && without_improvement < PATIENCE; pass++) {
        const double loss = descend(g, space, from, pass, model);
        without_improvement = loss > lowest - g.tolerance ? without_improvement + 1 : 0;
        lowest = fmin(lowest, loss);
    }
    if (threadIdx.x >= 32) return 0.0;
    double beyond = 0.0, score = 0.0;
    for (int w = 0; w < WIDE; w++) beyond += !(fabsf(model.theta[w]) <= LARGEST);
    beyond = warp_sum(beyond);
    for (int w = 0; w < WIDE && lane < DP / WIDE; w++) {
        const double theta = beyond > 0.0 ? 0.0 : (double)model.theta[w] + (double)model.rest[w];
        kept[column + w] = theta;
        score += theta * (double)context[column + w];
    }
    return warp_sum(score);
}

extern "C" __global__ void __launch_bounds__(THREADS)
fit_arms(const Game *__restrict__ game, int t)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const Game &g = *game;
    const int run = blockIdx.x % (int)g.runs, arm = g.ranks[run * ARMS + blockIdx.x / (int)g.runs];
    const u32 s = g.length[run * ARMS + arm];
    if (s == 0 || (RULE == GIRO && has_untried(g, run))) return;

    const float *context = g.contexts + (size_t)g.order[(size_t)run * g.rounds + t] * DP;
    const u32 k = RULE == GIRO ? pseudo_count(g, run, t, arm, s) : 0;
    const Sample from = {history_of(g, run, arm), g.contexts, run, t, arm, s, k, s + 2 * k};
    const double value = fit_arm(g, *(Space *)memory, from, context);
    if (threadIdx.x == 0) g.values[run * ARMS + arm] = value;
}

extern "C" __global__ void needs(int *bytes) { *bytes = (int)sizeof(Space); }
