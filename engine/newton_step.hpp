// A Newton step on all variables of a working set that lie between their bounds. Included by hot_loops.cpp only.
#pragma once

#include <cmath>

#include "hot_loops.hpp"
#include "pair_selection.hpp"

namespace mercer {
namespace {  // internal linkage: each instruction set must keep its own copy

// Upper Cholesky factor in place, row by row; false where the matrix is not positive definite.
bool factorise(double* a, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) {
        double* pivot = a + k * n;
        if (!(pivot[k] > 0.0)) return false;
        const double scale = 1.0 / std::sqrt(pivot[k]);
        for (std::int64_t j = k; j < n; ++j) pivot[j] *= scale;
        for (std::int64_t i = k + 1; i < n; ++i) {
            const double factor = pivot[i];
            double* row = a + i * n;
            for (std::int64_t j = i; j < n; ++j) row[j] -= factor * pivot[j];
        }
    }
    return true;
}

// Solves U'U x = b in place.
void solve_factorised(const double* a, std::int64_t n, double* b) {
    for (std::int64_t k = 0; k < n; ++k) {
        b[k] /= a[k * n + k];
        for (std::int64_t j = k + 1; j < n; ++j) b[j] -= a[k * n + j] * b[k];
    }
    for (std::int64_t k = n - 1; k >= 0; --k) {
        double sum = b[k];
        for (std::int64_t j = k + 1; j < n; ++j) sum -= a[k * n + j] * b[j];
        b[k] = sum / a[k * n + k];
    }
}

struct NewtonStep {
    double gain = 0.0;     // by how much the objective went down
    bool blocked = false;  // ended at a bound, so that another step on fewer variables may follow
};

// Minimises over the variables strictly between their bounds at once, as far as the bounds allow. Pairs of
// variables make little headway where many depend on each other; there this replaces thousands of their steps.
template <class T>
NewtonStep newton_step(InnerProblem<T>& w) {
    const double jitter = sizeof(T) == 4 ? 1e-6 : 1e-12;
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < w.size; ++i) {
        if (w.up_penalty[i] != T(0) || w.low_penalty[i] != T(0)) continue;
        if (n == free_limit) return {};
        w.free[n++] = i;
    }
    if (n < 2) return {};
    double* matrix = w.workspace;
    double *direction = matrix + n * n, *ones = direction + n, *image = ones + n;
    for (std::int64_t a = 0; a < n; ++a) {
        const T* row = w.kernel + w.free[a] * w.stride;
        for (std::int64_t b = a; b < n; ++b) matrix[a * n + b] = double(row[w.free[b]]);
        matrix[a * n + a] *= 1.0 + jitter;
        direction[a] = -double(w.gradient[w.free[a]]);
        ones[a] = 1.0;
        image[a] = 0.0;
    }
    if (!factorise(matrix, n)) return {};
    solve_factorised(matrix, n, direction);
    solve_factorised(matrix, n, ones);
    double sum_direction = 0.0, sum_ones = 0.0;
    for (std::int64_t a = 0; a < n; ++a) {
        sum_direction += direction[a];
        sum_ones += ones[a];
    }
    if (!(sum_ones > 0.0)) return {};
    double excess = 0.0;
    for (std::int64_t a = 0; a < n; ++a) {
        direction[a] -= sum_direction / sum_ones * ones[a];  // the sum of all variables stays as it is,
        excess += direction[a];
    }
    double slope = 0.0, curvature = 0.0, room = 1e300;
    std::int64_t nearest = -1;
    for (std::int64_t a = 0; a < n; ++a) {
        direction[a] -= excess / double(n);  // also where rounding has left something over
        const std::int64_t i = w.free[a];
        slope += direction[a] * double(w.gradient[i]);
        const double space = direction[a] > 0.0 ? w.upper[i] - w.beta[i] : w.lower[i] - w.beta[i];
        if (direction[a] != 0.0 && space / direction[a] < room) {
            room = space / direction[a];
            nearest = a;
        }
    }
    for (std::int64_t a = 0; a < n; ++a) {
        const T* row = w.kernel + w.free[a] * w.stride;
        for (std::int64_t b = 0; b < n; ++b) image[b] += direction[a] * double(row[w.free[b]]);
    }
    for (std::int64_t a = 0; a < n; ++a) curvature += direction[a] * image[a];
    if (!(slope < 0.0) || !(curvature > 0.0)) return {};
    const bool blocked = -slope / curvature >= room;
    const double length = blocked ? room : -slope / curvature;
    for (std::int64_t a = 0; a < n; ++a) {
        const std::int64_t i = w.free[a];
        w.beta[i] += length * direction[a];
        if (blocked && a == nearest) w.beta[i] = direction[a] > 0.0 ? w.upper[i] : w.lower[i];
        if (!(w.beta[i] < w.upper[i])) w.beta[i] = w.upper[i];
        if (!(w.beta[i] > w.lower[i])) w.beta[i] = w.lower[i];
        set_penalties(w, i);
        const T change = T(length * direction[a]);
        const T* row = w.kernel + i * w.stride;
        for (std::int64_t t = 0; t < w.stride; ++t) w.gradient[t] += change * row[t];
    }
    return {-length * slope - 0.5 * length * length * curvature, blocked};
}

}  // namespace
}  // namespace mercer
