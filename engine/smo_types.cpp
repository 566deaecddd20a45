#include "smo_types.hpp"

#include <algorithm>
#include <numeric>

namespace mercer {

DistinctRows::DistinctRows(const SmoProblem& problem, const Array<Index>& variables, Index n_rows) : first(variables) {
    place.resize(variables.size());
    if (!problem.row) {
        rows = variables;
        std::iota(place.begin(), place.end(), Index(0));
        return;
    }
    first.clear();
    Array<Index> known(n_rows, -1);
    for (Index k = 0; k < variables.size(); ++k) {
        const Index row = problem.row[variables[k]];
        Index& at = known[row];
        if (at < 0) {
            at = rows.size();
            rows.push_back(row);
            first.push_back(variables[k]);
        }
        place[k] = at;
    }
}

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

Survey survey_of(const SmoProblem& problem, const Point& at, Pool& pool) {
    const auto look = [&](Index begin, Index end) {
        Survey s;
        for (Index i = begin; i < end; ++i) {
            const bool rise = may_rise(problem, at, i), fall = may_fall(problem, at, i);
            if (rise) s.violation.highest = std::max(s.violation.highest, -at.gradient[i]);
            if (fall) s.violation.lowest = std::min(s.violation.lowest, -at.gradient[i]);
            s.n_free += rise && fall;
            const double scaled = at.beta[i] * problem.diagonal[i];
            s.squares += scaled * scaled;
        }
        return s;
    };
    Survey all;
    for (const Survey& piece : in_pieces<Survey>(problem.n, pool, look)) {
        all.violation.include(piece.violation);
        all.squares += piece.squares;
        all.n_free += piece.n_free;
    }
    return all;
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
