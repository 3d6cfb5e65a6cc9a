// Logistic regressions by penalised maximum likelihood; a block fits the model of one arm.
//
// L(θ) = Σ [w log(1 + exp(x'θ)) - z x'θ] + penalty |θ|² / 2 by Newton's method. The gradient is summed in
// double precision, and it alone decides where θ ends. The Hessian Σ w p (1 - p) x x' + penalty I comes
// in single precision, and is kept once the Newton decrement is small. Only few rows change their
// weight w p (1 - p) much from step to step: those with a word that few others have. If so, these alone
// are added again. A step that goes far beyond the minimum along its line is shortened: by the secant,
// then by halving the logarithm of its length.
//
// Mirrors giro.kernels.regression.logistic, which takes other steps to the same minimum.

#define LANES_EACH (QUADS % 8 == 0 ? 8 : 4)   // that share a row
#define QUADS_EACH (QUADS / LANES_EACH)
#define AT_ONCE (THREADS / LANES_EACH)        // rows
#define FETCHED (QUADS_EACH == 1 ? 4 : 2)     // of each group of lanes, while it computes
#define MOST_PASSES 100
#define NEAR 1e-4                             // squared decrement below which the Hessian is kept
#define NOT_FAR 0.1                           // and NOT_SLOW: likewise, of one that was there before
#define NOT_SLOW 0.2
#define SLOW 0.02                             // of it may be left after a step, or it is made again
#define TOO_FAR 0.5                           // of the slope may be left beyond the minimum,
#define TOO_NEAR 0.7                          // and before it if the step was shortened
#define SHORTEST 0.1                          // share of a step that is tried next
#define MUCH 0.2f                             // change of a weight, as a share of it
#define FEW_ROWS 64                           // if more change, the Hessian is summed up again

struct Fit {
    double theta[DP], gradient[DP], before[DP], step[DP], inverse[DP];
    double parts[WARPS][DP];
    Scaled scaled[3 * CHUNK];
    int found[FEW_ROWS], changed[FEW_ROWS];   // rows, as they were found and in their order
    float change[FEW_ROWS];                   // of their weights
    u32 n_changed;
};

struct Weights {  // w p (1 - p) of each row
    float *now, *summed;                      // of this gradient, and as the Hessian has them
    double *sum;                              // the Hessian before it is eliminated
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

// Add the parts of the gradient of a few rows at a time, for the columns of this lane.
template <class Weigh> __device__ inline void
gather(const Game &g, const int2 *history, int s, Weigh weigh, Fit &fit, double *sums,
       float *spread, const float *summed)
{
    const int mine = threadIdx.x % LANES_EACH, group = threadIdx.x / LANES_EACH;
    double at[4 * QUADS_EACH];
#pragma unroll
    for (int e = 0; e < 4 * QUADS_EACH; e++) {
        at[e] = fit.theta[4 * (mine + e / 4 * LANES_EACH) + e % 4];
        sums[e] = 0.0;
    }
    const float *contexts = g.contexts;
    int2 entry[FETCHED];
#pragma unroll
    for (int m = 0; m < FETCHED; m++) {
        const int i = m * AT_ONCE + group;
        entry[m] = i < s ? history[i] : make_int2(0, 0);
    }
    for (int first = 0; first < s; first += FETCHED * AT_ONCE) {
        float4 x[FETCHED][QUADS_EACH];
        double weight[FETCHED], total[FETCHED];
#pragma unroll
        for (int m = 0; m < FETCHED; m++) {
            const int i = first + m * AT_ONCE + group, next = i + FETCHED * AT_ONCE;
            const float4 *row = (const float4 *)(contexts + (size_t)entry[m].x * DP);
#pragma unroll
            for (int e = 0; e < QUADS_EACH; e++) x[m][e] = __ldg(row + mine + e * LANES_EACH);
            weight[m] = total[m] = 0.0;
            if (i < s) weigh(i, __int_as_float(entry[m].y), weight[m], total[m]);
            entry[m] = next < s ? history[next] : make_int2(0, 0);
        }
#pragma unroll
        for (int m = 0; m < FETCHED; m++) {
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
            if (spread && mine == 0 && i < s) {
                const float now = (float)(weight[m] * p * (1.0 - p));
                spread[i] = now;
                if (summed && fabsf(now - summed[i]) > MUCH * summed[i]) {
                    const u32 place = atomicAdd(&fit.n_changed, 1u);
                    if (place < FEW_ROWS) fit.found[place] = i;
                }
            }
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

// Set the gradient at θ, and w p (1 - p) of each row if `spread` is given. If `summed` is given, too,
// find the rows whose weights are no longer much like that. All threads.
template <class Weigh> __device__ inline void
differentiate(const Game &g, const int2 *history, int s, Weigh weigh, Fit &fit, float *spread,
              const float *summed)
{
    double sums[4 * QUADS_EACH];
    if (threadIdx.x == 0) fit.n_changed = 0;
    __syncthreads();
    gather(g, history, s, weigh, fit, sums, spread, summed);
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

// Set the step to minus the inverse Hessian times the gradient; a new one has eliminated it. One warp.
__device__ inline void set_step(Fit &fit, const double *gram, bool anew)
{
    Columns y;
#pragma unroll
    for (int m = 0; m < LANE_COLUMNS; m++) {
        const int j = (threadIdx.x & 31) + 32 * m;
        y.at[m] = j >= D ? 0.0 : anew ? gram[j * GRAM + D] : -fit.gradient[j];
    }
    if (!anew) y = solve_forward(gram, fit.inverse, y);
    y = solve_backward(gram, fit.inverse, y);
#pragma unroll
    for (int m = 0; m < LANE_COLUMNS; m++) {
        const int j = (threadIdx.x & 31) + 32 * m;
        if (j < D) fit.step[j] = y.at[m];
    }
}

// Set `gram` to the Hessian that has all rows. All threads.
__device__ inline void sum_up(const Game &g, const int2 *history, int s, Fit &fit, double *gram,
                              const Weights &weights)
{
    const auto scale = [&](int i) {
        weights.summed[i] = weights.now[i];
        return Scaled{history[i].x, (double)sqrtf(weights.now[i]), 0.0};
    };
    add_up(g, s, scale, (float *)gram, fit.scaled, gram);
    for (int i = threadIdx.x; i < D; i += THREADS) gram[i * GRAM + i] += g.penalty;
    __syncthreads();
    for (int i = threadIdx.x; i < D * GRAM; i += THREADS) weights.sum[i] = gram[i];
}

// Set `gram` to the Hessian in which the few rows that were found have their weights of now. Rows are
// added in their order, whoever found them first. All threads.
__device__ inline void add_changed(const Game &g, const int2 *history, Fit &fit, double *gram,
                                   const Weights &weights)
{
    const int n = (int)fit.n_changed;
    for (int k = threadIdx.x; k < n; k += THREADS) {
        const int i = fit.found[k];
        int rank = 0;
        for (int m = 0; m < n; m++) rank += fit.found[m] < i;
        fit.changed[rank] = history[i].x;
        fit.change[rank] = weights.now[i] - weights.summed[i];
        weights.summed[i] = weights.now[i];
    }
    __syncthreads();
    for (int row = threadIdx.x / 32; row < D; row += WARPS) {
        for (int column = row + (threadIdx.x & 31); column < D; column += 32) {
            double sum = weights.sum[row * GRAM + column];
            for (int k = 0; k < n; k++) {
                const float *x = g.contexts + (size_t)fit.changed[k] * DP;
                sum += (double)fit.change[k] * (double)x[row] * (double)x[column];
            }
            weights.sum[row * GRAM + column] = gram[row * GRAM + column] = sum;
        }
    }
}

// Move fit.theta to the minimum; return whether a Hessian was made. `has_hessian` says that one of
// rows much like these was eliminated in `gram`. All threads.
template <class Weigh> __device__ inline bool
minimise(const Game &g, const int2 *history, int s, Weigh weigh, double tolerance, Fit &fit,
         double *gram, const Weights &weights, bool has_hessian = false)
{
    double last = has_hessian ? 0.0 : 1e300, earlier = 1e300;
    double length = 1.0, low = -1.0, high = 1.0;  // of the step; low < 0: it was not shortened
    bool stepped = false, made = false;
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        const bool own = made || !has_hessian;
        const bool anew = last > (own ? NEAR : NOT_FAR) || last > (own ? SLOW : NOT_SLOW) * earlier;
        differentiate(g, history, s, weigh, fit, anew ? weights.now : (float *)0,
                      made ? weights.summed : (float *)0);
        if (stepped) {
            const double slope = dot(fit.gradient, fit.step), was = fabs(dot(fit.before, fit.step));
            const bool beyond = slope > TOO_FAR * was;
            if (beyond || (low >= 0.0 && slope < -TOO_NEAR * was)) {
                if (beyond) high = length;
                low = beyond ? fmax(low, 0.0) : length;
                const double secant = fmax(SHORTEST, was / (was + slope));
                const double next = low > 0.0 ? sqrt(low * high) : high * secant;
                __syncthreads();
                move(fit, next - length);
                length = next;
                continue;
            }
        }
        __syncthreads();  // before the first warp replaces the step that the others look at
        if (anew) {
            if (made && fit.n_changed <= FEW_ROWS)
                add_changed(g, history, fit, gram, weights);
            else
                sum_up(g, history, s, fit, gram, weights);
            __syncthreads();
            for (int i = threadIdx.x; i < D; i += THREADS) gram[i * GRAM + D] = -fit.gradient[i];
            __syncthreads();
            eliminate(gram, fit.inverse, D);
            made = true;
        }
        if (threadIdx.x < 32) set_step(fit, gram, anew);
        __syncthreads();
        const double decrement = -dot(fit.gradient, fit.step);
        for (int j = threadIdx.x; j < D; j += THREADS) fit.before[j] = fit.gradient[j];
        move(fit, 1.0);
        stepped = true;
        length = 1.0;
        low = -1.0;
        if (decrement <= tolerance * tolerance) break;
        earlier = last > 0.0 ? last : 1e300;
        last = decrement;
    }
    return made;
}

__device__ inline Weights weights_of(const Game &g, int model)
{
    float *both = g.spread + (size_t)model * 2 * g.rounds;
    return Weights{both, both + g.rounds, g.sums + (size_t)model * D * GRAM};
}

__device__ inline void load_theta(Fit &fit, const double *theta)
{
    for (int j = threadIdx.x; j < DP; j += THREADS) fit.theta[j] = theta[j];
    __syncthreads();
}

__device__ inline void keep_theta(const Fit &fit, double *theta)
{
    for (int j = threadIdx.x; j < D; j += THREADS) theta[j] = fit.theta[j];
    __syncthreads();
}

#define KEPT (D * GRAM + DP)                  // numbers of a Hessian that is kept

// Copy an eliminated Hessian from or to memory. All threads.
__device__ inline void load_hessian(Fit &fit, double *gram, const double *kept)
{
    for (int i = threadIdx.x; i < D * GRAM; i += THREADS) gram[i] = kept[i];
    for (int i = threadIdx.x; i < D; i += THREADS) fit.inverse[i] = kept[D * GRAM + i];
    __syncthreads();
}

__device__ inline void keep_hessian(const Fit &fit, const double *gram, double *kept)
{
    for (int i = threadIdx.x; i < D * GRAM; i += THREADS) kept[i] = gram[i];
    for (int i = threadIdx.x; i < D; i += THREADS) kept[D * GRAM + i] = fit.inverse[i];
}

extern "C" __global__ void needs(int *bytes)
{
    const int whole = D * GRAM * 8, chunks = 2 * CHUNK * Layout<float>::stride * 4;
    *bytes = (int)sizeof(Fit) + (chunks > whole ? chunks : whole);
}
