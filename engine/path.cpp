#include "path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "smo.hpp"
#include "verdict.hpp"

namespace mercer {

namespace {

constexpr Index few_free = 2;  // so many support vectors for each one between its bounds make a solution mostly bounded

class Path {
public:
    Path(const PathProblem& given, const PathPoint& start) : given_(given), at_(start) {
        for (auto* array : {&lower_, &upper_, &ridge_, &gradient_}) array->resize(given.n);
        const auto is_endless = [](double bound) { return std::isinf(bound); };
        squared_ = std::any_of(given.upper, given.upper + given.n, is_endless) ||
                   std::any_of(given.lower, given.lower + given.n, is_endless);
    }

    template <class T>
    SmoResult solve(const RowSource<T>& source, double price, const SmoOptions& options, Pool& pool) {
        for (Index i = 0; i < given_.n; ++i) {
            lower_[i] = price * given_.lower[i];
            upper_[i] = price * given_.upper[i];
            ridge_[i] = given_.ridge[i] / price;
        }
        const double stretch = stretched(price);
        for (Index i = 0; i < given_.n; ++i) {
            at_.beta[i] = std::min(std::max(stretch * at_.beta[i], lower_[i]), upper_[i]);
            gradient_[i] = stretch * at_.image[i] + given_.p[i] + ridge_[i] * at_.beta[i];
        }
        const SmoProblem problem{given_.p, lower_.data(), upper_.data(), ridge_.data(), given_.diagonal, given_.n};
        const SmoResult result = solve_smo(source, problem, options, {at_.beta, gradient_.data()}, pool);
        for (Index i = 0; i < given_.n; ++i) at_.image[i] = gradient_[i] - given_.p[i] - ridge_[i] * at_.beta[i];
        at_.price = price;
        verdict_ = verdict_of(problem, at_.beta, gradient_.data());
        mostly_bounded_ = verdict_.n_used > few_free * verdict_.n_free;
        return result;
    }

    const Verdict& verdict() const { return verdict_; }

private:
    // The multiple of the last solution to start from. Where most support vectors are at their bounds, those go on
    // to the new ones, and few will come back. Elsewhere it is the multiple with the least objective inside the bounds.
    double stretched(double price) const {
        const double most = squared_ ? std::numeric_limits<double>::infinity() : price / at_.price;
        if (mostly_bounded_ && !squared_) return most;
        double curvature = std::inner_product(at_.beta, at_.beta + given_.n, at_.image, 0.0);
        for (Index i = 0; squared_ && i < given_.n; ++i) curvature += at_.beta[i] * at_.beta[i] * ridge_[i];
        if (!(curvature > 0.0)) return 1.0;
        return std::min(std::max(-std::inner_product(given_.p, given_.p + given_.n, at_.beta, 0.0) / curvature, 0.0),
                        most);
    }

    const PathProblem& given_;
    PathPoint at_;
    Array<double> lower_, upper_, ridge_, gradient_;
    bool squared_ = false, mostly_bounded_ = false;
    Verdict verdict_;
};

template <class T>
Index solve_all(const RowSource<T>& source, const PathProblem& problem, const double* prices, Index n_prices,
                const SmoOptions& options, const PathPoint& at, const PathReport& report, Pool& pool) {
    Path path(problem, at);
    for (Index line = 0; line < n_prices; ++line) {
        const SmoResult result = path.solve(source, prices[line], options, pool);
        std::copy_n(at.beta, problem.n, report.betas + line * problem.n);
        std::copy_n(at.image, problem.n, report.images + line * problem.n);
        report.n_iter[line] = result.n_iter;
        const SmoStatus status = final_status(result.status, path.verdict().gap <= options.tol);
        report.status[line] = static_cast<std::uint8_t>(status);
        report.offsets[line] = path.verdict().offset;
        report.gaps[line] = path.verdict().gap;
        if (result.status == SmoStatus::interrupted) return line;
    }
    return n_prices;
}

}  // namespace

Index solve_path(const RowSupply& supply, const Index* row, const PathProblem& problem, const double* prices,
                 Index n_prices, const SmoOptions& given, PathPoint at, const PathReport& report) {
    SmoOptions options = given;
    options.patience = little_patience;  // whoever walks a path has each price solved on its own where that fails
    Pool pool(options.n_threads);
    Array<Index> selection;
    if (row) selection.assign(row, row + problem.n);
    const Array<Index>* const chosen = row ? &selection : nullptr;
    if (const auto rows = supply.single(chosen, pool))
        return solve_all(*rows, problem, prices, n_prices, options, at, report, pool);
    return solve_all(*supply.wide(chosen, pool), problem, prices, n_prices, options, at, report, pool);
}

}  // namespace mercer
