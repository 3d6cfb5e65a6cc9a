// Products of 16 x 16 by 16 x 8 numbers on tensor cores, by a warp.
//
// Lane l has rows l / 4 and l / 4 + 8 of A, row l / 4 of B, and of both every fourth column from l % 4
// on. Of C = A B' it has rows l / 4 and l / 4 + 8, columns 2 (l % 4) and the one beside it.
//
// In double precision this is exact. Floats are split into two numbers of 11 bits, as many as the
// tensor cores take in, which leaves single precision. Tensor cores round floats towards zero when
// they add. So each product begins at zero and is added outside, where rounding has no direction: what
// is lost does not grow with the number of products.

#ifndef EMULATED
__device__ inline void multiply(double *c, const double *a, const double *b)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},"
                 "{%4,%5,%6,%7,%8,%9,%10,%11},{%12,%13,%14,%15},{%0,%1,%2,%3};"
                 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
                   "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
    for (int i = 0; i < 4; i++)
        for (int half = 0; half < 2; half++)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
                         : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
                         : "d"(a[2 * i + half]), "d"(b[i]));
#endif
}

// c += a b' of eight rows, whose numbers are rounded to 11 bits.
__device__ inline void multiply_rounded(float *c, const float *a, const float *b)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},"
                 "{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])),
                   "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
                   "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}

// The part of a number that tensor cores take in, and what they leave.
__device__ inline void split(float x, float &high, float &low)
{
    high = __uint_as_float(__float_as_uint(x) & 0xffffe000u);
    low = x - high;
}

__device__ inline void multiply(float *c, const float *a, const float *b)
{
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        float high[4], low[4], b_high[2], b_low[2];
#pragma unroll
        for (int k = 0; k < 4; k++) split(a[2 * i + k], high[k], low[k]);
#pragma unroll
        for (int k = 0; k < 2; k++) split(b[i + k], b_high[k], b_low[k]);
        multiply_rounded(c, low, b_high);
        multiply_rounded(c, high, b_low);
        multiply_rounded(c, high, b_high);
    }
}
#endif

// c += a b' of 16 rows.
__device__ inline void accumulate(double *c, const double *a, const double *b) { multiply(c, a, b); }

__device__ inline void accumulate(float *c, const float *a, const float *b)
{
    float fresh[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    multiply(fresh, a, b);
#pragma unroll
    for (int i = 0; i < 4; i++) c[i] += fresh[i];
}
