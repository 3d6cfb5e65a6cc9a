// The end of a round whose arms were valued by a kernel before; a warp for one run.
//
// RULE GIRO: the highest value once every arm was tried; GREEDY: likewise, an untried arm first, and
// now and then any arm. Mirrors giro.policies.contextual_giro and _greedy_models.

#define GIRO 0
#define GREEDY 1

extern "C" __global__ void __launch_bounds__(32)
choose(const Game *__restrict__ game, int t)
{
    __shared__ double values[ARMS];
    const Game &g = *game;
    const int run = blockIdx.x;
    const bool waits = RULE == GIRO && has_untried(g, run);
    for (int arm = threadIdx.x; arm < ARMS; arm += 32) {
        const bool untried = g.length[run * ARMS + arm] == 0;
        const double value = waits ? 0.0 : g.values[run * ARMS + arm];
        values[arm] = untried ? CUDART_INF : value;
    }
    __syncwarp();
    if (threadIdx.x > 0) return;
    const int any = RULE == GREEDY ? exploring_arm(g, run, t) : -1;
    finish_round(g, run, t, any < 0 ? argmax(g, run, t, values) : any);
    rank_arms(g, run);
}
