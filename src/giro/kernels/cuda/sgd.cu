// Linear models by stochastic gradient descent; a block of one warp fits the model of one arm in one
// round.
//
// Step t takes θ to (1 - η penalty) θ - η (x'θ - y) x with η = 0.01 t^(-1/4), for each entry of the sample
// in turn, in another order in each pass; see giro.models.sgd for when passes end. Of BATCH entries at a
// time, all scores x'θ and products x'x are computed at once, some by each lane. With these the errors
// x'θ - y of the steps are a few operations each.
// Mirrors giro.models.sgd, but that within a batch the penalty acts on θ as it was before, and that θ is
// rounded to single precision for scores: both change as much as rounding does.
//
// RULE GIRO: models fitted to bootstrap samples; GREEDY: to histories.

#define GIRO 0
#define GREEDY 1
#define BATCH (DP <= 64 ? 14 : 7)         // longer batches wait less, and multiply more
#define DRAWN 28                          // entries that a warp draws at once
#define STRIDE (DP + 4)                   // of a row in shared memory: no two lanes in one bank
#define PAIRS (BATCH * (BATCH - 1) / 2)
#define EACH ((PAIRS + BATCH + 1 + 31) / 32)  // products of a lane
#define BUFFERS 3
#define MOST_PASSES 1000
#define PATIENCE 5                        // passes without improvement
#define STEEPEST 1e12f                    // larger slopes are cut
#define LARGEST 1e6                       // a larger coefficient comes from overshooting
#define LARGEST_SQUARE 1e37f

struct Given {  // of an entry
    float target, rate;
};

struct Space {
    float rows[BUFFERS][BATCH * STRIDE];
    float theta[DP];
    float products[32 * EACH];            // x'x of pairs, x'θ, and θ'θ
    Given given[2][DRAWN];
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

// The lane's entry among DRAWN. Its reward is not looked at: it may still be on its way.
__device__ inline Entry entry_at(const Game &g, const Sample &from, const Order &order, u32 group)
{
    const u32 i = DRAWN * group + (threadIdx.x & 31);
    if ((threadIdx.x & 31) >= DRAWN || i >= from.n) return Entry{make_int2(0, 0), ZERO};
    const u32 place = place_in(order, i);
    if (RULE == GREEDY) return Entry{from.history[place], REAL};
    const uint4 w = words(g, from.run, from.t, ENTRIES, from.arm, place / 2);
    int kind;
    const int row = sampled(place & 1 ? w.z : w.x, place & 1 ? w.w : w.y, from.s, from.k, kind);
    return Entry{from.history[row], kind};
}

// Write down targets and rates of a group of entries. `before` are the steps of earlier passes.
__device__ inline void give(Space &space, const Entry &entry, u32 group, float before)
{
    const int lane = threadIdx.x & 31;
    const float reward = __int_as_float(entry.observed.y);
    const float target = entry.kind == REAL ? reward : entry.kind == ONE ? 1.0f : 0.0f;
    const float step = before + (float)(DRAWN * group + lane + 1);
    if (lane < DRAWN) space.given[group & 1][lane] = Given{target, 0.01f * rsqrtf(sqrtf(step))};
}

// Begin to copy the rows of a batch, of which `row` has those of its group.
__device__ inline void fetch_rows(const float *contexts, float *rows, int row, u32 batch)
{
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int first = 0; first < BATCH * DP / 4; first += 32) {
        const int place = first + lane, r = place / (DP / 4), q = place % (DP / 4);
        const int from = __shfl_sync(0xffffffffu, row, (batch % (DRAWN / BATCH) * BATCH + r) & 31);
        if (r < BATCH) copy_ahead(rows + r * STRIDE + 4 * q, contexts + (size_t)from * DP + 4 * q);
    }
    end_copies();
}

struct Pairs {  // of rows whose products a lane computes: where they begin
    int first[EACH], second[EACH];
};

// Row BATCH is θ.
__device__ inline Pairs pairs_of(int lane)
{
    Pairs pairs;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int a = BATCH, b = BATCH, left = lane + 32 * i;
        if (left >= PAIRS && left < PAIRS + BATCH) a = left - PAIRS;
        if (left < PAIRS) {
            for (a = 0; left >= BATCH - 1 - a; a++) left -= BATCH - 1 - a;
            b = a + 1 + left;
        }
        pairs.first[i] = a < BATCH ? a * STRIDE : -1;
        pairs.second[i] = b < BATCH ? b * STRIDE : -1;
    }
    return pairs;
}

__device__ inline float product_of(const float *a, const float *b)
{
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int j = 0; j < DP; j += 4) {
        const float4 x = *(const float4 *)(a + j), y = *(const float4 *)(b + j);
        sum.x += x.x * y.x;
        sum.y += x.y * y.y;
        sum.z += x.z * y.z;
        sum.w += x.w * y.w;
    }
    return (sum.x + sum.y) + (sum.z + sum.w);
}

// Set the errors of steps of which each moves the scores of those after it. A large one is cut if CUT.
template <bool CUT> __device__ inline void
set_errors(const float *products, const float *rates, const float *starts, float *errors)
{
#pragma unroll
    for (int e = 0; e < BATCH; e++) errors[e] = starts[e];
#pragma unroll
    for (int e = 0, pair = 0; e < BATCH; e++) {
        if (CUT) errors[e] = fminf(fmaxf(errors[e], -STEEPEST), STEEPEST);
#pragma unroll
        for (int l = e + 1; l < BATCH; l++, pair++)
            errors[l] -= rates[e] * products[pair] * errors[e];
    }
}

// Take the steps of up to BATCH entries, and return the sum of their losses. One warp.
__device__ inline float take_steps(float penalty, Space &space, const float *rows,
                                   const Pairs &pairs, const Given *given, u32 left, double *theta)
{
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        space.products[lane + 32 * i] =
            product_of(pairs.first[i] < 0 ? space.theta : rows + pairs.first[i],
                       pairs.second[i] < 0 ? space.theta : rows + pairs.second[i]);
    __syncwarp();
    float products[32 * EACH], rates[BATCH], starts[BATCH], errors[BATCH];
#pragma unroll
    for (int i = 0; i < 32 * EACH; i += 4)
        *(float4 *)(products + i) = *(const float4 *)(space.products + i);
    float so_far = 0.0f, loss = 0.0f, largest = 0.0f;
#pragma unroll
    for (int e = 0; e < BATCH; e++) {
        const Given here = given[e];
        const float score = products[PAIRS + e];
        starts[e] = e < left ? score - so_far * penalty * score - here.target : 0.0f;
        rates[e] = e < left ? here.rate : 0.0f;
        so_far += rates[e];
    }
    set_errors<false>(products, rates, starts, errors);
#pragma unroll
    for (int e = 0; e < BATCH; e++) {
        if (e < left) loss += fminf(errors[e] * errors[e], LARGEST_SQUARE);
        largest = fmaxf(largest, fabsf(errors[e]));
    }
    if (!(largest <= STEEPEST)) set_errors<true>(products, rates, starts, errors);
#pragma unroll
    for (int m = 0; m < LANE_COLUMNS; m++) {
        const int j = lane + 32 * m;
        float change = 0.0f;
#pragma unroll
        for (int e = 0; e < BATCH; e++)
            if (j < D) change -= rates[e] * errors[e] * rows[e * STRIDE + j];
        theta[m] += (double)change - (double)(so_far * penalty) * theta[m];
        if (j < D) space.theta[j] = (float)theta[m];
    }
    __syncwarp();
    return 0.5f * (loss + (left < BATCH ? left : BATCH) * penalty * products[PAIRS + BATCH]);
}

// Take a step for each entry, and return their mean loss. One warp.
__device__ inline double descend(const Game &g, Space &space, const Sample &from, u32 pass,
                                 double *theta)
{
    const Order order = order_of(g, from.run, from.t, from.arm, from.n, pass);
    const float before = (float)pass * (float)from.n;
    const u32 batches = (from.n + BATCH - 1) / BATCH, groups = DRAWN / BATCH;
    const Pairs pairs = pairs_of(threadIdx.x & 31);
    const float penalty = (float)g.penalty;
    double total = 0.0;
    Entry now = entry_at(g, from, order, 0), next = entry_at(g, from, order, 1);
    give(space, now, 0, before);
    for (u32 batch = 0; batch < 2; batch++)
        fetch_rows(from.contexts, space.rows[batch], now.observed.x, batch);
    for (u32 batch = 0; batch < batches; batch++) {
        const u32 ahead = batch + 2, group = ahead / groups;
        await_all_but_last_copies();
        __syncwarp();
        if (ahead % groups == 0) {
            now = next;
            give(space, now, group, before);
            next = entry_at(g, from, order, group + 1);
        }
        fetch_rows(from.contexts, space.rows[ahead % BUFFERS], now.observed.x, ahead);
        const Given *given = space.given[batch / groups & 1] + batch % groups * BATCH;
        total += take_steps(penalty, space, space.rows[batch % BUFFERS], pairs, given,
                            from.n - BATCH * batch, theta);
    }
    await_copies();
    __syncwarp();
    return total / from.n;
}

// Fit an arm's model from its last fit, and return its score of a context. One warp.
__device__ inline double fit_arm(const Game &g, Space &space, const Sample &from,
                                 const float *context)
{
    const int lane = threadIdx.x & 31;
    double *kept = g.theta + ((size_t)from.run * ARMS + from.arm) * DP, theta[LANE_COLUMNS];
    for (int m = 0; m < LANE_COLUMNS; m++)
        theta[m] = lane + 32 * m < D ? kept[lane + 32 * m] : 0.0;
    for (int j = lane; j < DP; j += 32) space.theta[j] = j < D ? (float)kept[j] : 0.0f;
    __syncwarp();
    double lowest = CUDART_INF;
    int without_improvement = 0;
    for (u32 pass = 0; pass < MOST_PASSES && without_improvement < PATIENCE; pass++) {
        const double loss = descend(g, space, from, pass, theta);
        without_improvement = loss > lowest - g.tolerance ? without_improvement + 1 : 0;
        lowest = fmin(lowest, loss);
    }
    double beyond = 0.0, score = 0.0;
    for (int m = 0; m < LANE_COLUMNS; m++) beyond += !(fabs(theta[m]) <= LARGEST);
    beyond = warp_sum(beyond);
    for (int m = 0; m < LANE_COLUMNS; m++) {
        const int j = lane + 32 * m;
        if (j < D) kept[j] = beyond > 0.0 ? 0.0 : theta[m];
        if (j < D && beyond == 0.0) score += theta[m] * (double)context[j];
    }
    return warp_sum(score);
}

extern "C" __global__ void __launch_bounds__(32) fit_arms(const Game *__restrict__ game, int t)
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
