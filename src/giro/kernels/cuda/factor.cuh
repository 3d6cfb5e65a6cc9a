// A = penalty I + Σ w x x' kept as U with U'U = A, row by row, and y with U'y = Σ z x beside it.
//
// U [row * DP + column] has D rows, and y is its column D: a plane rotation that takes in the row
// (√w x, z / √w) turns both. Then with U'q = c the score of a context c is q'y, its squared width
// c'A⁻¹c is q'q, and θ is not needed. Mirrors giro.kernels.regression.ridge and linear_algebra.

// Take in the row `x`, of which column D is z / √w. One warp. Rows are gone through 32 at a time, so
// that the compiler knows which of a lane's columns the pivot is in.
__device__ inline void rotate_in(double *factor, Columns x)
{
    const int lane = threadIdx.x & 31;
    Columns following = load_columns(factor);
#pragma unroll
    for (int part = 0; part < LANE_COLUMNS; part++) {
        const int end = 32 * part + 32 < D ? 32 * part + 32 : D;
        for (int i = 32 * part; i < end; i++) {
            const Columns upper = following;
            if (i + 1 < D) following = load_columns(factor + (i + 1) * DP);
            const double pivot = from_lane(upper.at[part], i), below = from_lane(x.at[part], i);
            if (below == 0.0) continue;
            const double inverse = 1.0 / sqrt(pivot * pivot + below * below);
            const double cosine = pivot * inverse, sine = below * inverse;
#pragma unroll
            for (int m = part; m < LANE_COLUMNS; m++) {
                const int j = lane + 32 * m;
                if (j >= i && j <= D) factor[i * DP + j] = cosine * upper.at[m] + sine * x.at[m];
                x.at[m] = cosine * x.at[m] - sine * upper.at[m];
            }
        }
    }
}

// Set `score` to q'y and `width` to q'q, where U'q = context. One warp; all lanes get both.
__device__ inline void project(const double *factor, const float *context, double &score,
                               double &width)
{
    Columns x = context_columns(context, 1.0, 0.0), following = load_columns(factor);
    score = width = 0.0;
#pragma unroll
    for (int part = 0; part < LANE_COLUMNS; part++) {
        const int end = 32 * part + 32 < D ? 32 * part + 32 : D;
        for (int i = 32 * part; i < end; i++) {
            const Columns upper = following;
            if (i + 1 < D) following = load_columns(factor + (i + 1) * DP);
            const double q = from_lane(x.at[part], i) / from_lane(upper.at[part], i);
            score += q * from_lane(upper.at[D / 32], D);
            width += q * q;
#pragma unroll
            for (int m = part; m < LANE_COLUMNS; m++) x.at[m] -= q * upper.at[m];
        }
    }
}
