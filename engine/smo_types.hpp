// What goes into and comes out of the SMO solver, and what its parts share while it runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

#include "row_source.hpp"

namespace mercer {

// Relative error of a kernel value of single precision; those of a sum add up like independent ones.
constexpr double single_rounding = 6e-8;

struct SmoProblem {
    const double* p;
    const double* lower;
    const double* upper;
    const double* ridge;
    const double* diagonal;  // of K, without the ridge
    Index n;
    const Index* row = nullptr;  // the kernel row of each variable where several share one; else variable i has row i

    Index row_of(Index i) const { return row ? row[i] : i; }
};

// Patience of a solve that is not the last resort, or that comes after others which have failed.
constexpr Index little_patience = 200;

struct SmoOptions {
    double tol = 1e-3;
    std::int64_t max_iter = -1;  // two-variable steps; negative: no limit
    double time_limit = -1.0;    // seconds; negative: no limit
    Index block = 2048;          // largest working set
    Index patience = 2'000;      // steps for each variable without progress; hard problems take a few hundred in all
    bool shrinking = true;
    std::int64_t cache_bytes = std::int64_t(200) << 20;
    int n_threads = 1;  // of the pool that goes with them
    double refined_tol =
        std::numeric_limits<double>::infinity();  // a smaller gap to try for, at little cost, when all is done
    double unbounded_below =
        -std::numeric_limits<double>::infinity();                   // an objective that proves the problem unbounded
    std::function<bool(std::int64_t n_iter, double gap)> progress;  // true: stop
    std::function<void()> check_signals;                            // what progress does besides
};

enum class SmoStatus : int { converged, max_iter, time_limit, interrupted, unbounded, stalled, shrink };

struct SmoResult {
    SmoStatus status = SmoStatus::converged;
    std::int64_t n_iter = 0;
    double gap = 0.0;
};

// A point of the problem with its gradient; both are changed in place.
struct Point {
    double* beta;
    double* gradient;
};

inline bool may_rise(const SmoProblem& problem, const Point& at, Index i) { return at.beta[i] < problem.upper[i]; }
inline bool may_fall(const SmoProblem& problem, const Point& at, Index i) { return at.beta[i] > problem.lower[i]; }

// The kernel rows of some variables, each named once.
struct DistinctRows {
    Array<Index> rows;
    Array<Index> first;  // the first variable that has each
    Array<Index> place;  // of each variable's row among them

    DistinctRows() = default;
    DistinctRows(const SmoProblem& problem, const Array<Index>& variables, Index n_rows);
};

// At an optimum no variable that may rise has a larger -gradient than one that may fall.
struct Violation {
    double highest = -std::numeric_limits<double>::infinity();
    double lowest = std::numeric_limits<double>::infinity();

    void include(const Violation& other) {
        highest = std::max(highest, other.highest);
        lowest = std::min(lowest, other.lowest);
    }
    double gap() const { return highest > lowest ? highest - lowest : 0.0; }
    double middle() const { return std::isfinite(highest) && std::isfinite(lowest) ? 0.5 * (highest + lowest) : 0.0; }
};

// What a round needs to know of all variables.
struct Survey {
    Violation violation;
    double squares = 0.0;  // of beta times the diagonal of K
    Index n_free = 0;      // variables strictly between their bounds
};

Survey survey_of(const SmoProblem& problem, const Point& at, Pool& pool);

double objective_of(const SmoProblem& problem, const Point& at);

Violation violation_of(const SmoProblem& problem, const Point& at);

// What the pieces of a range give, side by side where there are threads enough; in their order, so that what is
// made of them does not depend on the number of threads. A look is short: for one helper more, which others may
// keep from its work at that moment, it does not pay.
template <class Result, class Look>
Array<Result> in_pieces(Index n, Pool& pool, Look look) {
    constexpr Index piece = 2048;
    constexpr int fewest_helpers = 3;
    Array<Result> results((n + piece - 1) / piece);
    const Index count = results.size();
    const auto task = [&](Index k) { results[k] = look(k * piece, std::min(n, (k + 1) * piece)); };
    if (pool.helpers() >= fewest_helpers) pool.run(count, task);
    else
        for (Index k = 0; k < count; ++k) task(k);
    return results;
}

// A variable at a bound that no violating pair can contain as things stand.
inline bool is_settled(const SmoProblem& problem, const Point& at, const Violation& now, Index i) {
    const bool rise = may_rise(problem, at, i), fall = may_fall(problem, at, i);
    if (rise && fall) return false;
    return (!rise || -at.gradient[i] < now.lowest) && (!fall || -at.gradient[i] > now.highest);
}

// Tells when the gap does not get smaller any more. Steps go on to promise a lower objective where kernel times
// bound is beyond the digits of a number: the bounds are then so far away that no step comes near them.
class Patience {
public:
    Patience(const SmoOptions& options, Index n) : most_(options.patience * std::max(n, fewest)) {}

    // Whether so many steps have been taken since the least gap so far was halved.
    bool is_lost(double gap, std::int64_t n_iter) {
        if (gap < 0.5 * least_) {
            least_ = gap;
            since_ = n_iter;
        }
        return n_iter - since_ > most_;
    }

private:
    static constexpr Index fewest = 100;
    const Index most_;
    double least_ = std::numeric_limits<double>::infinity();
    std::int64_t since_ = 0;
};

// Limits, counters and threads of one solve, whatever variables it works on at the moment.
class Session {
public:
    Session(const SmoOptions& given, Pool& helpers)
        : options(given), pool(helpers), start_(Clock::now()), reported_(start_) {}

    // The solution is near, so that Newton steps pay at once.
    void urge_newton() {
        newton.due = newton.steps;
        newton.last = newton.steps - many_steps;
    }

    // Looks at the clock, the counters and the caller; sets the status when it is time to stop.
    bool must_stop(double gap);

    const SmoOptions& options;
    SmoResult result;
    Pool& pool;
    double objective = 0.0;  // of the whole problem, kept up to date by the steps
    NewtonSchedule newton;
    double rounding = 0.0;  // gap below which single-precision kernel values are noise

private:
    static constexpr std::int64_t many_steps = 100'000;
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_, reported_;
};

}  // namespace mercer
