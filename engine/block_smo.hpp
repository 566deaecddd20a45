// SMO on one set of variables: a block is solved with its small kernel matrix in cache; then the gradient
// of all variables is brought up to date from the kernel rows of those that changed.
#pragma once

#include <atomic>
#include <memory>

#include "row_cache.hpp"
#include "smo_types.hpp"
#include "working_set.hpp"

namespace mercer {

template <class T>
class BlockSmo {
public:
    BlockSmo(const RowSource<T>& source, const SmoProblem& problem, const Point& at, Session& session);

    // Until the gap is at most tol, a limit is reached, or (if allowed) most variables have settled.
    SmoStatus run(double tol, bool may_shrink);

private:
    struct PendingRows {
        Array<Index> which;  // of the block's rows
        Array<T*> target;
        Pool::Posted job;  // last, since the others must be there until it has ended
    };

    bool worth_shrinking(const Violation& now) const;
    void note_rounding(const Survey& survey);
    Index n_strips() const;
    Index columns_for(const Pool& pool) const;
    void load(const Violation& now);
    InnerResult solve_inner(double tol);
    std::unique_ptr<PendingRows> begin_rows();
    void fill_task(const PendingRows& pending, Index task) const;
    void settle(PendingRows& pending);
    void fill_requested(const PendingRows& pending);
    void update_gradient(PendingRows& pending);
    void update_from_block();
    void add_changes(double* sums);
    void add_absent(const Array<Index>& absent, const Array<double>& weights, Index begin, Index end,
                    double* sums) const;

    double change(Index place) const { return inner_beta_[place] - old_beta_[place]; }

    const RowSource<T>& source_;
    const SmoProblem& problem_;
    const Point at_;
    Session& session_;
    const Index n_, n_columns_;  // variables, and entries of a kernel row: fewer where variables share rows
    WorkingSet<T> block_;
    RowCache<T> cache_;
    DistinctRows rows_;                 // of the block
    Array<double> moved_;               // by how much the variables of each of them changed
    Array<std::atomic<char>> changed_;  // whether they did; read by helpers
    Buffer<double> workspace_;
    Buffer<std::int64_t> free_;
    std::int64_t round_ = 0, steps_ = 0;
    Index n_moved_ = 0;
    Array<T> inner_gradient_, up_, low_;
    Array<double> inner_beta_, old_beta_, lower_, upper_;
};

}  // namespace mercer
