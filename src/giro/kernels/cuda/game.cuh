// What every kernel shares: counter-based draws, rewards, and the end of a round.
//
// A block or warp works for one run, or one arm of one run. What it draws is a function of the
// seed, the number of the run, the round, the arm and the purpose (Philox4x32-10; Salmon et al.,
// 2011), so it does not depend on how many runs are played at once, or in which order.
//
// Made by the host: D columns of a row with its constant 1, DP columns with padding (a multiple of
// 16 greater than D), ARMS, and struct Game (see giro.kernels.cuda.source).


enum Purpose { ENTRIES, PSEUDO, TIES, EXPLORING, ANY_ARM, WEIGHTS, REPLICA, NORMAL, ORDER };
enum Kind { REAL, ONE, ZERO };

__device__ inline uint4 philox(u32 c0, u32 c1, u32 c2, u32 c3, u32 k0, u32 k1)
{
    for (int i = 0; i < 10; i++) {
        const u32 high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
        const u32 high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return make_uint4(c0, c1, c2, c3);
}

// Four words that belong to a place in the work of one run.
__device__ inline uint4 words(const Game &g, int run, int t, Purpose purpose, int arm, u32 index)
{
    const u32 place = (u32)purpose << 16 | (u32)arm;
    return philox(index, (u32)t, place, (u32)g.numbers[run], (u32)g.seed_low, (u32)g.seed_high);
}

// A number from [0, 1) with 53 random bits.
__device__ inline double uniform(u32 high, u32 low)
{
    return ((high >> 5) * 67108864.0 + (low >> 6)) / 9007199254740992.0;
}

// How many pseudo rewards of each kind go with s rewards: floor(a s) or ceil(a s), see
// giro.kernels.giro.pseudo_rewards.
__device__ inline u32 pseudo_count(const Game &g, int run, int t, int arm, int s)
{
    const double product = g.a * s, nearest = floor(product + 0.5);
    if (fabs(product - nearest) <= 1e-12 * product) return (u32)nearest;
    const uint4 w = words(g, run, t, PSEUDO, arm, 0);
    const double below = floor(product);
    return (u32)below + (uniform(w.x, w.y) < product - below);
}

// One entry of a bootstrap sample: the row of an arm's history, and the kind of its reward.
__device__ inline int sampled(u32 kind_word, u32 row_word, u32 s, u32 k, int &kind)
{
    const u32 place = __umulhi(kind_word, s + 2 * k);
    kind = (place >= s) + (place >= s + k);
    return (int)__umulhi(row_word, s);
}

__device__ inline float reward_of(const Game &g, int arm, int label)
{
    const float away = (float)abs(arm - label) / (float)g.reach;
    return fmaxf(0.0f, 1.0f - away);
}

__device__ inline int2 *history_of(const Game &g, int run, int arm)
{
    return g.history + ((size_t)run * ARMS + arm) * g.rounds;
}

// The arm with the highest value; of several, each is as likely. One thread.
__device__ inline int argmax(const Game &g, int run, int t, const double *values)
{
    int best = 0, tied = 1;
    for (int arm = 1; arm < ARMS; arm++) {
        if (values[arm] > values[best]) {
            best = arm;
            tied = 1;
        } else if (values[arm] == values[best]) {
            const uint4 w = words(g, run, t, TIES, 0, ++tied);
            if (uniform(w.x, w.y) * tied < 1.0) best = arm;
        }
    }
    return best;
}

// The arm of a round in which any is pulled, or -1. One thread.
__device__ inline int exploring_arm(const Game &g, int run, int t)
{
    const double epsilon = fmax(g.epsilon, fmin(1.0, g.b / (t + 1)));
    uint4 w = words(g, run, t, EXPLORING, 0, 0);
    if (uniform(w.x, w.y) >= epsilon) return -1;
    w = words(g, run, t, ANY_ARM, 0, 0);
    return (int)__umulhi(w.x, ARMS);
}

// Write down the pulled arm, and add the observation to its history. One thread.
__device__ inline float finish_round(const Game &g, int run, int t, int arm)
{
    const int row = g.order[(size_t)run * g.rounds + t];
    const float reward = reward_of(g, arm, g.labels[row]);
    int *length = g.length + run * ARMS + arm;
    g.arms[(size_t)run * g.rounds + t] = (unsigned char)arm;
    history_of(g, run, arm)[*length] = make_int2(row, __float_as_int(reward));
    *length += 1;
    return reward;
}

// Arms of a run by length of their histories, longest first: their blocks are to begin first.
__device__ inline void rank_arms(const Game &g, int run)
{
    const int *length = g.length + run * ARMS;
    int *ranks = g.ranks + run * ARMS;
    for (int i = 0; i < ARMS; i++) {
        int place = 0;
        for (int j = 0; j < ARMS; j++)
            place += length[j] > length[i] || (length[j] == length[i] && j < i);
        ranks[place] = i;
    }
}

// Whether a run has an arm that was never pulled.
__device__ inline bool has_untried(const Game &g, int run)
{
    for (int arm = 0; arm < ARMS; arm++)
        if (g.length[run * ARMS + arm] == 0) return true;
    return false;
}

__device__ inline double warp_sum(double value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}
