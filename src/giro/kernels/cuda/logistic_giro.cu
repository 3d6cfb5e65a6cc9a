// Contextual Giro with logistic regressions: a block fits the model of one arm in one round.
//
// A fit begins at the fit to expected weights, the centre, which is made again when the history has
// grown a little: from there Newton's method needs few steps, whichever sample was drawn. Mirrors
// giro.models.logistic.

#define GROWTH 1.02                           // of a history, after which its centre is made again
#define CENTRE 1e-3                           // tolerance of centres

extern "C" __global__ void __launch_bounds__(THREADS, 2) fit_arms(const Game *__restrict__ game, int t)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const Game &g = *game;
    const int run = blockIdx.x % (int)g.runs, arm = g.ranks[run * ARMS + blockIdx.x / (int)g.runs];
    const int model = run * ARMS + arm, s = g.length[model];
    if (has_untried(g, run)) return;

    Fit &fit = *(Fit *)memory;
    double *gram = (double *)(memory + sizeof(Fit)), *centre = g.theta + (size_t)model * DP;
    const int2 *history = history_of(g, run, arm);
    u32 *counts = counts_of(g, run, arm);
    load_theta(fit, centre);
    for (int drawn = s > GROWTH * g.made[model] ? 0 : 1; drawn < 2; drawn++) {
        if (drawn) draw_counts(g, run, t, arm, s);
        const auto weigh = [&](int i, float reward, double &weight, double &total) {
            weight = 1.0 + 2.0 * g.a;
            total = reward + g.a;
            if (drawn) weight_and_total(__ldcg(counts + i), reward, weight, total);
        };
        const double tolerance = drawn ? g.tolerance : CENTRE;
        minimise(g, history, s, weigh, tolerance, fit, gram, weights_of(g, model));
        if (!drawn) {
            keep_theta(fit, centre);
            if (threadIdx.x == 0) g.made[model] = s;
        }
    }
    for (int i = threadIdx.x; i < s; i += THREADS) counts[i] = 0;
    const float *context = g.contexts + (size_t)g.order[(size_t)run * g.rounds + t] * DP;
    for (int j = threadIdx.x; j < D; j += THREADS) fit.before[j] = context[j];
    __syncthreads();
    const double score = dot(fit.theta, fit.before);
    if (threadIdx.x == 0) g.values[model] = sigmoid(score);
}
