#include "elimination.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "active_set.hpp"
#include "smo.hpp"

namespace mercer {

namespace {

constexpr Index sorted_share = 4;   // one in so many of the features is kept in the order of the weights
constexpr Index few = 64;           // or so many at least
constexpr Index patience = 3;       // weights computed one by one, for each feature left, before all are computed again
constexpr Index block = 8;          // weights computed at a time
constexpr double aim = 1e-10;       // violation aimed at, relative to the gradient
constexpr double refresh_at = 0.4;  // share of the diagonal that must be left, so that rounding stays small beside it
constexpr double slack = 1e-9;      // relative, for rounding in the bound on weights

// Finds the features with the smallest squared weights w = X'beta.
//
// Most weights need not be known: since all of them were computed ("then"), that of feature x has changed by at
// most |x| |beta - beta then|. Those of now are computed in the order of then, until no other can be smaller.
class Weights {
public:
    Weights(const EliminationPlan& plan, Index n) : plan_(plan), n_(n), gone_(plan.n_features) {
        for (Index j = 0; j < plan.n_features; ++j)
            if (!plan.fixed[j]) left_.push_back(j);
        for (Index j : left_) {
            double square = 0.0;
            const double* x = column(j);
            hot_loops<double>().dot_rows(&x, 1, x, 1, n_, 0, n_, &square, 1);
            longest_ = std::max(longest_, std::sqrt(square));
        }
    }

    const double* column(Index j) const { return plan_.columns + j * n_; }

    // The `count` features to drop next, with their squared weights.
    void choose(const double* beta, Index count, std::int64_t* chosen, double* importances) {
        if (count == 1 && smallest(beta, *chosen, *importances)) return;
        refresh(beta, count);
        for (Index k = 0; k < count; ++k) {
            chosen[k] = sorted_[k].feature;
            importances[k] = sorted_[k].size * sorted_[k].size;
        }
        sorted_.erase(sorted_.begin(), sorted_.begin() + count);
        for (Index k = 0; k < count; ++k) gone_[chosen[k]] = 1;
        n_gone_ += count;
    }

private:
    struct Entry {
        double size;  // absolute weight then
        Index feature;
        bool operator<(const Entry& other) const {
            return size != other.size ? size < other.size : feature < other.feature;
        }
    };

    // The feature with the smallest weight, if that of then tells which it is without too much work.
    bool smallest(const double* beta, std::int64_t& chosen, double& importance) {
        if (sorted_.empty() || work_ > patience * (plan_.n_features - n_gone_)) return false;
        double sum = 0.0;
        for (Index i = 0; i < n_; ++i) {
            const double change = beta[i] - then_[i];
            sum += change * change;
        }
        const double reach = longest_ * std::sqrt(sum) * (1.0 + slack);
        Entry best{std::numeric_limits<double>::infinity(), 0};
        Index where = 0, first = 0;
        for (; first < sorted_.size() && sorted_[first].size <= best.size + reach; first += block) {
            const Index count = std::min(block, sorted_.size() - first);
            const double* rows[block];
            double values[block] = {};
            for (Index k = 0; k < count; ++k) rows[k] = column(sorted_[first + k].feature);
            hot_loops<double>().dot_rows(rows, static_cast<Index>(count), beta, 1, n_, 0, n_, values, 1);
            for (Index k = 0; k < count; ++k) {
                const Entry now{std::abs(values[k]), sorted_[first + k].feature};
                if (now < best) {
                    best = now;
                    where = first + k;
                }
            }
        }
        work_ += std::min(first, sorted_.size());
        if (first >= sorted_.size() && outside_ <= best.size + reach) return false;
        sorted_.erase(sorted_.begin() + where);
        ++n_gone_;
        gone_[best.feature] = 1;
        chosen = best.feature;
        importance = best.size * best.size;
        return true;
    }

    // All weights anew; the smallest of them, at least `count`, in their order.
    void refresh(const double* beta, Index count) {
        left_.erase(std::remove_if(left_.begin(), left_.end(), [this](Index j) { return gone_[j] != 0; }), left_.end());
        Array<const double*> rows;
        for (Index j : left_) rows.push_back(column(j));
        Array<double> values(left_.size(), 0.0);
        hot_loops<double>().dot_rows(rows.data(), rows.size(), beta, 1, n_, 0, n_, values.data(), 1);
        then_.assign(beta, beta + n_);
        sorted_.clear();
        for (Index k = 0; k < left_.size(); ++k) sorted_.push_back({std::abs(values[k]), left_[k]});
        const Index kept = std::max({count, few, left_.size() / sorted_share});
        outside_ = std::numeric_limits<double>::infinity();
        if (sorted_.size() > kept) {
            const auto middle = sorted_.begin() + kept;
            std::nth_element(sorted_.begin(), middle, sorted_.end());
            outside_ = middle->size;
            sorted_.resize(kept);
        }
        std::sort(sorted_.begin(), sorted_.end());
        work_ = 0;
    }

    const EliminationPlan& plan_;
    const Index n_;
    Array<Index> left_;  // as of the last refresh
    Array<char> gone_;
    Array<Entry> sorted_;
    Array<double> then_;
    double longest_ = 0.0, outside_ = 0.0;
    Index work_ = 0, n_gone_ = 0;
};

class Elimination {
public:
    Elimination(const EliminationPlan& plan, double* kernel, double* diagonal, const SmoProblem& problem,
                const Point& at, const SmoOptions& options, const EliminationReport& report)
        : plan_(plan),
          kernel_(kernel),
          diagonal_(diagonal),
          problem_(problem),
          at_(at),
          pool_(options.n_threads),
          session_(options, pool_),
          report_(report),
          weights_(plan, problem.n),
          active_(kernel, diagonal, problem, at),
          start_(Clock::now()) {}

    EliminationResult run() {
        bool ready = active_.restart() == ActiveSet::Outcome::solved;
        const double whole = trace();
        std::int64_t* dropped = report_.dropped;
        double* importances = report_.importances;
        for (Index r = 0; r < plan_.n_rounds; ++r) {
            if (session_.must_stop(0.0)) return {session_.result.status, r};
            const SmoStatus status = solve(ready);
            if (status != SmoStatus::converged) return {status, r};
            const Index count = plan_.counts[r];
            weights_.choose(at_.beta, count, dropped, importances);
            describe(r);
            Array<const double*> columns;
            for (Index k = 0; k < count; ++k) columns.push_back(weights_.column(dropped[k]));
            const ActiveSet::Outcome outcome = active_.forget(columns.data(), count);
            ready = outcome == ActiveSet::Outcome::solved;
            dropped += count;
            importances += count;
            if (outcome == ActiveSet::Outcome::unbounded) return {SmoStatus::unbounded, r + 1};
            if (trace() < refresh_at * whole) return {SmoStatus::converged, r + 1};
        }
        return {SmoStatus::converged, plan_.n_rounds};
    }

private:
    using Clock = std::chrono::steady_clock;

    double target() const {
        double largest = 1.0;
        for (Index i = 0; i < problem_.n; ++i) largest = std::max(largest, std::abs(at_.gradient[i]));
        return std::min(0.5 * session_.options.tol, aim * largest);
    }

    // The active-set method, once more from its beginning, and with a start from SMO if need be.
    SmoStatus solve(bool ready) {
        const std::int64_t most = 50 + 10 * problem_.n;
        using Outcome = ActiveSet::Outcome;
        Outcome outcome = ready ? active_.solve(target(), most) : Outcome::lost;
        if (outcome == Outcome::lost && active_.restart() == Outcome::solved) outcome = active_.solve(target(), most);
        if (outcome == Outcome::unbounded) return SmoStatus::unbounded;
        if (outcome == Outcome::solved && gap() <= session_.options.tol) return SmoStatus::converged;
        const MatrixRows<double> rows(kernel_, problem_.n, {}, problem_.n);
        const SmoStatus found = solve_smo<double>(rows, problem_, session_.options, at_, pool_).status;
        if (found != SmoStatus::converged && found != SmoStatus::stalled) return found;
        if (active_.restart() == Outcome::solved) active_.solve(target(), most);
        return gap() <= session_.options.tol ? SmoStatus::converged : SmoStatus::stalled;
    }

    double trace() const { return std::accumulate(diagonal_, diagonal_ + problem_.n, 0.0); }

    double gap() const { return violation_of(problem_, at_).gap(); }

    void describe(Index r) {
        const double b = active_.offset();
        double fitted = 0.0;
        for (Index i = 0; i < problem_.n; ++i) {
            const double value = at_.gradient[i] - problem_.p[i] - problem_.ridge[i] * at_.beta[i] + b;
            if (value * problem_.p[i] < 0.0) fitted += plan_.row_weights[i];
        }
        report_.gaps[r] = gap();
        report_.fitted[r] = fitted;
        report_.seconds[r] = std::chrono::duration<double>(Clock::now() - start_).count();
    }

    const EliminationPlan& plan_;
    double* kernel_;
    const double* diagonal_;
    const SmoProblem& problem_;
    const Point at_;
    Pool pool_;
    Session session_;
    const EliminationReport& report_;
    Weights weights_;
    ActiveSet active_;
    const Clock::time_point start_;
};

}  // namespace

EliminationResult eliminate(const EliminationPlan& plan, double* kernel, double* diagonal, const SmoProblem& problem,
                            const Point& at, const SmoOptions& options, const EliminationReport& report) {
    return Elimination(plan, kernel, diagonal, problem, at, options, report).run();
}

}  // namespace mercer
