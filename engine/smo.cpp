// Shrinking: once most variables have settled at a bound, the others are solved on their own, with kernel
// rows that are as much shorter; then the gradient of the settled ones is brought up to date and checked.
#include "smo.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "block_smo.hpp"

namespace mercer {

namespace {

// Some of the variables of a problem as a problem of their own.
class Part {
public:
    Part(const SmoProblem& whole, const Point& at, Array<Index> members, Index n_rows)
        : members_(std::move(members)), rows_(whole, members_, n_rows), shared_(whole.row != nullptr) {
        const Index n = members_.size();
        for (auto* array : {&p_, &lower_, &upper_, &ridge_, &diagonal_, &beta_, &gradient_}) array->resize(n);
        for (Index k = 0; k < n; ++k) {
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
        return {p_.data(),
                lower_.data(),
                upper_.data(),
                ridge_.data(),
                diagonal_.data(),
                members_.size(),
                shared_ ? rows_.place.data() : nullptr};
    }
    Point point() { return {beta_.data(), gradient_.data()}; }
    const Array<Index>& members() const { return members_; }
    const Array<Index>& rows() const { return rows_.rows; }

    void write_back(const Point& at) const {
        for (Index k = 0; k < members_.size(); ++k) {
            at.beta[members_[k]] = beta_[k];
            at.gradient[members_[k]] = gradient_[k];
        }
    }

private:
    Array<Index> members_;
    DistinctRows rows_;
    bool shared_;  // whether several variables may have one row
    Array<double> p_, lower_, upper_, ridge_, diagonal_, beta_, gradient_;
};

// K[targets, changed] weights, without keeping the rows.
template <class T>
Array<double> changes(const RowSource<T>& source, const Array<Index>& changed, const Array<double>& weights,
                      const Array<Index>& targets, Pool& pool) {
    constexpr Index group = query_group, chunk = 1024;
    const Index n = targets.size();
    const auto columns = source.columns(targets);
    Array<double> sums(n, 0.0);
    pool.run((n + chunk - 1) / chunk, [&](Index task) {
        const Index begin = task * chunk, end = std::min(n, begin + chunk), width = padded(end) - begin;
        Array<T> buffer(group * width);
        for (Index first = 0; first < changed.size(); first += group) {
            const Index count = std::min(group, changed.size() - first);
            T* rows[group];
            for (Index q = 0; q < count; ++q) rows[q] = buffer.data() + q * width - begin;
            columns->fill(changed.data() + first, count, begin, padded(end), rows);
            hot_loops<T>().add_rows(rows, weights.data() + first, count, begin, end, sums.data());
        }
    });
    return sums;
}

template <class T>
class Shrinking {
public:
    Shrinking(const RowSource<T>& source, const SmoProblem& problem, const Point& at, Session& session)
        : source_(source), problem_(problem), at_(at), session_(session) {}

    SmoStatus run(double tol) {
        constexpr Index too_few = 256;
        if (!session_.options.shrinking || !source_.concurrent() || problem_.n <= too_few)
            return solve_everything(tol, false);
        // A matrix in memory can be worked on as it is; how many steps that will take is not known beforehand.
        Patience patience(session_.options, problem_.n);
        for (bool worth = !source_.resident(0) || problem_.n > 2 * session_.options.block;;) {
            const Violation now = violation_of(problem_, at_);
            if (!(now.gap() > tol)) return SmoStatus::converged;
            if (patience.is_lost(now.gap(), session_.result.n_iter)) return SmoStatus::stalled;
            Array<Index> active;
            for (Index i = 0; worth && i < problem_.n; ++i)
                if (!is_settled(problem_, at_, now, i)) active.push_back(i);
            const bool few = worth && 2 * active.size() < problem_.n;
            const std::int64_t steps = session_.result.n_iter;
            const SmoStatus status = few ? solve_part(active, tol) : solve_everything(tol, true);
            if (status != SmoStatus::converged && status != SmoStatus::shrink) return status;
            worth = worth || status == SmoStatus::shrink;
            if (status == SmoStatus::converged && session_.result.n_iter == steps)
                return SmoStatus::stalled;  // what gap there is comes from rounding
        }
    }

private:
    SmoStatus solve_everything(double tol, bool may_shrink) {
        return BlockSmo<T>(source_, problem_, at_, session_).run(tol, may_shrink);
    }

    // Solves some of the variables on their own and brings the gradient of the others up to date.
    SmoStatus solve_part(Array<Index> active, double tol) {
        Array<Index> others;
        for (Index i = 0, k = 0; i < problem_.n; ++i) {
            if (k < active.size() && active[k] == i) ++k;
            else others.push_back(i);
        }
        const Array<double> old_beta(at_.beta, at_.beta + problem_.n);
        Part part(problem_, at_, std::move(active), source_.size());
        const auto rows = source_.subset(part.rows());
        const SmoProblem smaller = part.problem();
        const SmoStatus status = Shrinking(*rows, smaller, part.point(), session_).run(tol);
        part.write_back(at_);
        update(others, part.members(), old_beta);
        return status;
    }

    void update(const Array<Index>& others, const Array<Index>& active, const Array<double>& old_beta) {
        Array<Index> moved;
        for (Index i : active)
            if (at_.beta[i] != old_beta[i]) moved.push_back(i);
        if (moved.empty() || others.empty()) return;
        const DistinctRows changed(problem_, moved, source_.size()), targets(problem_, others, source_.size());
        Array<double> weights(changed.rows.size(), 0.0);
        for (Index k = 0; k < moved.size(); ++k) weights[changed.place[k]] += at_.beta[moved[k]] - old_beta[moved[k]];
        if (source_.resident(0)) return update_from_resident(others, changed.rows, weights);
        const Array<double> sums = changes(source_, changed.rows, weights, targets.rows, session_.pool);
        for (Index k = 0; k < others.size(); ++k) at_.gradient[others[k]] += sums[targets.place[k]];
    }

    // Rows in memory are added up whole: that is sooner done than picking the entries wanted.
    void update_from_resident(const Array<Index>& others, const Array<Index>& changed, const Array<double>& weights) {
        const Index n = source_.size();
        Array<const T*> rows;
        for (Index row : changed) rows.push_back(source_.resident(row));
        Array<double> sums(n, 0.0);
        constexpr Index chunk = 1024;
        session_.pool.run((n + chunk - 1) / chunk, [&](Index task) {
            hot_loops<T>().add_rows(rows.data(), weights.data(), rows.size(), task * chunk,
                                    std::min(n, (task + 1) * chunk), sums.data());
        });
        for (Index i : others) at_.gradient[i] += sums[problem_.row_of(i)];
    }

    const RowSource<T>& source_;
    const SmoProblem& problem_;
    const Point at_;
    Session& session_;
};

}  // namespace

template <class T>
SmoResult solve_smo(const RowSource<T>& source, const SmoProblem& problem, const SmoOptions& options, const Point& at,
                    Pool& pool) {
    Session session(options, pool);
    session.objective = objective_of(problem, at);
    const SmoStatus status = Shrinking<T>(source, problem, at, session).run(options.tol);
    session.result.status = status;
    session.result.gap = violation_of(problem, at).gap();
    return session.result;
}

template SmoResult solve_smo(const RowSource<float>&, const SmoProblem&, const SmoOptions&, const Point&, Pool&);
template SmoResult solve_smo(const RowSource<double>&, const SmoProblem&, const SmoOptions&, const Point&, Pool&);

}  // namespace mercer
