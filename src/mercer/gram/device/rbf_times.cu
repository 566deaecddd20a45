// Sums of Gaussian kernel values without a stored matrix:
//
//   sums[part][row] = sum over the columns of one part of 2^(left_row . right_column - n_row - n_column) w_column
//
// where n is half a point's squared length. Points are rows of WIDTH halves: the left ones hold (high, high, low), the
// right ones (high, low, high), so that one product of halves is the product of numbers of twice as many bits.
// The caller defines WIDTH (a multiple of 32), WARPS, BLOCKS, and FOLDED: then w comes multiplied by 2^-n_column, which
// spares two additions an entry and has room where no n is large. The number of columns is a multiple of TILE.
// No headers, so that the run-time compiler needs nothing but this text.

typedef unsigned int Word;        // two halves
typedef unsigned short Half;      // the bits of one

#define TILE 64                   // columns at a time in shared memory; two tiles, so that one loads while one is used
#define STRIDE (WIDTH + 8)        // between columns there: eight rows that are read together lie in different banks
#define STEPS (WIDTH / 16)        // depth of one matrix instruction is 16
#define THREADS (WARPS * 32)
#define WARP_ROWS 32              // two fragments of 16

struct Fragment {                 // 16 rows of the left points, as the matrix instruction wants them
    Word words[STEPS][4];
};

__device__ __forceinline__ Word shared_address(const void* at) { return (Word)__cvta_generic_to_shared(at); }

__device__ __forceinline__ float power_of_two(float exponent) {
    float value;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(exponent));
    return value;
}

__device__ __forceinline__ void copy_later(Word to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

// Four 8 x 8 pieces of the right points: what two matrix instructions need of eight columns.
__device__ __forceinline__ void load_columns(Word (&words)[4], Word from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(from));
}

__device__ __forceinline__ void multiply(float (&dots)[4], const Word (&left)[4], Word right, Word more) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(dots[0]), "+f"(dots[1]), "+f"(dots[2]), "+f"(dots[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right), "r"(more));
}

__device__ __forceinline__ void begin_tile(Half* points, float* norms, float* weights, const Half* right,
                                           const float* right_norms, const float* w, int column) {
    constexpr int pieces = WIDTH / 8;  // of 16 bytes, a column
    const Half* from = right + (long long)column * WIDTH;
    for (int piece = threadIdx.x; piece < TILE * pieces; piece += THREADS) {
        const int at = piece / pieces, inside = piece % pieces * 8;
        copy_later(shared_address(points + at * STRIDE + inside), from + at * WIDTH + inside);
    }
    constexpr int quads = TILE / 4;
    const int quad = threadIdx.x % quads * 4;
    if (threadIdx.x < quads)
        copy_later(shared_address(norms + quad), right_norms + column + quad);
    else if (threadIdx.x < 2 * quads)
        copy_later(shared_address(weights + quad), w + column + quad);
    asm volatile("cp.async.commit_group;");
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
rbf_times(const Half* left, const Half* right, const float* left_norms, const float* right_norms, const float* w,
          float* sums, int n_rows, int n_columns, int part_columns) {
    __shared__ __align__(16) Half points[2][TILE * STRIDE];
    __shared__ __align__(16) float norms[2][TILE];
    __shared__ __align__(16) float weights[2][TILE];

    // A thread has rows lane / 4 and lane / 4 + 8 of each fragment, and of every eight columns the two at pair.
    const int lane = threadIdx.x % 32, pair = lane % 4 * 2;
    const int first_row = (blockIdx.x * WARPS + threadIdx.x / 32) * WARP_ROWS + lane / 4;
    Fragment fragments[2];
    float row_norms[2][2], totals[2][2] = {};
#pragma unroll
    for (int f = 0; f < 2; ++f)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = min(first_row + f * 16 + half * 8, n_rows - 1);
            const Word* words = (const Word*)(left + (long long)row * WIDTH) + pair / 2;
            row_norms[f][half] = left_norms[row];
#pragma unroll
            for (int step = 0; step < STEPS; ++step) {
                fragments[f].words[step][half] = words[step * 8];
                fragments[f].words[step][half + 2] = words[step * 8 + 4];
            }
        }

    const int begin = blockIdx.y * part_columns, end = min(begin + part_columns, n_columns);
    begin_tile(points[0], norms[0], weights[0], right, right_norms, w, begin);
    for (int column = begin, now = 0; column < end; column += TILE, now ^= 1) {
        if (column + TILE < end) {
            begin_tile(points[now ^ 1], norms[now ^ 1], weights[now ^ 1], right, right_norms, w, column + TILE);
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_group 0;");
        }
        __syncthreads();
        const Word mine = shared_address(points[now] + lane % 8 * STRIDE + lane / 8 * 8);
        float tile_sums[2][2] = {};  // a sum of its own: shorter ones round less
#pragma unroll
        for (int strip = 0; strip < TILE; strip += 16) {
            float dots[2][2][4];
#pragma unroll
            for (int f = 0; f < 2; ++f)
#pragma unroll
                for (int entry = 0; entry < 4; ++entry)
                    dots[0][f][entry] = dots[1][f][entry] = FOLDED ? -row_norms[f][entry / 2] : 0.f;
#pragma unroll
            for (int step = 0; step < STEPS; step += 2)
#pragma unroll
                for (int eight = 0; eight < 2; ++eight) {
                    Word columns[4];
                    load_columns(columns, mine + ((strip + eight * 8) * STRIDE + step * 16) * (int)sizeof(Half));
#pragma unroll
                    for (int f = 0; f < 2; ++f) {
                        multiply(dots[eight][f], fragments[f].words[step], columns[0], columns[1]);
                        multiply(dots[eight][f], fragments[f].words[step + 1], columns[2], columns[3]);
                    }
                }
#pragma unroll
            for (int eight = 0; eight < 2; ++eight) {
                const int at = strip + eight * 8 + pair;
                const float2 norm = *(const float2*)(norms[now] + at), weight = *(const float2*)(weights[now] + at);
#pragma unroll
                for (int f = 0; f < 2; ++f)
#pragma unroll
                    for (int half = 0; half < 2; ++half) {
                        float one = dots[eight][f][2 * half], other = dots[eight][f][2 * half + 1];
                        if (!FOLDED) one -= norm.x + row_norms[f][half], other -= norm.y + row_norms[f][half];
                        tile_sums[f][half] += power_of_two(one) * weight.x + power_of_two(other) * weight.y;
                    }
            }
        }
#pragma unroll
        for (int f = 0; f < 2; ++f) totals[f][0] += tile_sums[f][0], totals[f][1] += tile_sums[f][1];
        __syncthreads();  // before the next tile is written over this one
    }

#pragma unroll
    for (int f = 0; f < 2; ++f)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float total = totals[f][half];
            total += __shfl_xor_sync(~0u, total, 1);
            total += __shfl_xor_sync(~0u, total, 2);
            const int row = first_row + f * 16 + half * 8;
            if (pair == 0 && row < n_rows) sums[(long long)blockIdx.y * n_rows + row] = total;
        }
}
