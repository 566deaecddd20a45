// A Cholesky factor U'U = A. Included by newton_step.hpp only.
#pragma once

#include <cmath>
#include <cstdint>

#include "vectors.hpp"

namespace mercer {
namespace {  // internal linkage: each instruction set must keep its own copy

constexpr std::int64_t pivots = 8;  // rows handled at a time, so that what they act on is read that much less often
constexpr std::int64_t panel = 32;  // pivots that are taken from the rest of the matrix together

// Vectors that go with a factor are as long as this, with zeros at the end.
inline std::int64_t whole_blocks(std::int64_t n) { return (n + pivots - 1) / pivots * pivots; }

struct Cholesky {
    double* rows;         // the upper half is used; zeros behind the last column
    std::int64_t stride;  // a multiple of `pivots`
    std::int64_t n;

    const double* row(std::int64_t k) const { return rows + k * stride; }
    double* row(std::int64_t k) { return rows + k * stride; }
};

// Rows [begin, begin + n_rows) lose what the pivots [from, to) take from them, n_vectors of columns at a time, whose
// sums stay in registers. Columns start at `column`, a whole vector before the first row's diagonal: what lies below
// the diagonal is never read.
template <int n_rows, int n_vectors>
void subtract_tile(Cholesky& u, std::int64_t from, std::int64_t to, std::int64_t begin, std::int64_t column) {
    Vector<double> sums[n_rows][n_vectors];
    for (auto& row : sums)
        for (auto& sum : row) sum = fill(0.0);
    for (std::int64_t k = from; k < to; ++k) {
        const double *const pivot = u.row(k) + column, *const factors = u.row(k) + begin;
        Vector<double> values[n_vectors];
        for (int v = 0; v < n_vectors; ++v) values[v] = load(pivot + v * lanes<double>);
        for (int r = 0; r < n_rows; ++r) {
            const Vector<double> factor = fill(factors[r]);
            for (int v = 0; v < n_vectors; ++v) sums[r][v] = sums[r][v] + factor * values[v];
        }
    }
    for (int r = 0; r < n_rows; ++r)
        for (int v = 0; v < n_vectors; ++v) {
            double* const at = u.row(begin + r) + column + v * lanes<double>;
            store(at, load(at) - sums[r][v]);
        }
}

template <int n_rows>
void subtract_strip(Cholesky& u, std::int64_t from, std::int64_t to, std::int64_t begin) {
    constexpr std::int64_t wide = registers.vectors * lanes<double>;
    const std::int64_t end = whole_blocks(u.n);
    std::int64_t column = begin / lanes<double> * lanes<double>;
    for (; column + wide <= end; column += wide) subtract_tile<n_rows, registers.vectors>(u, from, to, begin, column);
    for (; column < end; column += lanes<double>) subtract_tile<n_rows, 1>(u, from, to, begin, column);
}

// Rows [begin, end) lose what the pivots [from, to), which are done, take from them.
inline void subtract_pivots(Cholesky& u, std::int64_t from, std::int64_t to, std::int64_t begin, std::int64_t end) {
    if (from == to) return;
    for (; begin + registers.queries <= end; begin += registers.queries)
        subtract_strip<registers.queries>(u, from, to, begin);
    for (; begin < end; ++begin) subtract_strip<1>(u, from, to, begin);
}

// Makes pivots of the rows [first, last), from which all earlier ones have been taken.
inline bool factorise_rows(Cholesky& u, std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k) {
        double* pivot = u.row(k);
        for (std::int64_t above = first; above < k; ++above) {
            const double* from = u.row(above);
            const double factor = from[k];
            for (std::int64_t j = k; j < u.n; ++j) pivot[j] -= factor * from[j];
        }
        if (!(pivot[k] > 0.0)) return false;
        const double scale = 1.0 / std::sqrt(pivot[k]);
        for (std::int64_t j = k; j < u.n; ++j) pivot[j] *= scale;
    }
    return true;
}

// Factorises the matrix in place; false where it is not positive definite.
inline bool factorise(Cholesky& u) {
    for (std::int64_t first = 0; first < u.n; first += panel) {
        const std::int64_t last = first + panel < u.n ? first + panel : u.n;
        for (std::int64_t k = first; k < last; k += pivots) {
            const std::int64_t next = k + pivots < last ? k + pivots : last;
            subtract_pivots(u, first, k, k, next);
            if (!factorise_rows(u, k, next)) return false;
        }
        subtract_pivots(u, first, last, last, u.n);
    }
    return true;
}

// Solves U'x = b in place for a b that is zero before `from`.
inline void solve_transposed(const Cholesky& u, std::int64_t from, double* b) {
    const std::int64_t s = u.stride, end = whole_blocks(u.n);
    for (std::int64_t first = from / pivots * pivots; first < u.n; first += pivots) {
        const std::int64_t last = first + pivots < u.n ? first + pivots : u.n;
        const double* p = u.row(first);
        for (std::int64_t k = first; k < last; ++k) {
            double value = b[k];
            for (std::int64_t q = first; q < k; ++q) value -= u.row(q)[k] * b[q];
            b[k] = value / u.row(k)[k];
        }
        if (last == u.n) break;
        const double* f = b + first;
        for (std::int64_t j = last; j < end; ++j)
            b[j] -= ((f[0] * p[j] + f[1] * p[s + j]) + (f[2] * p[2 * s + j] + f[3] * p[3 * s + j])) +
                    ((f[4] * p[4 * s + j] + f[5] * p[5 * s + j]) + (f[6] * p[6 * s + j] + f[7] * p[7 * s + j]));
    }
}

// sums[k] = <row k, b> over columns [begin, end) for one block of rows.
inline void block_sums(const double* rows, std::int64_t stride, const double* b, std::int64_t begin, std::int64_t end,
                       double* sums) {
    Vector<double> lanewise[pivots];
    for (auto& one : lanewise) one = fill(0.0);
    for (std::int64_t j = begin; j < end; j += lanes<double>) {
        const Vector<double> x = load(b + j);
        for (std::int64_t k = 0; k < pivots; ++k) lanewise[k] = lanewise[k] + load(rows + k * stride + j) * x;
    }
    for (std::int64_t k = 0; k < pivots; ++k) {
        sums[k] = 0.0;
        for (int lane = 0; lane < lanes<double>; ++lane) sums[k] += lanewise[k][lane];
    }
}

// Solves Ux = b in place.
inline void solve_upper(const Cholesky& u, double* b) {
    const std::int64_t end = whole_blocks(u.n);
    for (std::int64_t first = end - pivots; first >= 0; first -= pivots) {
        const std::int64_t last = first + pivots < u.n ? first + pivots : u.n;
        double sums[pivots] = {0.0};
        if (last < u.n) block_sums(u.row(first), u.stride, b, last, end, sums);
        for (std::int64_t k = last - 1; k >= first; --k) {
            double value = b[k] - sums[k - first];
            for (std::int64_t q = k + 1; q < last; ++q) value -= u.row(k)[q] * b[q];
            b[k] = value / u.row(k)[k];
        }
    }
}

// Solves Ax = b in place for a b that is zero before `from`.
inline void solve_factorised(const Cholesky& u, std::int64_t from, double* b) {
    solve_transposed(u, from, b);
    solve_upper(u, b);
}

}  // namespace
}  // namespace mercer
