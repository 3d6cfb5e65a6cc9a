// Policies that fit a logistic regression again to all rewards of the pulled arm; a block plays one
// run. A fit begins at the arm's last one, and with the Hessian of an earlier one.
//
// RULE GREEDY: epsilon-greedy; UCB_GLM: arms at random for `tau` rounds, then the highest of the score
// plus `scale` times the width (x'V⁻¹x)^(1/2). Mirrors giro.policies._greedy_models and ucb_glm.

#define GREEDY 0
#define UCB_GLM 1
#define GROWTH 1.2                            // of a history, after which its Hessian is made again

// What the policy goes by for one arm. One warp.
__device__ inline double index_of(const Game &g, int model, const float *context)
{
    if (RULE == GREEDY && g.length[model] == 0) return CUDART_INF;
    double score = 0.0, width = 0.0, zero;
    for (int j = threadIdx.x & 31; j < D; j += 32)
        score += g.theta[(size_t)model * DP + j] * context[j];
    score = warp_sum(score);
    if (RULE == UCB_GLM) {
        project(g.factor + (size_t)model * D * DP, context, zero, width);
        score += g.scale * sqrt(width);
    }
    return score;
}

// The arm of a round. One thread.
__device__ inline int pulled_arm(const Game &g, int run, int t, const double *values)
{
    int arm = -1;
    if (RULE == GREEDY) arm = exploring_arm(g, run, t);
    if (RULE == UCB_GLM && t < g.tau) arm = (int)__umulhi(words(g, run, t, ANY_ARM, 0, 0).x, ARMS);
    return arm < 0 ? argmax(g, run, t, values) : arm;
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
play(const Game *__restrict__ game, int first, int last)
{
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ double values[ARMS];
    __shared__ int pulled;
    const Game &g = *game;
    const int run = blockIdx.x, warp = threadIdx.x / 32;
    Fit &fit = *(Fit *)memory;
    double *gram = (double *)(memory + sizeof(Fit));
    const auto once = [](int, float reward, double &weight, double &total) {
        weight = 1.0;
        total = reward;
    };
    for (int t = first; t < last; t++) {
        const float *context = g.contexts + (size_t)g.order[(size_t)run * g.rounds + t] * DP;
        for (int arm = warp; arm < ARMS; arm += WARPS) {
            const double value = index_of(g, run * ARMS + arm, context);
            if ((threadIdx.x & 31) == 0) values[arm] = value;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            pulled = pulled_arm(g, run, t, values);
            finish_round(g, run, t, pulled);
        }
        __syncthreads();
        const int arm = pulled, model = run * ARMS + arm, s = g.length[model];
        double *theta = g.theta + (size_t)model * DP, *kept = g.hessian + (size_t)model * KEPT;
        const bool has_hessian = s <= GROWTH * g.made[model];
        load_theta(fit, theta);
        if (has_hessian) load_hessian(fit, gram, kept);
        if (minimise(g, history_of(g, run, arm), s, once, g.tolerance, fit, gram,
                     weights_of(g, model), has_hessian)) {
            keep_hessian(fit, gram, kept);
            if (threadIdx.x == 0) g.made[model] = s;
        }
        keep_theta(fit, theta);
        if (RULE == UCB_GLM && warp == 0)
            rotate_in(g.factor + (size_t)model * D * DP, context_columns(context, 1.0, 0.0));
        __syncthreads();
    }
}
