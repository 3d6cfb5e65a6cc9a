// Contextual Giro with ridge regressions: a block fits the model of one arm in one round.
//
// (Σ w x x' + penalty I) θ = Σ z x, where w is how often a row was drawn and z the sum of its rewards.
// With y = (√w x, z / √w) both sums are parts of Σ y y'. Elimination carries Σ z x and the context c
// along as columns D and D + 1; then c'θ is the sum of their products over the pivots, and θ itself
// is not needed. Mirrors giro.models.linear.

extern "C" __global__ void __launch_bounds__(THREADS, 2) fit_arms(const Game *__restrict__ game, int t)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const Game &g = *game;
    const int run = blockIdx.x % (int)g.runs, arm = g.ranks[run * ARMS + blockIdx.x / (int)g.runs];
    const int s = g.length[run * ARMS + arm];
    if (has_untried(g, run)) return;

    const int chunks = 2 * CHUNK * Layout<double>::stride, whole = D * GRAM;
    double *gram = (double *)memory, *x = gram, *inverse = gram + (chunks > whole ? chunks : whole);
    Scaled *scaled = (Scaled *)(inverse + DP);
    draw_counts(g, run, t, arm, s);
    u32 *counts = counts_of(g, run, arm);
    const int2 *history = history_of(g, run, arm);
    const auto scale = [&](int i) {
        const int2 entry = history[i];
        double weight, total;
        weight_and_total(__ldcg(counts + i), __int_as_float(entry.y), weight, total);
        counts[i] = 0;
        const double root = sqrt(weight);
        return Scaled{entry.x, root, weight > 0.0 ? total / root : 0.0};
    };
    add_up(g, s, scale, x, scaled, gram);

    const float *context = g.contexts + (size_t)g.order[(size_t)run * g.rounds + t] * DP;
    for (int i = threadIdx.x; i < D; i += THREADS) {
        gram[i * GRAM + i] += g.penalty;
        gram[i * GRAM + D + 1] = context[i];
    }
    __syncthreads();
    eliminate(gram, inverse, D + 1);
    if (threadIdx.x < 32) {
        double value = 0.0;
        for (int i = threadIdx.x; i < D; i += 32) {
            const double *row = gram + i * GRAM;
            value += row[D] * row[D + 1] * inverse[i];
        }
        value = warp_sum(value);
        if (threadIdx.x == 0) g.values[run * ARMS + arm] = value;
    }
}

extern "C" __global__ void needs(int *bytes)
{
    const int whole = D * GRAM, chunks = 2 * CHUNK * Layout<double>::stride;
    *bytes = ((chunks > whole ? chunks : whole) + DP) * 8 + 3 * CHUNK * (int)sizeof(Scaled);
}
