// A Newton step on all variables of a working set that lie between their bounds. Included by hot_loops.cpp only.
#pragma once

#include <cmath>

#include "hot_loops.hpp"
#include "pair_selection.hpp"

namespace mercer {
namespace {  // internal linkage: each instruction set must keep its own copy

constexpr std::int64_t pivots = 8;

// Upper Cholesky factor in place, row by row; false where the matrix is not positive definite. Rows below are
// brought up to date from several pivots at a time, so that they are read and written that much less often.
bool factorise(double* a, std::int64_t n) {
    for (std::int64_t first = 0; first < n; first += pivots) {
        const std::int64_t last = first + pivots < n ? first + pivots : n;
        for (std::int64_t k = first; k < last; ++k) {
            double* pivot = a + k * n;
            for (std::int64_t above = first; above < k; ++above) {
                const double* from = a + above * n;
                const double factor = from[k];
                for (std::int64_t j = k; j < n; ++j) pivot[j] -= factor * from[j];
            }
            if (!(pivot[k] > 0.0)) return false;
            const double scale = 1.0 / std::sqrt(pivot[k]);
            for (std::int64_t j = k; j < n; ++j) pivot[j] *= scale;
        }
        if (last - first < pivots) break;
        const double* p = a + first * n;
        for (std::int64_t i = last; i < n; ++i) {
            double f[pivots];
            for (std::int64_t k = 0; k < pivots; ++k) f[k] = p[k * n + i];
            double* row = a + i * n;
            for (std::int64_t j = i; j < n; ++j)
                row[j] -= ((f[0] * p[j] + f[1] * p[n + j]) + (f[2] * p[2 * n + j] + f[3] * p[3 * n + j])) +
                          ((f[4] * p[4 * n + j] + f[5] * p[5 * n + j]) + (f[6] * p[6 * n + j] + f[7] * p[7 * n + j]));
        }
    }
    return true;
}

struct Two {
    double first, second;
};

// The products of a row with two vectors, in running sums, so that the compiler may use vectors.
Two dots(const double* row, const double* x, const double* y, std::int64_t n) {
    double sums[8] = {0.0}, others[8] = {0.0};
    std::int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (int lane = 0; lane < 8; ++lane) {
            sums[lane] += row[j + lane] * x[j + lane];
            others[lane] += row[j + lane] * y[j + lane];
        }
    Two sum{0.0, 0.0};
    for (; j < n; ++j) {
        sum.first += row[j] * x[j];
        sum.second += row[j] * y[j];
    }
    for (int lane = 0; lane < 8; ++lane) {
        sum.first += sums[lane];
        sum.second += others[lane];
    }
    return sum;
}

// Solves U'U x = b for two right-hand sides in place; the rows of U are `stride` apart.
void solve_factorised(const double* a, std::int64_t stride, std::int64_t n, double* __restrict b, double* __restrict c) {
    for (std::int64_t k = 0; k < n; ++k) {
        const double* row = a + k * stride;
        const double first = b[k] /= row[k], second = c[k] /= row[k];
        for (std::int64_t j = k + 1; j < n; ++j) {
            b[j] -= row[j] * first;
            c[j] -= row[j] * second;
        }
    }
    for (std::int64_t k = n - 1; k >= 0; --k) {
        const double* row = a + k * stride;
        const Two known = dots(row + k + 1, b + k + 1, c + k + 1, n - k - 1);
        b[k] = (b[k] - known.first) / row[k];
        c[k] = (c[k] - known.second) / row[k];
    }
}

// Takes one variable out of an upper factor of n: its column goes, and rotations of neighbouring rows clear
// what then stands below the diagonal.
void remove_variable(double* a, std::int64_t stride, std::int64_t n, std::int64_t out) {
    for (std::int64_t i = 0; i < n; ++i) {
        double* row = a + i * stride;
        for (std::int64_t j = out; j + 1 < n; ++j) row[j] = row[j + 1];
    }
    for (std::int64_t k = out; k + 1 < n; ++k) {
        double *upper = a + k * stride, *lower = upper + stride;
        const double length = std::sqrt(upper[k] * upper[k] + lower[k] * lower[k]);
        const double c = upper[k] / length, s = lower[k] / length;
        for (std::int64_t j = k; j + 1 < n; ++j) {
            const double above = upper[j], below = lower[j];
            upper[j] = c * above + s * below;
            lower[j] = c * below - s * above;
        }
    }
}

struct NewtonSteps {
    double gain = 0.0;       // by how much the objective went down
    std::int64_t count = 0;  // steps taken, each but the last up to a bound
};

// The variables that Newton steps move, and what is known about them.
struct FreeSet {
    std::int64_t n, stride;  // how many are still free; the distance of two rows of the factor
    std::int64_t* where;     // their places in the working set
    double *factor, *direction, *ones, *gradient;
};

// The step that minimises over the free variables with their sum kept: with A d = -g - shift.
double newton_direction(FreeSet& f) {
    double sum_direction = 0.0, sum_ones = 0.0, excess = 0.0;
    for (std::int64_t a = 0; a < f.n; ++a) {
        f.direction[a] = -f.gradient[a];
        f.ones[a] = 1.0;
    }
    solve_factorised(f.factor, f.stride, f.n, f.direction, f.ones);
    for (std::int64_t a = 0; a < f.n; ++a) {
        sum_direction += f.direction[a];
        sum_ones += f.ones[a];
    }
    const double shift = sum_direction / sum_ones;
    for (std::int64_t a = 0; a < f.n; ++a) {
        f.direction[a] -= shift * f.ones[a];
        excess += f.direction[a];
    }
    for (std::int64_t a = 0; a < f.n; ++a) f.direction[a] -= excess / double(f.n);  // what rounding left over
    return shift;
}

// Minimises over all variables strictly between their bounds at once. A variable that meets a bound stays there,
// and the others go on, at most `most` times. Pairs of variables make little headway where many depend on each
// other; there this replaces thousands of their steps.
template <class T>
NewtonSteps newton_steps(InnerProblem<T>& w, std::int64_t most) {
    const double jitter = sizeof(T) == 4 ? 1e-6 : 1e-12;
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < w.size; ++i) {
        if (w.up_penalty[i] != T(0) || w.low_penalty[i] != T(0)) continue;
        if (n == free_limit) return {};
        w.free[n++] = i;
    }
    if (n < 2) return {};
    double* vectors = w.workspace + n * n;
    FreeSet f{n, n, w.free, w.workspace, vectors, vectors + n, vectors + 2 * n};
    double *change = vectors + 3 * n, *start = vectors + 4 * n;
    for (std::int64_t a = 0; a < n; ++a) {
        const T* row = w.kernel + w.free[a] * w.stride;
        for (std::int64_t b = a; b < n; ++b) f.factor[a * n + b] = double(row[w.free[b]]);
        for (std::int64_t b = 0; b < a; ++b) f.factor[a * n + b] = 0.0;
        f.factor[a * n + a] *= 1.0 + jitter;
        f.gradient[a] = double(w.gradient[w.free[a]]);
        start[a] = w.beta[w.free[a]];
    }
    if (!factorise(f.factor, n)) return {};
    NewtonSteps result;
    while (f.n >= 2 && result.count < most) {
        const double shift = newton_direction(f);
        double slope = 0.0, room = 1.0;
        std::int64_t nearest = -1;
        for (std::int64_t a = 0; a < f.n; ++a) {
            slope += f.direction[a] * f.gradient[a];
            const std::int64_t i = f.where[a];
            const double space = f.direction[a] > 0.0 ? w.upper[i] - w.beta[i] : w.lower[i] - w.beta[i];
            if (f.direction[a] != 0.0 && space / f.direction[a] < room) {
                room = space / f.direction[a];
                nearest = a;
            }
        }
        if (!(slope < 0.0)) break;
        ++result.count;
        result.gain -= slope * room * (1.0 - 0.5 * room);
        for (std::int64_t a = 0; a < f.n; ++a) {
            double& beta = w.beta[f.where[a]];
            beta += room * f.direction[a];
            f.gradient[a] -= room * (f.gradient[a] + shift);
        }
        if (nearest < 0) break;
        const std::int64_t i = f.where[nearest];
        w.beta[i] = f.direction[nearest] > 0.0 ? w.upper[i] : w.lower[i];
        remove_variable(f.factor, f.stride, f.n, nearest);
        // The order of those that stay is that of the factor; the one that left goes behind them.
        const double its_gradient = f.gradient[nearest], its_start = start[nearest];
        for (std::int64_t a = nearest; a + 1 < f.n; ++a) {
            f.where[a] = f.where[a + 1];
            f.gradient[a] = f.gradient[a + 1];
            start[a] = start[a + 1];
        }
        --f.n;
        f.where[f.n] = i;
        f.gradient[f.n] = its_gradient;
        start[f.n] = its_start;
    }
    if (result.count == 0) return {};
    for (std::int64_t a = 0; a < n; ++a) {
        const std::int64_t i = w.free[a];
        if (!(w.beta[i] < w.upper[i])) w.beta[i] = w.upper[i];
        if (!(w.beta[i] > w.lower[i])) w.beta[i] = w.lower[i];
        set_penalties(w, i);
        change[a] = w.beta[i] - start[a];
        const T moved = T(change[a]);
        const T* row = w.kernel + i * w.stride;
        for (std::int64_t t = 0; t < w.stride; ++t) w.gradient[t] += moved * row[t];
    }
    return result;
}

}  // namespace
}  // namespace mercer
