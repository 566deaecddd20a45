#include "block_smo.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace mercer {

namespace {

constexpr Index rows_per_task = query_group;
constexpr Index columns_per_strip = 4096;
constexpr Index fewest_to_shrink = 256;
constexpr double trust = 10.0;        // single precision ends where its rounding is this share of the gap
constexpr int look_back = 20;         // blocks after which the objective must have gone down,
constexpr double least_gain = 1e-12;  // relative to its size

}  // namespace

template <class T>
Index BlockSmo<T>::n_strips() const {
    return (padded(n_columns_) + columns_per_strip - 1) / columns_per_strip;
}

// Columns whose sums stay in the first cache, and fewer where more threads would have nothing to do.
template <class T>
Index BlockSmo<T>::columns_for(const Pool& pool) const {
    return std::clamp<Index>(padded(n_columns_ / (3 * (pool.helpers() + 1))), 128, 1024);
}

template <class T>
BlockSmo<T>::BlockSmo(const RowSource<T>& source, const SmoProblem& problem, const Point& at, Session& session)
    : source_(source),
      problem_(problem),
      at_(at),
      session_(session),
      n_(problem.n),
      n_columns_(source.size()),
      block_(source, problem, session.options.block / (sizeof(T) == 4 ? 1 : 2),
             session.pool),  // half as many in double precision
      cache_(n_columns_, session.options.cache_bytes),
      changed_(std::max(block_.largest(), block_.count())),
      workspace_(newton_workspace),
      free_(free_limit + most_held) {}

template <class T>
SmoStatus BlockSmo<T>::run(double tol, bool may_shrink) {
    double last_objective = std::numeric_limits<double>::infinity();
    Patience patience(session_.options, n_);
    const double wanted = tol;
    bool is_refining = false;
    int n_refinements = 0;
    for (;; ++round_) {
        const Survey survey = survey_of(problem_, at_, session_.pool);
        const Violation& now = survey.violation;
        note_rounding(survey);
        if (!(now.gap() > tol)) {
            if (is_refining || !(session_.options.refined_tol < tol)) return SmoStatus::converged;
            is_refining = true;
            tol = session_.options.refined_tol;
            session_.urge_newton();
            continue;
        }
        if (is_refining && n_refinements++ > 0) {
            if (!(now.gap() > wanted)) return SmoStatus::converged;
            tol = wanted;  // the objective fell and the gap rose: back to where it was
        }
        if (session_.rounding > tol && now.gap() < trust * session_.rounding) return SmoStatus::stalled;
        if (session_.must_stop(now.gap())) return session_.result.status;
        if (patience.is_lost(now.gap(), steps_)) return SmoStatus::stalled;
        if (session_.objective < session_.options.unbounded_below) return SmoStatus::unbounded;
        if (round_ % look_back == 0) {
            if (!(last_objective - session_.objective > least_gain * std::abs(session_.objective)))
                return SmoStatus::stalled;
            last_objective = session_.objective;
        }
        if (may_shrink && worth_shrinking(now)) return SmoStatus::shrink;
        block_.refresh(at_, survey, round_, n_moved_);
        load(now);
        const auto rows = begin_rows();
        // A block that holds everything is left early only where fewer variables may do.
        const double share = block_.holds_everything() && (!may_shrink || n_ < fewest_to_shrink) ? 0.0 : 0.1;
        const double inner_tol = std::max((block_.holds_everything() ? 0.9 : 0.5) * tol, share * now.gap());
        const InnerResult inner = solve_inner(inner_tol);
        session_.result.n_iter += inner.n_iter;
        steps_ += inner.n_iter;
        session_.objective -= inner.gain;
        update_gradient(*rows);
    }
}

template <class T>
bool BlockSmo<T>::worth_shrinking(const Violation& now) const {
    if (block_.holds_everything() ? n_ < fewest_to_shrink : round_ < 4 || round_ % 2) return false;
    const auto count = [&](Index begin, Index end) {
        Index settled = 0;
        for (Index i = begin; i < end; ++i) settled += is_settled(problem_, at_, now, i);
        return settled;
    };
    const auto counts = in_pieces<Index>(n_, session_.pool, count);
    const Index settled = std::accumulate(counts.begin(), counts.end(), Index(0));
    if (2 * settled <= n_) return false;
    // Collecting the matrix of the others costs as much as so many steps save.
    return !block_.holds_everything() || steps_ * settled >= (n_ - settled) * (n_ - settled);
}

// What rounding of single-precision kernel values adds to the gap: their errors add up like independent ones.
// Where that is more than the tolerance the caller has to go on in double precision. What was noted for all
// variables holds for a part of them too, since the others still count.
template <class T>
void BlockSmo<T>::note_rounding(const Survey& survey) {
    if (sizeof(T) == 4) session_.rounding = std::max(session_.rounding, single_rounding * std::sqrt(survey.squares));
}

template <class T>
void BlockSmo<T>::load(const Violation& now) {
    const double middle = now.middle();
    for (auto* array : {&old_beta_, &inner_beta_, &lower_, &upper_}) array->resize(block_.count());
    for (auto* array : {&inner_gradient_, &up_, &low_}) array->resize(block_.stride());
    for (Index place = 0; place < block_.count(); ++place) {
        const Index i = block_.member(place);
        // Measured from the middle of the violation, so that single precision resolves what matters.
        inner_gradient_[place] = static_cast<T>(at_.gradient[i] + middle);
        old_beta_[place] = inner_beta_[place] = at_.beta[i];
        lower_[place] = problem_.lower[i];
        upper_[place] = problem_.upper[i];
    }
    for (Index place = block_.count(); place < block_.stride(); ++place) {  // padding, which never takes part
        inner_gradient_[place] = T(0);
        up_[place] = T(-1e30);
        low_[place] = T(1e30);
    }
}

template <class T>
InnerResult BlockSmo<T>::solve_inner(double tol) {
    const std::int64_t slice = 100 * block_.count();  // often enough to look at the clock
    const std::int64_t left = session_.options.max_iter - session_.result.n_iter;
    constexpr Index step = row_padding / Index(sizeof(T) / sizeof(float));  // of the loops: a number of bytes
    const Index width = (block_.count() + step - 1) / step * step;
    InnerProblem<T> inner{block_.kernel(),
                          block_.stride(),
                          width,
                          block_.count(),
                          inner_gradient_.data(),
                          inner_beta_.data(),
                          lower_.data(),
                          upper_.data(),
                          up_.data(),
                          low_.data(),
                          block_.diagonal(),
                          tol,
                          session_.options.max_iter < 0 ? slice : std::min(slice, left),
                          workspace_.data(),
                          free_.data(),
                          &session_.newton};
    return hot_loops<T>().inner_smo(inner);
}

// Helpers compute the rows that the block will probably need while the caller solves it.
template <class T>
auto BlockSmo<T>::begin_rows() -> std::unique_ptr<PendingRows> {
    auto pending = std::make_unique<PendingRows>();
    if (block_.holds_everything()) return pending;
    rows_ = DistinctRows(problem_, block_.members(), n_columns_);
    for (auto& changed : changed_) changed.store(1, std::memory_order_relaxed);  // until known otherwise
    for (Index row : rows_.rows)
        if (!source_.resident(row) && cache_.find(row)) cache_.touch(row, round_);
    for (Index k = 0; k < rows_.rows.size(); ++k) {
        const Index row = rows_.rows[k];
        if (source_.resident(row) || cache_.find(row)) continue;
        if (T* room = cache_.reserve(row, round_)) {
            pending->which.push_back(k);
            pending->target.push_back(room);
        }
    }
    const Index groups = (pending->which.size() + rows_per_task - 1) / rows_per_task;
    if (groups > 0 && source_.concurrent())
        pending->job =
            session_.pool.post(groups * n_strips(), [this, p = pending.get()](Index task) { fill_task(*p, task); });
    return pending;
}

// Some rows, and of them some columns: tasks so small that nobody waits long for the last one.
template <class T>
void BlockSmo<T>::fill_task(const PendingRows& pending, Index task) const {
    const Index first = task / n_strips() * rows_per_task, begin = task % n_strips() * columns_per_strip;
    const Index last = std::min(first + rows_per_task, pending.which.size());
    const Index end = std::min(padded(n_columns_), begin + columns_per_strip);
    Index indices[rows_per_task], variables[rows_per_task];
    T* targets[rows_per_task];
    Index count = 0;
    for (Index k = first; k < last; ++k) {
        const Index which = pending.which[k];
        if (!changed_[which].load(std::memory_order_relaxed)) continue;  // not needed after all
        indices[count] = rows_.rows[which];
        variables[count] = rows_.first[which];
        targets[count++] = pending.target[k];
    }
    if (count) source_.fill(indices, count, begin, end, targets);
    // The diagonal as the block has it: rounding there would not cancel between the two.
    for (Index k = 0; k < count; ++k)
        if (indices[k] >= begin && indices[k] < end)
            targets[k][indices[k]] = static_cast<T>(problem_.diagonal[variables[k]]);
}

// Completes the rows of the variables that changed. The others are given up even where a helper was quick
// enough, so that what the cache holds, and with it every rounding, does not depend on the timing.
template <class T>
void BlockSmo<T>::settle(PendingRows& pending) {
    if (pending.job) pending.job.join();
    else if (!pending.which.empty()) fill_requested(pending);
    for (Index k = 0; k < pending.which.size(); ++k) {
        const Index which = pending.which[k];
        if (moved_[which] == 0.0) cache_.release(rows_.rows[which]);
    }
}

template <class T>
void BlockSmo<T>::fill_requested(const PendingRows& pending) {
    Array<Index> indices;
    Array<T*> targets;
    for (Index k = 0; k < pending.which.size(); ++k) {
        const Index which = pending.which[k];
        if (moved_[which] == 0.0) continue;
        indices.push_back(rows_.rows[which]);
        targets.push_back(pending.target[k]);
    }
    if (!indices.empty()) source_.fill(indices.data(), indices.size(), 0, padded(n_columns_), targets.data());
}

template <class T>
void BlockSmo<T>::update_gradient(PendingRows& pending) {
    n_moved_ = 0;
    for (Index place = 0; place < block_.count(); ++place) {
        const Index i = block_.member(place);
        n_moved_ += change(place) != 0.0;
        at_.gradient[i] += problem_.ridge[i] * change(place);
        at_.beta[i] = inner_beta_[place];
    }
    if (block_.holds_everything()) return update_from_block();
    moved_.assign(rows_.rows.size(), 0.0);
    for (Index place = 0; place < block_.count(); ++place) moved_[rows_.place[place]] += change(place);
    for (Index k = 0; k < moved_.size(); ++k) changed_[k].store(moved_[k] != 0.0, std::memory_order_relaxed);
    settle(pending);
    if (!problem_.row) return add_changes(at_.gradient);
    Array<double> sums(n_columns_, 0.0);
    add_changes(sums.data());
    for (Index i = 0; i < n_; ++i) at_.gradient[i] += sums[problem_.row[i]];
}

// The rows of the block, each times what its variables changed by.
template <class T>
void BlockSmo<T>::add_changes(double* sums) {
    Array<const T*> rows;
    Array<Index> absent;
    Array<double> weights, absent_weights;
    for (Index k = 0; k < moved_.size(); ++k) {
        if (moved_[k] == 0.0) continue;
        const Index index = rows_.rows[k];
        const T* row = source_.resident(index) ? source_.resident(index) : cache_.find(index);
        if (row) rows.push_back(row);
        else absent.push_back(k);
        (row ? weights : absent_weights).push_back(moved_[k]);
    }
    const Index chunk = source_.concurrent() ? columns_for(session_.pool) : n_columns_;
    session_.pool.run((n_columns_ + chunk - 1) / chunk, [&](Index task) {
        const Index begin = task * chunk, end = std::min(n_columns_, begin + chunk);
        hot_loops<T>().add_rows(rows.data(), weights.data(), rows.size(), begin, end, sums);
        if (!absent.empty()) add_absent(absent, absent_weights, begin, end, sums);
    });
}

// Rows that found no room in the cache are computed for a few columns at a time and used at once.
template <class T>
void BlockSmo<T>::add_absent(const Array<Index>& absent, const Array<double>& weights, Index begin, Index end,
                             double* sums) const {
    const Index width = padded(end) - begin;
    Array<T> buffer(rows_per_task * width);
    for (Index first = 0; first < absent.size(); first += rows_per_task) {
        const Index count = std::min(rows_per_task, absent.size() - first);
        Index indices[rows_per_task];
        T* targets[rows_per_task];
        for (Index q = 0; q < count; ++q) {
            indices[q] = rows_.rows[absent[first + q]];
            targets[q] = buffer.data() + q * width - begin;
        }
        source_.fill(indices, count, begin, padded(end), targets);
        for (Index q = 0; q < count; ++q) {
            const Index which = absent[first + q];
            if (indices[q] >= begin && indices[q] < end)
                targets[q][indices[q]] = static_cast<T>(problem_.diagonal[rows_.first[which]]);
        }
        hot_loops<T>().add_rows(targets, weights.data() + first, count, begin, end, sums);
    }
}

// The block holds everything: its matrix serves for the gradient too, less the ridge on its diagonal.
template <class T>
void BlockSmo<T>::update_from_block() {
    Array<const T*> rows;
    Array<double> weights, sums(n_, 0.0);
    rows.reserve(n_);
    weights.reserve(n_);
    for (Index place = 0; place < n_; ++place) {
        if (change(place) == 0.0) continue;
        const double on_diagonal = static_cast<double>(block_.row(place)[place]);
        sums[place] += (problem_.diagonal[block_.member(place)] - on_diagonal) * change(place);
        rows.push_back(block_.row(place));
        weights.push_back(change(place));
    }
    hot_loops<T>().add_rows(rows.data(), weights.data(), rows.size(), 0, n_, sums.data());
    for (Index place = 0; place < n_; ++place) at_.gradient[block_.member(place)] += sums[place];
}

template class BlockSmo<float>;
template class BlockSmo<double>;

}  // namespace mercer
