// Where kernel rows come from: computed from packed data, read from a matrix, or asked of a function.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "array.hpp"
#include "buffer.hpp"
#include "hot_loops.hpp"
#include "pool.hpp"

namespace mercer {

// Rows that the loops over a working set read have a multiple of so many entries.
constexpr Index row_padding = 32;

// The distance of rows: odd, so that the rows of a tile do not share a set of the cache.
inline Index padded_stride(Index n) { return ((n + row_padding - 1) / row_padding | 1) * row_padding; }

inline Index padded(Index n) { return (n + panel_rows - 1) / panel_rows * panel_rows; }

// Kernel rows restricted to a fixed selection of columns; out[k] has room for padded(selection) entries.
template <class T>
class ColumnSource {
public:
    virtual ~ColumnSource() = default;
    // Columns [begin, end), multiples of panel_rows; out[k] points at column 0.
    virtual void fill(const Index* indices, Index count, Index begin, Index end, T* const* out) const = 0;
};

template <class T>
class RowSource {
public:
    virtual ~RowSource() = default;
    virtual Index size() const = 0;

    // The row, if it lies in memory anyway; nullptr where it must be computed.
    virtual const T* resident(Index) const { return nullptr; }

    // The whole matrix, if it lies in memory in rows of `stride` entries: a multiple of row_padding, with zeros
    // beyond the last column.
    virtual const T* whole(Index& stride) const {
        stride = 0;
        return nullptr;
    }

    // Whether fill may be called from several threads, and for a part of the columns.
    virtual bool concurrent() const { return true; }

    // out[k][column] for columns [begin, end) of row indices[k]; begin and end are multiples of
    // panel_rows, and out[k] has room for padded(size()) entries.
    virtual void fill(const Index* indices, Index count, Index begin, Index end, T* const* out) const = 0;

    // The same rows, but only some of the columns.
    virtual std::unique_ptr<ColumnSource<T>> columns(const Array<Index>& selection) const = 0;

    // Rows and columns of some of the points; only asked of concurrent sources.
    virtual std::unique_ptr<RowSource<T>> subset(const Array<Index>& selection) const = 0;
};

// Rows of data scaled for the kernel's shape, kept row by row (queries) and in panels (columns).
template <class T>
class PackedRows {
public:
    PackedRows() = default;
    PackedRows(const T* rows, Index n, Index n_features, const KernelShape& shape, Pool& pool);
    // A selection of the rows of another one.
    PackedRows(const PackedRows& all, const Array<Index>& selection, Pool& pool);

    Index size() const { return n_; }
    Index n_features() const { return d_; }
    Panels<T> panels() const { return {panels_.data(), halves_.data(), wide_halves_.data(), d_}; }
    Queries<T> query(Index first, Index count) const {
        return {rows_.data() + first * d_, halves_.data() + first, wide_halves_.data() + first, count};
    }
    // The shape in which these rows keep their digits.
    KernelShape suited(KernelShape shape) const;
    const T* row(Index i) const { return rows_.data() + i * d_; }
    double half(Index i) const { return wide_halves_[i]; }

private:
    void pack(Index begin, Index end);
    void pad();

    Index n_ = 0, d_ = 0;
    Buffer<T> rows_, panels_, halves_;
    Buffer<double> wide_halves_;
};

template <class T>
class ComputedRows final : public RowSource<T> {
public:
    ComputedRows(PackedRows<T> data, const KernelShape& shape, Pool& pool)
        : data_(std::move(data)), shape_(data_.suited(shape)), pool_(pool) {}
    ComputedRows(const ComputedRows& all, const Array<Index>& selection)
        : data_(all.data_, selection, all.pool_), shape_(all.shape_), pool_(all.pool_) {}

    Index size() const override { return data_.size(); }
    void fill(const Index* indices, Index count, Index begin, Index end, T* const* out) const override;
    std::unique_ptr<ColumnSource<T>> columns(const Array<Index>& selection) const override;
    std::unique_ptr<RowSource<T>> subset(const Array<Index>& selection) const override;

private:
    PackedRows<T> data_;
    KernelShape shape_;
    Pool& pool_;
};

// A matrix that lies in memory, seen whole or through a list of its rows and columns.
template <class T>
class MatrixRows final : public RowSource<T> {
public:
    MatrixRows(const T* matrix, Index stride, Array<Index> view, Index n)
        : matrix_(matrix), stride_(stride), view_(std::move(view)), n_(n) {}
    // A matrix of its own.
    MatrixRows(Buffer<T> values, Index stride, Index n)
        : copy_(std::move(values)), matrix_(copy_.data()), stride_(stride), n_(n) {}

    Index size() const override { return n_; }
    const T* resident(Index i) const override { return view_.empty() ? matrix_ + i * stride_ : nullptr; }
    const T* whole(Index& stride) const override {
        stride = stride_;
        return view_.empty() && stride_ % row_padding == 0 ? matrix_ : nullptr;
    }
    void fill(const Index* indices, Index count, Index begin, Index end, T* const* out) const override;
    std::unique_ptr<ColumnSource<T>> columns(const Array<Index>& selection) const override;
    std::unique_ptr<RowSource<T>> subset(const Array<Index>& selection) const override;

    // Where row or column i stands in the matrix, and that row as it is stored.
    Index at(Index i) const { return view_.empty() ? i : view_[i]; }
    const T* stored(Index i) const { return matrix_ + at(i) * stride_; }

private:
    Buffer<T> copy_;
    const T* matrix_;
    Index stride_;
    Array<Index> view_;
    Index n_;
};

// Rows from a function that writes whole rows one below the other, n columns each.
template <class T>
class RequestedRows final : public RowSource<T> {
public:
    using Request = std::function<void(const Index* indices, Index count, T* out)>;

    RequestedRows(Request request, Index n) : request_(std::move(request)), n_(n) {}

    Index size() const override { return n_; }
    bool concurrent() const override { return false; }
    void fill(const Index* indices, Index count, Index begin, Index end, T* const* out) const override;
    std::unique_ptr<ColumnSource<T>> columns(const Array<Index>& selection) const override;
    std::unique_ptr<RowSource<T>> subset(const Array<Index>& selection) const override;

private:
    Request request_;
    Index n_;
};

// values[i * stride + j] = k(left_i, right_j), zeros beyond the last column; rows shared among the threads of the pool.
template <class T>
void kernel_matrix(const KernelShape& shape, const PackedRows<T>& left, const PackedRows<T>& right, T* values,
                   Index stride, Pool& pool);

// sums[i * stride + s * n_coefficients + r] = sum over the columns j of segment s of k(left_i, right_j) c_rj,
// without ever holding the kernel matrix; kernel values are double where `wide` says so. Segment s runs from ends[s] to
// ends[s + 1].
template <class T>
void kernel_products(const KernelShape& shape, const PackedRows<T>& left, const PackedRows<T>& right,
                     const double* coefficients, Index n_coefficients, const Array<Index>& ends, bool wide,
                     double* sums, Pool& pool);

}  // namespace mercer
