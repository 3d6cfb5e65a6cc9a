// Policies with a ridge regression that takes in each row as it comes; a block plays one run.
//
// RULE GREEDY: epsilon-greedy; LIN_UCB: score + radius · width; LIN_TS: score + v · width · normal;
// REPLICAS: of each arm one of many replicas, each of which takes a row with a random weight of mean 1
// with its reward and with weights of mean a with 1 and with 0 (giro-ensemble; with a = 0
// poisson-bootstrap). KIND of the weights: POISSON, EXPONENTIAL, or DOUBLE, which is 0 or twice the mean.
// Mirrors giro.policies.epsilon_greedy, lin_ucb, lin_ts and _replicas with the model `linear`.

#define GREEDY 0
#define LIN_UCB 1
#define LIN_TS 2
#define REPLICAS 3
#define POISSON 0
#define EXPONENTIAL 1
#define DOUBLE 3

__device__ inline double *factor_of(const Game &g, int run, int arm, int replica)
{
    const size_t slot = ((size_t)run * ARMS + arm) * g.replicas + replica;
    return g.factor + slot * D * DP;
}

// The smallest k whose cumulated Poisson probability exceeds u.
__device__ inline int poisson(double mean, double u)
{
    int k = 0;
    double here = exp(-mean), total = here;
    while (u >= total && k < 1000) {
        k++;
        here *= mean / k;
        total += here;
    }
    return k;
}

__device__ inline double drawn_weight(double mean, double u)
{
    if (mean == 0.0) return 0.0;
    if (KIND == EXPONENTIAL) return -mean * log(1.0 - u);
    if (KIND == DOUBLE) return u < 0.5 ? 2.0 * mean : 0.0;
    return poisson(mean, u);
}

__device__ inline double normal(const Game &g, int run, int t, int arm)
{
    const uint4 w = words(g, run, t, NORMAL, arm, 0);
    const double radius = sqrt(-2.0 * log(1.0 - uniform(w.x, w.y)));
    return radius * cospi(2.0 * uniform(w.z, w.w));
}

// What the policy goes by for one arm; one warp. `width` is that of the context.
__device__ inline double index_of(const Game &g, int run, int t, int arm, const float *context,
                                  double &width)
{
    double score = 0.0;
    int replica = 0;
    width = 0.0;
    if (RULE == REPLICAS) {
        const uint4 w = words(g, run, t, REPLICA, arm, 0);
        replica = (int)__umulhi(w.x, (u32)g.replicas);
    }
    const bool untried = g.length[run * ARMS + arm] == 0;
    if (untried && (RULE == GREEDY || RULE == REPLICAS)) return CUDART_INF;
    project(factor_of(g, run, arm, replica), context, score, width);
    if (RULE == LIN_UCB) score += g.radius[run * ARMS + arm] * sqrt(width);
    if (RULE == LIN_TS) {
        const double v = g.scale >= 0.0 ? g.scale : 0.5 * sqrt(9.0 * D * log((t + 1) / g.delta));
        score += v * sqrt(width) * normal(g, run, t, arm);
    }
    return score;
}

__device__ inline void take_in(const Game &g, int run, int t, int arm, int replica,
                               const float *context, double reward)
{
    double weight = 1.0, total = reward;
    if (RULE == REPLICAS) {
        const uint4 w = words(g, run, t, WEIGHTS, replica, 0);
        const uint4 v = words(g, run, t, WEIGHTS, replica, 1);
        const double real = drawn_weight(1.0, uniform(w.x, w.y));
        const double one = drawn_weight(g.a, uniform(w.z, w.w));
        const double zero = drawn_weight(g.a, uniform(v.x, v.y));
        weight = real + one + zero;
        total = real * reward + one;
    }
    if (weight == 0.0) return;
    const double root = sqrt(weight);
    rotate_in(factor_of(g, run, arm, replica), context_columns(context, root, total / root));
}

extern "C" __global__ void __launch_bounds__(512) play(const Game *__restrict__ game, int first, int last)
{
    __shared__ double values[ARMS], widths[ARMS];
    __shared__ int pulled;
    __shared__ float reward;
    const Game &g = *game;
    const int run = blockIdx.x, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const bool leads = (threadIdx.x & 31) == 0;
    for (int t = first; t < last; t++) {
        const float *context = g.contexts + (size_t)g.order[(size_t)run * g.rounds + t] * DP;
        for (int arm = warp; arm < ARMS; arm += warps) {
            double width;
            const double value = index_of(g, run, t, arm, context, width);
            if (leads) values[arm] = value;
            if (leads) widths[arm] = width;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            const int any = RULE == GREEDY ? exploring_arm(g, run, t) : -1;
            pulled = any >= 0 ? any : argmax(g, run, t, values);
            reward = finish_round(g, run, t, pulled);
            if (RULE == LIN_UCB && g.scale < 0.0) {
                const int model = run * ARMS + pulled;
                g.log_det[model] += log1p(widths[pulled]);
                g.radius[model] =
                    0.5 * sqrt(2.0 * (g.log_det[model] / 2.0 - log(g.delta))) + g.bias;
            }
        }
        __syncthreads();
        for (int replica = warp; replica < g.replicas; replica += warps)
            take_in(g, run, t, pulled, replica, context, (double)reward);
        __syncthreads();
    }
}
