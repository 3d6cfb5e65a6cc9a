// Logistic regressions by penalised maximum likelihood; a block fits the model of one arm.
//
// L(θ) = Σ [w log(1 + exp(x'θ)) - z x'θ] + penalty |θ|² / 2 by Newton's method. The gradient is summed in
// double precision, and it alone decides where θ ends. The Hessian Σ w p (1 - p) x x' + penalty I comes
// from tensor cores with rounded rows, and is kept once the Newton decrement is small. A step that
// goes beyond the minimum along its line is shortened to where the slope, taken as straight, is 0.
//
// Contextual Giro (`fit_arms`) begins at the fit to expected weights, the centre, which is made again
// when the history has grown a little: from there Newton's method needs few steps, whichever sample
// was drawn. Others (`fit_pulled`) begin at the arm's last fit. Mirrors
// giro.kernels.regression.logistic, which takes other steps to the same minimum.

#define LANES_EACH (QUADS % 8 == 0 ? 8 : 4)   // that share a row
#define QUADS_EACH (QUADS / LANES_EACH)
#define AT_ONCE (THREADS / LANES_EACH)        // rows
#define MOST_PASSES 100
#define NEAR 1e-2                             // squared decrement below which the Hessian is kept
#define TOO_FAR 0.5                           // of the slope may be left beyond the minimum
#define GROWTH 1.02                           // of a history, after which its centre is made again
#define CENTRE 1e-3                           // tolerance of centres

struct Fit {
    double theta[DP], gradient[DP], before[DP], step[DP];
    double parts[WARPS][DP];
    Scaled scaled[3 * CHUNK];
};

__device__ inline double sigmoid(double score)
{
    const double e = exp(-fabs(score));
    return (score >= 0.0 ? 1.0 : e) / (1.0 + e);
}

__device__ inline double dot(const double *left, const double *right)
{
    double sum = 0.0;
    for (int j = threadIdx.x & 31; j < D; j += 32) sum += left[j] * right[j];
    return warp_sum(sum);
}

// Add the parts of the gradient of two rows at a time, for the columns of this lane.
template <class Weigh> __device__ inline void
gather(const Game &g, const int2 *history, int s, Weigh weigh, const double *theta, double *sums,
       float *spread)
{
    const int mine = threadIdx.x % LANES_EACH, group = threadIdx.x / LANES_EACH;
    double at[4 * QUADS_EACH];
#pragma unroll
    for (int e = 0; e < 4 * QUADS_EACH; e++) {
        at[e] = theta[4 * (mine + e / 4 * LANES_EACH) + e % 4];
        sums[e] = 0.0;
    }
    for (int first = 0; first < s; first += 2 * AT_ONCE) {
        float4 x[2][QUADS_EACH];
        double weight[2], total[2];
#pragma unroll
        for (int m = 0; m < 2; m++) {
            const int i = first + m * AT_ONCE + group;
            weight[m] = total[m] = 0.0;
            int2 entry = make_int2(0, 0);
            if (i < s) {
                entry = history[i];
                weigh(i, __int_as_float(entry.y), weight[m], total[m]);
            }
            const float4 *row = (const float4 *)(g.contexts + (size_t)entry.x * DP);
#pragma unroll
            for (int e = 0; e < QUADS_EACH; e++) x[m][e] = __ldg(row + mine + e * LANES_EACH);
        }
#pragma unroll
        for (int m = 0; m < 2; m++) {
            const int i = first + m * AT_ONCE + group;
            double score = 0.0;
#pragma unroll
            for (int e = 0; e < QUADS_EACH; e++)
                score += ((double)x[m][e].x * at[4 * e] + (double)x[m][e].y * at[4 * e + 1]) +
                         ((double)x[m][e].z * at[4 * e + 2] + (double)x[m][e].w * at[4 * e + 3]);
#pragma unroll
            for (int distance = 1; distance < LANES_EACH; distance *= 2)
                score += __shfl_xor_sync(0xffffffffu, score, distance);
            const double p = sigmoid(score), error = weight[m] * p - total[m];
            if (spread && mine == 0 && i < s) spread[i] = (float)(weight[m] * p * (1.0 - p));
#pragma unroll
            for (int e = 0; e < QUADS_EACH; e++) {
                sums[4 * e] += error * (double)x[m][e].x;
                sums[4 * e + 1] += error * (double)x[m][e].y;
                sums[4 * e + 2] += error * (double)x[m][e].z;
                sums[4 * e + 3] += error * (double)x[m][e].w;
            }
        }
    }
}

// Set the gradient at θ, and w p (1 - p) of each row if `spread` is given. All threads.
template <class Weigh> __device__ inline void
differentiate(const Game &g, const int2 *history, int s, Weigh weigh, Fit &fit, float *spread)
{
    double sums[4 * QUADS_EACH];
    gather(g, history, s, weigh, fit.theta, sums, spread);
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int e = 0; e < 4 * QUADS_EACH; e++) {
        for (int distance = LANES_EACH; distance < 32; distance *= 2)
            sums[e] += __shfl_xor_sync(0xffffffffu, sums[e], distance);
        if (lane < LANES_EACH)
            fit.parts[threadIdx.x / 32][4 * (lane + e / 4 * LANES_EACH) + e % 4] = sums[e];
    }
    __syncthreads();
    for (int j = threadIdx.x; j < D; j += THREADS) {
        double sum = g.penalty * fit.theta[j];
        for (int warp = 0; warp < WARPS; warp++) sum += fit.parts[warp][j];
        fit.gradient[j] = sum;
    }
    __syncthreads();
}

// Move θ along the step that was taken, by a share of it. All threads.
__device__ inline void move(Fit &fit, double share)
{
    for (int j = threadIdx.x; j < D; j += THREADS) fit.theta[j] += share * fit.step[j];
    __syncthreads();
}

// Move fit.theta to the minimum. All threads.
template <class Weigh> __device__ inline void
minimise(const Game &g, const int2 *history, int s, Weigh weigh, double tolerance, Fit &fit,
         double *gram, float *spread)
{
    double last = 1e300;
    bool stepped = false;
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        const bool anew = last > NEAR;
        differentiate(g, history, s, weigh, fit, anew ? spread : (float *)0);
        if (stepped) {
            const double slope = dot(fit.gradient, fit.step), was = dot(fit.before, fit.step);
            if (slope > TOO_FAR * fabs(was)) {
                const double share = was / (was - slope);
                __syncthreads();
                move(fit, share - 1.0);
                for (int j = threadIdx.x; j < D; j += THREADS) fit.step[j] *= share;
                __syncthreads();
                continue;
            }
        }
        if (anew) {
            const auto scale = [&](int i) {
                return Scaled{history[i].x, (double)sqrtf(spread[i]), 0.0};
            };
            add_up(g, s, scale, (float *)gram, fit.scaled, gram);
            for (int i = threadIdx.x; i < D; i += THREADS) gram[i * GRAM + i] += g.penalty;
            __syncthreads();
            eliminate(gram, D - 1);
        }
        for (int j = threadIdx.x; j < D; j += THREADS) {
            fit.before[j] = fit.gradient[j];
            fit.step[j] = -fit.gradient[j];
        }
        __syncthreads();
        if (threadIdx.x < 32) solve(gram, fit.step);
        __syncthreads();
        const double decrement = -dot(fit.gradient, fit.step);
        __syncthreads();
        move(fit, 1.0);
        stepped = true;
        if (decrement <= tolerance * tolerance) break;
        last = decrement;
    }
}

__device__ inline float *spread_of(const Game &g, int run, int arm)
{
    return g.spread + ((size_t)run * ARMS + arm) * g.rounds;
}

__device__ inline void load_theta(Fit &fit, const double *theta)
{
    for (int j = threadIdx.x; j < DP; j += THREADS) fit.theta[j] = theta[j];
    __syncthreads();
}

__device__ inline void keep_theta(const Fit &fit, double *theta)
{
    for (int j = threadIdx.x; j < D; j += THREADS) theta[j] = fit.theta[j];
}

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
        minimise(g, history, s, weigh, tolerance, fit, gram, spread_of(g, run, arm));
        if (!drawn) {
            keep_theta(fit, centre);
            __syncthreads();
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

extern "C" __global__ void __launch_bounds__(THREADS, 2) fit_pulled(const Game *__restrict__ game, int t)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const Game &g = *game;
    const int run = blockIdx.x, arm = g.arms[(size_t)run * g.rounds + t];
    const int model = run * ARMS + arm, s = g.length[model];
    Fit &fit = *(Fit *)memory;
    double *gram = (double *)(memory + sizeof(Fit)), *theta = g.theta + (size_t)model * DP;
    const int2 *history = history_of(g, run, arm);
    if (WIDTHS && threadIdx.x < 32) {
        const float *context = g.contexts + (size_t)history[s - 1].x * DP;
        rotate_in(g.factor + (size_t)model * D * DP, context_columns(context, 1.0, 0.0));
    }
    load_theta(fit, theta);
    const auto once = [](int, float reward, double &weight, double &total) {
        weight = 1.0;
        total = reward;
    };
    minimise(g, history, s, once, g.tolerance, fit, gram, spread_of(g, run, arm));
    keep_theta(fit, theta);
}

extern "C" __global__ void needs(int *bytes)
{
    const int whole = D * GRAM * 8, chunks = 2 * CHUNK * Layout<float>::stride * 4;
    *bytes = (int)sizeof(Fit) + (chunks > whole ? chunks : whole);
}
