// Sums over the rows of a matrix of dot products: sums[row] = sum over the columns of
// 2^(dots[row][column] - n_row - n_column) w_column, reading each dot product once. A block of threads has a row.
// No headers, so that the run-time compiler needs nothing but this text.

#define THREADS 256

__device__ __forceinline__ float power_of_two(float exponent) {
    float value;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(exponent));
    return value;
}

extern "C" __global__ void __launch_bounds__(THREADS)
exponential_sums(const float* dots, const float* row_norms, const float* column_norms, const float* w, float* sums,
                 int n_columns) {
    __shared__ float parts[THREADS / 32];
    const float4* row = (const float4*)(dots + (long long)blockIdx.x * n_columns);
    const float norm = row_norms[blockIdx.x];
    float total = 0.f;
    for (int at = threadIdx.x; at < n_columns / 4; at += THREADS) {  // a multiple of four, as the caller sees to
        const float4 dot = row[at], other = ((const float4*)column_norms)[at], weight = ((const float4*)w)[at];
        total += power_of_two(dot.x - other.x - norm) * weight.x + power_of_two(dot.y - other.y - norm) * weight.y +
                 power_of_two(dot.z - other.z - norm) * weight.z + power_of_two(dot.w - other.w - norm) * weight.w;
    }
#pragma unroll
    for (int step = 16; step; step /= 2) total += __shfl_xor_sync(~0u, total, step);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < THREADS / 32; ++k) total += parts[k];
        sums[blockIdx.x] = total;
    }
}
