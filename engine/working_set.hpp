// The block of variables that is solved at a time: who is in it, and its small kernel matrix.
#pragma once

#include "buffer.hpp"
#include "smo_types.hpp"

namespace mercer {

template <class T>
class WorkingSet {
public:
    WorkingSet(const RowSource<T>& source, const SmoProblem& problem, Index largest, Pool& pool);

    // Brings in the worst violators, in place of those that have been in longest, and their kernel values.
    // n_moved is how many members changed in the last round.
    void refresh(const Point& at, const Survey& survey, std::int64_t round, Index n_moved);

    bool holds_everything() const { return size_ == problem_.n; }
    Index count() const { return members_.size(); }
    Index largest() const { return largest_; }
    Index stride() const { return stride_; }
    Index member(Index place) const { return members_[place]; }
    const Array<Index>& members() const { return members_; }
    const T* kernel() const { return borrowed_ ? borrowed_ : kernel_.data(); }
    const T* row(Index place) const { return kernel() + place * stride_; }
    const T* diagonal() const { return diagonal_.data(); }

private:
    bool borrow();
    void grow(Index n_free, Index n_moved);
    void resize(Index size);
    void select(const Point& at, const Violation& now, std::int64_t round);
    Array<Index> choose(const Point& at, const Violation& now, std::int64_t round);
    Array<Index> vacate(Index count);
    void enter(Index i, Index place);
    void compute();
    void set_diagonal(Index place);
    void mirror();
    void mirror_triangle();

    std::int64_t& age(Index i) { return age_[i]; }

    const RowSource<T>& source_;
    const SmoProblem& problem_;
    Pool& pool_;
    const Index largest_;
    Index size_ = 0, stride_ = 0;
    Array<Index> members_;         // the variable in each place
    Array<Index> fresh_;           // places whose member is new
    Array<char> is_fresh_;         // the same, by place
    Array<std::int64_t> age_;      // round in which a variable was last chosen; -1 outside
    Buffer<T> kernel_;             // ridge on the diagonal, zeros beyond the last member
    const T* borrowed_ = nullptr;  // the source's own matrix, where that will do
    Array<T> diagonal_;
};

}  // namespace mercer
