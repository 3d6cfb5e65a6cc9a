// The end of a round whose arms were valued by a kernel before; one warp for each arm of a run.
//
// RULE VALUES_OF_GIRO: the highest value once every arm was tried; VALUES_OF_GREEDY: likewise, an
// untried arm first, and now and then any arm; SCORES: as GREEDY with the scores of regressions;
// UCB_GLM: arms at random for `tau` rounds, then the score plus `scale` times the width. Mirrors
// giro.policies.contextual_giro, _greedy_models and ucb_glm.

#define VALUES_OF_GIRO 0
#define VALUES_OF_GREEDY 1
#define SCORES 2
#define UCB_GLM 3

__device__ inline double valued(const Game &g, int run, int arm, const float *context)
{
    const int model = run * ARMS + arm;
    if (RULE == VALUES_OF_GIRO) {
        const bool untried = g.length[model] == 0;
        return has_untried(g, run) ? (untried ? 1.0 : 0.0) : g.values[model];
    }
    if (RULE != UCB_GLM && g.length[model] == 0) return CUDART_INF;
    if (RULE == VALUES_OF_GREEDY) return g.values[model];
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

extern "C" __global__ void __launch_bounds__(1024) choose(const Game *__restrict__ game, int t)
{
    __shared__ double values[ARMS];
    const Game &g = *game;
    const int run = blockIdx.x, arm = threadIdx.x / 32;
    const float *context = g.contexts + (size_t)g.order[(size_t)run * g.rounds + t] * DP;
    const double value = valued(g, run, arm, context);
    if ((threadIdx.x & 31) == 0) values[arm] = value;
    __syncthreads();
    if (threadIdx.x > 0) return;
    int pulled = -1;
    if (RULE == VALUES_OF_GREEDY || RULE == SCORES) pulled = exploring_arm(g, run, t);
    if (RULE == UCB_GLM && t < g.tau)
        pulled = (int)__umulhi(words(g, run, t, ANY_ARM, 0, 0).x, ARMS);
    if (pulled < 0) pulled = argmax(g, run, t, values);
    finish_round(g, run, t, pulled);
    rank_arms(g, run);
}
