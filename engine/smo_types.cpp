#include "smo_types.hpp"

#include <algorithm>

namespace mercer {

double objective_of(const SmoProblem& problem, const Point& at) {
    double sum = 0.0;
    for (Index i = 0; i < problem.n; ++i) sum += (at.gradient[i] + problem.p[i]) * at.beta[i];
    return 0.5 * sum;
}

Violation violation_of(const SmoProblem& problem, const Point& at) {
    Violation v;
    for (Index i = 0; i < problem.n; ++i) {
        if (may_rise(problem, at, i)) v.highest = std::max(v.highest, -at.gradient[i]);
        if (may_fall(problem, at, i)) v.lowest = std::min(v.lowest, -at.gradient[i]);
    }
    return v;
}

bool is_settled(const SmoProblem& problem, const Point& at, const Violation& now, Index i) {
    const bool rise = may_rise(problem, at, i), fall = may_fall(problem, at, i);
    if (rise && fall) return false;
    return (!rise || -at.gradient[i] < now.lowest) && (!fall || -at.gradient[i] > now.highest);
}

bool Session::must_stop(double gap) {
    const auto now = Clock::now();
    if (options.max_iter >= 0 && result.n_iter >= options.max_iter) result.status = SmoStatus::max_iter;
    else if (options.time_limit >= 0.0 && std::chrono::duration<double>(now - start_).count() >= options.time_limit)
        result.status = SmoStatus::time_limit;
    else if (options.progress && now - reported_ > std::chrono::milliseconds(50)) {
        reported_ = now;
        if (options.progress(result.n_iter, gap)) result.status = SmoStatus::interrupted;
    }
    return result.status != SmoStatus::converged;
}

}  // namespace mercer
