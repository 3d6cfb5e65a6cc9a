// Rows of a matrix in the registers of a warp.

#define LANE_COLUMNS ((DP + 31) / 32)

// The columns of a row that a lane holds: lane, lane + 32, ...
struct Columns {
    double at[LANE_COLUMNS];
};

__device__ inline double from_lane(double value, int lane)
{
    return __shfl_sync(0xffffffffu, value, lane & 31);
}

__device__ inline Columns load_columns(const double *row)
{
    Columns columns;
#pragma unroll
    for (int m = 0; m < LANE_COLUMNS; m++) {
        const int j = (threadIdx.x & 31) + 32 * m;
        columns.at[m] = j <= D ? row[j] : 0.0;
    }
    return columns;
}

__device__ inline Columns context_columns(const float *context, double root, double last)
{
    Columns columns;
#pragma unroll
    for (int m = 0; m < LANE_COLUMNS; m++) {
        const int j = (threadIdx.x & 31) + 32 * m;
        columns.at[m] = j < D ? root * (double)context[j] : j == D ? last : 0.0;
    }
    return columns;
}
