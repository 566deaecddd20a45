#include "path.hpp"

#include <algorithm>

#include "smo.hpp"

namespace mercer {

namespace {

constexpr Index few_free = 2;  // so many support vectors for each one between its bounds make a solution mostly bounded
constexpr double infinity = std::numeric_limits<double>::infinity();

double dot(const double* a, const double* b, Index n) {
    double sum = 0.0;
    for (Index i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

class Machine {
public:
    Machine(const PathProblem& given, const PathPoint& start) : given_(given), at_(start) {
        for (auto* array : {&p_, &lower_, &upper_, &ridge_, &gradient_}) array->resize(given.n);
        for (Index i = 0; i < given.n; ++i) p_[i] = -given.sign[i];
    }

    template <class T>
    SmoResult solve(const RowSource<T>& source, double penalty, const SmoOptions& options, Pool& pool) {
        set_bounds(penalty);
        const double stretch = stretched(penalty);
        for (Index i = 0; i < given_.n; ++i) {
            at_.beta[i] = std::min(std::max(stretch * at_.beta[i], lower_[i]), upper_[i]);
            gradient_[i] = stretch * at_.image[i] + p_[i] + ridge_[i] * at_.beta[i];
        }
        const SmoProblem problem{p_.data(), lower_.data(), upper_.data(), ridge_.data(), given_.diagonal, given_.n};
        const SmoResult result = solve_smo(source, problem, options, {at_.beta, gradient_.data()}, pool);
        for (Index i = 0; i < given_.n; ++i) {
            at_.image[i] = gradient_[i] - p_[i] - ridge_[i] * at_.beta[i];
        }
        at_.penalty = penalty;
        offset_ = find_offset(problem);
        return result;
    }

    double offset() const { return offset_; }

private:
    void set_bounds(double penalty) {
        for (Index i = 0; i < given_.n; ++i) {
            const double bound = given_.squared ? infinity : penalty * given_.weight[i];
            const bool open = given_.weight[i] > 0.0;
            upper_[i] = open && given_.sign[i] > 0.0 ? bound : 0.0;
            lower_[i] = open && given_.sign[i] < 0.0 ? -bound : 0.0;
            ridge_[i] = given_.squared && open ? 1.0 / (penalty * given_.weight[i]) : 0.0;
        }
    }

    // The multiple of the last solution to start from. Where most support vectors are at their bounds, those go on
    // to the new ones, and few will come back. Elsewhere it is the multiple with the least objective inside the bounds.
    double stretched(double penalty) const {
        const double most = given_.squared ? infinity : penalty / at_.penalty;
        if (mostly_bounded_ && !given_.squared) return most;
        double curvature = dot(at_.beta, at_.image, given_.n);
        for (Index i = 0; given_.squared && i < given_.n; ++i) curvature += at_.beta[i] * at_.beta[i] * ridge_[i];
        if (!(curvature > 0.0)) return 1.0;
        return std::min(std::max(-dot(p_.data(), at_.beta, given_.n) / curvature, 0.0), most);
    }

    // The mean over the variables between their bounds; where there are none, the middle of what the conditions allow.
    double find_offset(const SmoProblem& problem) {
        const Point at{at_.beta, gradient_.data()};
        Index n_between = 0, n_used = 0;
        double sum = 0.0;
        for (Index i = 0; i < given_.n; ++i) {
            n_used += at_.beta[i] != 0.0;
            if (!may_rise(problem, at, i) || !may_fall(problem, at, i)) continue;
            ++n_between;
            sum += at.gradient[i];
        }
        mostly_bounded_ = n_used > few_free * n_between;
        if (n_between > 0) return -sum / static_cast<double>(n_between);
        const Violation ends = violation_of(problem, at);
        if (std::isfinite(ends.highest) && std::isfinite(ends.lowest)) return ends.middle();
        if (std::isfinite(ends.highest)) return ends.highest;
        return std::isfinite(ends.lowest) ? ends.lowest : 0.0;
    }

    const PathProblem& given_;
    PathPoint at_;
    Array<double> p_, lower_, upper_, ridge_, gradient_;
    bool mostly_bounded_ = false;
    double offset_ = 0.0;
};

}  // namespace

template <class T>
Index solve_path(const RowSource<T>& source, const PathProblem& problem, const Array<double>& penalties,
                 const SmoOptions& options, PathPoint at, const PathReport& report) {
    Machine machine(problem, at);
    Pool pool(options.n_threads);
    for (Index line = 0; line < penalties.size(); ++line) {
        const SmoResult result = machine.solve(source, penalties[line], options, pool);
        if (result.status == SmoStatus::interrupted) return line;
        std::copy_n(at.beta, problem.n, report.betas + line * problem.n);
        std::copy_n(at.image, problem.n, report.images + line * problem.n);
        report.offsets[line] = machine.offset();
        report.gaps[line] = result.gap;
    }
    return penalties.size();
}

template Index solve_path(const RowSource<float>&, const PathProblem&, const Array<double>&, const SmoOptions&,
                          PathPoint, const PathReport&);
template Index solve_path(const RowSource<double>&, const PathProblem&, const Array<double>&, const SmoOptions&,
                          PathPoint, const PathReport&);

}  // namespace mercer
