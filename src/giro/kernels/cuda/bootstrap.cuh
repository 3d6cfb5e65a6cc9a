// Bootstrap samples as counts: how often each row of a history is drawn, with which rewards.
//
// The counts of the three kinds are packed into one word of ten bits each. Whole numbers are added
// in any order with the same sum. Mirrors giro.kernels.giro.pseudo_rewards.draw_counts.

__device__ inline u32 *counts_of(const Game &g, int run, int arm)
{
    return g.counts + ((size_t)run * ARMS + arm) * g.rounds;
}

// Add a sample of s + 2k entries to counts that are zero. All threads of the block.
__device__ inline void draw_counts(const Game &g, int run, int t, int arm, int s)
{
    u32 *counts = counts_of(g, run, arm);
    const u32 k = pseudo_count(g, run, t, arm, s), m = s + 2 * k;
    for (u32 pair = threadIdx.x; 2 * pair < m; pair += blockDim.x) {
        const uint4 w = words(g, run, t, ENTRIES, arm, pair);
        int kind, row = sampled(w.x, w.y, s, k, kind);
        atomicAdd(counts + row, 1u << (10 * kind));
        if (2 * pair + 1 < m) {
            row = sampled(w.z, w.w, s, k, kind);
            atomicAdd(counts + row, 1u << (10 * kind));
        }
    }
    __syncthreads();
}

// How often a row is taken, and the sum of its rewards.
__device__ inline void weight_and_total(u32 count, float reward, double &weight, double &total)
{
    const u32 real = count & 1023u, one = count >> 10 & 1023u, zero = count >> 20;
    weight = (double)(real + one + zero);
    total = (double)real * reward + (double)one;
}
