// Shrinking: once most variables have settled at a bound, the others are solved on their own, with kernel
// rows that are as much shorter; then the gradient of the settled ones is brought up to date and checked.
#include "smo.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "block_smo.hpp"

namespace mercer {

namespace {

// Some of the variables of a problem as a problem of their own.
class Part {
public:
    Part(const SmoProblem& whole, const Point& at, std::vector<Index> members) : members_(std::move(members)) {
        const std::size_t n = members_.size();
        for (auto* array : {&p_, &lower_, &upper_, &ridge_, &diagonal_, &beta_, &gradient_}) array->resize(n);
        for (std::size_t k = 0; k < n; ++k) {
            const Index i = members_[k];
            p_[k] = whole.p[i];
            lower_[k] = whole.lower[i];
            upper_[k] = whole.upper[i];
            ridge_[k] = whole.ridge[i];
            diagonal_[k] = whole.diagonal[i];
            beta_[k] = at.beta[i];
            gradient_[k] = at.gradient[i];
        }
    }

    SmoProblem problem() const {
        return {p_.data(), lower_.data(), upper_.data(), ridge_.data(), diagonal_.data(), static_cast<Index>(members_.size())};
    }
    Point point() { return {beta_.data(), gradient_.data()}; }
    const std::vector<Index>& members() const { return members_; }

    void write_back(const Point& at) const {
        for (std::size_t k = 0; k < members_.size(); ++k) {
            at.beta[members_[k]] = beta_[k];
            at.gradient[members_[k]] = gradient_[k];
        }
    }

private:
    std::vector<Index> members_;
    std::vector<double> p_, lower_, upper_, ridge_, diagonal_, beta_, gradient_;
};

// gradient[targets] += K[targets, changed] weights, without keeping the rows.
template <class T>
void add_changes(const RowSource<T>& source, const std::vector<Index>& changed, const std::vector<double>& weights,
                 const std::vector<Index>& targets, double* gradient, Pool& pool) {
    constexpr Index group = 16, chunk = 1024;
    const Index n = static_cast<Index>(targets.size());
    const auto columns = source.columns(targets);
    pool.run((n + chunk - 1) / chunk, [&](Index task) {
        const Index begin = task * chunk, end = std::min(n, begin + chunk), width = padded(end) - begin;
        std::vector<T> buffer(static_cast<std::size_t>(group * width));
        std::vector<double> sums(static_cast<std::size_t>(end - begin), 0.0);
        for (std::size_t first = 0; first < changed.size(); first += group) {
            const Index count = std::min<Index>(group, static_cast<Index>(changed.size() - first));
            T* rows[group];
            for (Index q = 0; q < count; ++q) rows[q] = buffer.data() + q * width - begin;
            columns->fill(changed.data() + first, count, begin, padded(end), rows);
            for (Index q = 0; q < count; ++q) rows[q] += begin;
            hot_loops<T>().add_rows(rows, weights.data() + first, count, 0, end - begin, sums.data());
        }
        for (Index j = begin; j < end; ++j) gradient[targets[static_cast<std::size_t>(j)]] += sums[static_cast<std::size_t>(j - begin)];
    });
}

template <class T>
class Shrinking {
public:
    Shrinking(const RowSource<T>& source, const SmoProblem& problem, const Point& at, const SmoOptions& options)
        : source_(source), problem_(problem), at_(at), session_(options) {}

    SmoResult run() {
        const bool can_shrink = session_.options.shrinking && source_.concurrent();
        SmoStatus status = SmoStatus::shrink;
        {
            BlockSmo<T> everything(source_, problem_, at_, session_);
            status = everything.run(session_.options.tol, can_shrink);
        }
        while (status == SmoStatus::shrink) status = solve_part();
        session_.result.status = status;
        return session_.result;
    }

private:
    // One round on the variables that have not settled; says shrink when another one is needed.
    SmoStatus solve_part() {
        const Violation before = violation_of(problem_, at_);
        std::vector<Index> active, settled;
        for (Index i = 0; i < problem_.n; ++i) (is_settled(problem_, at_, before, i) ? settled : active).push_back(i);
        const std::vector<double> old_beta(at_.beta, at_.beta + problem_.n);
        Part part(problem_, at_, active);
        const auto rows = source_.subset(active);
        const SmoProblem smaller = part.problem();
        const double tol = std::max(session_.options.tol, 0.1 * before.gap());
        SmoStatus status = BlockSmo<T>(*rows, smaller, part.point(), session_).run(tol, false);
        part.write_back(at_);
        update_settled(active, settled, old_beta);
        session_.result.gap = violation_of(problem_, at_).gap();
        if (status != SmoStatus::converged) return status;
        return session_.result.gap > session_.options.tol ? SmoStatus::shrink : SmoStatus::converged;
    }

    void update_settled(const std::vector<Index>& active, const std::vector<Index>& settled, const std::vector<double>& old_beta) {
        std::vector<Index> changed;
        std::vector<double> weights;
        for (Index i : active) {
            const double change = at_.beta[i] - old_beta[static_cast<std::size_t>(i)];
            if (change == 0.0) continue;
            changed.push_back(i);
            weights.push_back(change);
        }
        if (!changed.empty() && !settled.empty())
            add_changes(source_, changed, weights, settled, at_.gradient, session_.pool);
        session_.result.n_rows += static_cast<std::int64_t>(changed.size()) * static_cast<std::int64_t>(settled.size()) / problem_.n;
    }

    const RowSource<T>& source_;
    const SmoProblem& problem_;
    const Point at_;
    Session session_;
};

}  // namespace

template <class T>
SmoResult solve_smo(const RowSource<T>& source, const SmoProblem& problem, const SmoOptions& options, const Point& at) {
    return Shrinking<T>(source, problem, at, options).run();
}

template SmoResult solve_smo(const RowSource<float>&, const SmoProblem&, const SmoOptions&, const Point&);
template SmoResult solve_smo(const RowSource<double>&, const SmoProblem&, const SmoOptions&, const Point&);

}  // namespace mercer
