// The loops that decide the speed, as a table of plain functions for each instruction set.
//
// hot_loops.cpp is compiled once for each set; hot_loops<T>() picks the best one this processor has.
#pragma once

#include <cstdint>

namespace mercer {

// rbf_by_difference is rbf for points so far apart that the difference of large squares would lose its digits.
enum class Family : int { linear, polynomial, rbf, laplacian, euclidean_laplacian, sigmoid, rbf_by_difference };

// How a kernel value follows from two packed rows. For the radial families the rows have been scaled
// beforehand so that the accumulated number is the exponent (rbf) or the distance itself.
struct KernelShape {
    Family family = Family::linear;
    double gamma = 1.0;
    double coef0 = 0.0;
    double factor = 1.0;
    int degree = 3;
};

// Columns of a kernel row are handled in panels of this many rows of the data, interleaved.
constexpr int panel_rows = 16;

// Rows are best asked for in groups of this many: whole register tiles, whatever the instruction set.
constexpr int query_group = 24;

template <class T>
struct Panels {
    const T* values;            // [panel][feature][panel_rows]
    const T* halves;            // half the squared norm of each row
    const double* wide_halves;  // the same with more digits
    std::int64_t n_features;
};

// One side of a tile: row-major, with half squared norms.
template <class T>
struct Queries {
    const T* values;
    const T* halves;
    const double* wide_halves;
    std::int64_t count;
};

// When the next Newton step is due, counted in pair steps over all working sets of a solve.
constexpr std::int64_t shortest_wait = 300;
struct NewtonSchedule {
    std::int64_t steps = 0, last = 0, due = shortest_wait, wait = shortest_wait;
    double pair_gain = 0.0;  // by how much the pair steps since then lowered the objective
};

// State of one working set; all arrays have `size` entries, padded to whole vectors.
template <class T>
struct InnerProblem {
    const T* kernel;      // size x stride, ridge on the diagonal
    std::int64_t stride;  // distance of rows
    std::int64_t width;   // size, padded to whole vectors
    std::int64_t size;
    T* gradient;
    double* beta;
    const double* lower;
    const double* upper;
    T* up_penalty;   // 0 where beta may rise, else -huge
    T* low_penalty;  // 0 where beta may fall, else +huge
    const T* diagonal;
    double tol;
    std::int64_t max_iter;
    double* workspace;   // newton_workspace numbers
    std::int64_t* free;  // free_limit + most_held places
    NewtonSchedule* newton;
};

// Newton steps are taken on at most this many variables strictly between their bounds.
constexpr std::int64_t free_limit = 1024;
constexpr std::int64_t most_held = 128;  // of which so many may meet a bound

// Rows of their matrix: whole vectors, and not a power of two, where all rows would meet in the same lines of cache.
constexpr std::int64_t row_length(std::int64_t n) { return ((n + 7) / 8 | 1) * 8; }
constexpr std::int64_t longest_row = row_length(free_limit);
constexpr std::int64_t newton_workspace = longest_row * (free_limit + 5 + most_held);

struct InnerResult {
    std::int64_t n_iter;
    double first_violation;
    double last_violation;
    double gain;  // by how much the objective went down
};

template <class T>
struct HotLoops {
    // out[q][column] for whole panels [panel_begin, panel_end); out[q] points at column 0 of row q.
    void (*tile)(const KernelShape&, const Queries<T>&, const Panels<T>&, std::int64_t panel_begin,
                 std::int64_t panel_end, T* const* out);
    // The same with results in double precision, from sums over the features in the precision of the data.
    void (*wide_tile)(const KernelShape&, const Queries<T>&, const Panels<T>&, std::int64_t panel_begin,
                      std::int64_t panel_end, double* const* out);
    // sum[i] += sum_q weight[q] * row[q][i] for i in [begin, end)
    void (*add_rows)(const T* const* rows, const double* weights, std::int64_t count, std::int64_t begin,
                     std::int64_t end, double* sum);
    // out[q * out_stride + r] += <row[q], coefficients[r]> over columns [begin, end); row[q] starts at column begin
    void (*dot_rows)(const T* const* rows, std::int64_t count, const double* coefficients, std::int64_t n_coefficients,
                     std::int64_t stride, std::int64_t begin, std::int64_t end, double* out, std::int64_t out_stride);
    InnerResult (*inner_smo)(InnerProblem<T>&);
};

template <class T>
const HotLoops<T>& hot_loops();
template <>
const HotLoops<float>& hot_loops<float>();
template <>
const HotLoops<double>& hot_loops<double>();

// Name of the instruction set in use: "avx512", "avx2" or "baseline".
const char* instruction_set();

}  // namespace mercer
