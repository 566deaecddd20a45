// Sums of Gaussian kernel values in double precision, without a stored matrix:
//
//   sums[part][row] = sum over the columns of one part of exp(-|row - column|^2 gamma) w_column
//
// Points are rows of DEPTH numbers that were multiplied by the root of 2 gamma: the exponent is then their dot product
// less half of both squared lengths. A thread keeps ROWS points in registers; columns go by through shared memory.
// No headers, so that the run-time compiler needs nothing but this text.

#define THREADS 128
#define TILE 32

extern "C" __global__ void __launch_bounds__(THREADS)
rbf_exact(const double* rows, const double* columns, const double* w, double* sums, int n_rows, int n_columns,
          int part_columns) {
    __shared__ double points[TILE][DEPTH], norms[TILE], weights[TILE];
    double own[ROWS][DEPTH], own_norms[ROWS], totals[ROWS];
    const int first_row = blockIdx.x * THREADS * ROWS + threadIdx.x;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const double* from = rows + (long long)min(first_row + r * THREADS, n_rows - 1) * DEPTH;
        own_norms[r] = totals[r] = 0.0;
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            own[r][k] = from[k];
            own_norms[r] += 0.5 * own[r][k] * own[r][k];
        }
    }
    const int begin = blockIdx.y * part_columns, end = min(begin + part_columns, n_columns);
    for (int column = begin; column < end; column += TILE) {
        const int count = min(TILE, end - column);
        __syncthreads();  // the tile before has been used
        for (int at = threadIdx.x; at < count * DEPTH; at += THREADS)
            points[at / DEPTH][at % DEPTH] = columns[(long long)column * DEPTH + at];
        __syncthreads();
        if (threadIdx.x < count) {
            double norm = 0.0;
            for (int k = 0; k < DEPTH; ++k) norm += 0.5 * points[threadIdx.x][k] * points[threadIdx.x][k];
            norms[threadIdx.x] = norm;
            weights[threadIdx.x] = w[column + threadIdx.x];
        }
        __syncthreads();
        for (int c = 0; c < count; ++c) {
            double exponents[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) exponents[r] = -own_norms[r] - norms[c];
#pragma unroll
            for (int k = 0; k < DEPTH; ++k)
#pragma unroll
                for (int r = 0; r < ROWS; ++r) exponents[r] += own[r][k] * points[c][k];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) totals[r] += exp(fmin(exponents[r], 0.0)) * weights[c];
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const int row = first_row + r * THREADS;
        if (row < n_rows) sums[(long long)blockIdx.y * n_rows + row] = totals[r];
    }
}
