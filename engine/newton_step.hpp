// A Newton step on all variables of a working set that lie between their bounds. Included by hot_loops.cpp only.
#pragma once

#include "cholesky.hpp"
#include "hot_loops.hpp"
#include "pair_selection.hpp"

namespace mercer {
namespace {  // internal linkage: each instruction set must keep its own copy

struct NewtonSteps {
    double gain = 0.0;       // by how much the objective went down
    std::int64_t count = 0;  // steps taken, each but the last up to a bound
};

// The variables that Newton steps move, and what is known about them. The factor is that of their matrix A and
// stays as it is: a variable that has met its bound is held there by a correction, a vector p with
// A p = e + slant on the variables still free, where e is 1 at the one to hold, with the sum 0 and 0 at all
// that were held before.
struct FreeSet {
    Cholesky factor;
    std::int64_t n_held = 0;
    std::int64_t *where, *held;  // places in the working set; which of the n are held
    double *ones, *direction, *gradient, *start, *slants, *corrections;
    double shift = 0.0;  // A direction = -gradient - shift

    FreeSet(double* workspace, std::int64_t* places)
        : factor{workspace, 0, 0}, where(places), held(places + free_limit) {
        double** const vectors[] = {&ones, &direction, &gradient, &start, &slants, &corrections};
        double* next = workspace + free_limit * longest_row;
        for (double** vector : vectors) {
            *vector = next;
            next += longest_row;
        }
    }
    std::int64_t n() const { return factor.n; }
    double* correction(std::int64_t q) { return corrections + q * longest_row; }
};

// Collects the variables strictly between their bounds and factorises their matrix; false where that cannot be.
template <class T>
bool collect(const InnerProblem<T>& w, FreeSet& f) {
    const double jitter = sizeof(T) == 4 ? 1e-6 : 1e-12;
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < w.size; ++i) {
        if (w.up_penalty[i] != T(0) || w.low_penalty[i] != T(0)) continue;
        if (n == free_limit) return false;
        f.where[n++] = i;
    }
    f.factor.n = n;
    f.factor.stride = row_length(n);
    for (std::int64_t a = 0; a < n; ++a) {
        const T* from = w.kernel + f.where[a] * w.stride;
        double* row = f.factor.row(a);
        for (std::int64_t b = a; b < n; ++b) row[b] = double(from[f.where[b]]);
        for (std::int64_t b = n; b < f.factor.stride; ++b) row[b] = 0.0;
        row[a] *= 1.0 + jitter;
        f.gradient[a] = double(w.gradient[f.where[a]]);
        f.start[a] = w.beta[f.where[a]];
    }
    return n >= 2 && factorise(f.factor);
}

double sum(const double* x, std::int64_t n) {
    double total = 0.0;
    for (std::int64_t a = 0; a < n; ++a) total += x[a];
    return total;
}

// x -= factor * y
void subtract(double* __restrict x, double factor, const double* __restrict y, std::int64_t n) {
    for (std::int64_t a = 0; a < n; ++a) x[a] -= factor * y[a];
}

// The step that minimises over the free variables with their sum kept: with A d = -g - shift.
void first_direction(FreeSet& f) {
    for (std::int64_t a = 0; a < whole_blocks(f.n()); ++a) {
        f.direction[a] = a < f.n() ? -f.gradient[a] : 0.0;
        f.ones[a] = a < f.n() ? 1.0 : 0.0;
    }
    solve_factorised(f.factor, 0, f.direction);
    solve_factorised(f.factor, 0, f.ones);
    f.shift = sum(f.direction, f.n()) / sum(f.ones, f.n());
    subtract(f.direction, f.shift, f.ones, f.n());
}

// Turns what is left of the direction so that one more variable stays where it is; false where that cannot be.
bool hold(FreeSet& f, std::int64_t variable, double left) {
    double* p = f.correction(f.n_held);
    for (std::int64_t a = 0; a < whole_blocks(f.n()); ++a) p[a] = a == variable ? 1.0 : 0.0;
    solve_factorised(f.factor, variable, p);
    double slant = -sum(p, f.n()) / sum(f.ones, f.n());
    subtract(p, -slant, f.ones, f.n());
    for (std::int64_t q = 0; q < f.n_held; ++q) {
        const double share = p[f.held[q]] / f.correction(q)[f.held[q]];
        subtract(p, share, f.correction(q), f.n());
        slant -= share * f.slants[q];
    }
    if (!(p[variable] > 0.0)) return false;
    f.slants[f.n_held] = slant;
    f.held[f.n_held++] = variable;
    const double share = left * f.direction[variable] / p[variable];
    for (std::int64_t a = 0; a < f.n(); ++a) f.direction[a] = left * f.direction[a] - share * p[a];
    f.shift += share * slant;
    return true;
}

// Rounding must neither move variables that are held nor change the sum of the others.
void balance(FreeSet& f) {
    for (std::int64_t q = 0; q < f.n_held; ++q) f.direction[f.held[q]] = 0.0;
    const double excess = sum(f.direction, f.n()) / double(f.n() - f.n_held);
    for (std::int64_t a = 0; a < f.n(); ++a) f.direction[a] -= excess;
    for (std::int64_t q = 0; q < f.n_held; ++q) f.direction[f.held[q]] = 0.0;
}

// Minimises over all variables strictly between their bounds at once. A variable that meets a bound stays there,
// and the others go on, at most `most` times. Pairs of variables make little headway where many depend on each
// other; there this replaces thousands of their steps.
template <class T>
NewtonSteps newton_steps(InnerProblem<T>& w, std::int64_t most) {
    FreeSet f(w.workspace, w.free);
    if (!collect(w, f)) return {};
    first_direction(f);
    NewtonSteps result;
    for (;;) {
        balance(f);
        double slope = 0.0, room = 1.0;
        std::int64_t nearest = -1;
        for (std::int64_t a = 0; a < f.n(); ++a) {
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
        for (std::int64_t a = 0; a < f.n(); ++a) {
            w.beta[f.where[a]] += room * f.direction[a];
            f.gradient[a] -= room * (f.gradient[a] + f.shift);
        }
        if (nearest < 0) break;
        const std::int64_t i = f.where[nearest];
        w.beta[i] = f.direction[nearest] > 0.0 ? w.upper[i] : w.lower[i];
        if (result.count == most || f.n_held == most_held || f.n_held + 3 > f.n() || !hold(f, nearest, 1.0 - room))
            break;
    }
    if (result.count == 0) return {};
    for (std::int64_t a = 0; a < f.n(); ++a) {
        const std::int64_t i = f.where[a];
        if (!(w.beta[i] < w.upper[i])) w.beta[i] = w.upper[i];
        if (!(w.beta[i] > w.lower[i])) w.beta[i] = w.lower[i];
        set_penalties(w, i);
        const T moved = T(w.beta[i] - f.start[a]);
        const T* row = w.kernel + i * w.stride;
        for (std::int64_t t = 0; t < w.width; ++t) w.gradient[t] += moved * row[t];
    }
    return result;
}

}  // namespace
}  // namespace mercer
