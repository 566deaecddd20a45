// Kernel rows of all points or of some of them, in single or double precision: what a kernel matrix hands to a solver.
#pragma once

#include <limits>
#include <memory>

#include "row_source.hpp"

namespace mercer {

template <class T>
class MatrixSupply;

class RowSupply {
public:
    virtual ~RowSupply() = default;
    virtual Index size() const = 0;

    // Bytes of rows that are worth keeping; beyond, they are sooner computed anew.
    virtual std::int64_t worthwhile_cache() const { return std::numeric_limits<std::int64_t>::max(); }

    // Rows of some of the points, or of all where `selection` is null. A supply that has no such rows returns null;
    // every supply has those of one precision.
    virtual std::unique_ptr<RowSource<float>> single(const Array<Index>* selection, Pool& pool) const = 0;
    virtual std::unique_ptr<RowSource<double>> wide(const Array<Index>* selection, Pool& pool) const = 0;

    // The same with all values in memory, where that saves work; else null.
    virtual std::unique_ptr<MatrixSupply<double>> held(Pool&) const;

    // For each point of `to`, the sum of its kernel values with the points of `from`, each times its weight. Values are
    // of single precision only where there are no others or `rough` allows it; sums never.
    virtual Array<double> times(const Array<Index>& to, const Array<Index>& from, const Array<double>& weights,
                                bool rough, Pool& pool) const = 0;
};

// Rows computed from points, which the caller keeps alive.
class PointSupply final : public RowSupply {
public:
    PointSupply(const double* points, Index n, Index n_features, const KernelShape& shape)
        : points_(points), n_(n), d_(n_features), shape_(shape) {}

    Index size() const override { return n_; }
    std::int64_t worthwhile_cache() const override;
    std::unique_ptr<RowSource<float>> single(const Array<Index>* selection, Pool& pool) const override;
    std::unique_ptr<RowSource<double>> wide(const Array<Index>* selection, Pool& pool) const override;
    std::unique_ptr<MatrixSupply<double>> held(Pool& pool) const override;
    Array<double> times(const Array<Index>& to, const Array<Index>& from, const Array<double>& weights, bool rough,
                        Pool& pool) const override;

private:
    const double* points_;
    Index n_, d_;
    KernelShape shape_;
};

// Rows of a matrix, which the caller keeps alive, or which it keeps itself.
template <class T>
class MatrixSupply final : public RowSupply {
public:
    MatrixSupply(const T* matrix, Index stride, Index n) : matrix_(matrix), stride_(stride), n_(n) {}
    MatrixSupply(Buffer<T> own, Index stride, Index n)
        : own_(std::move(own)), matrix_(own_.data()), stride_(stride), n_(n) {}

    // Of a matrix of its own.
    void set_diagonal(Index i, T value) { own_[i * stride_ + i] = value; }

    Index size() const override { return n_; }
    std::unique_ptr<RowSource<float>> single(const Array<Index>* selection, Pool&) const override;
    std::unique_ptr<RowSource<double>> wide(const Array<Index>* selection, Pool&) const override;
    Array<double> times(const Array<Index>& to, const Array<Index>& from, const Array<double>& weights, bool rough,
                        Pool& pool) const override;

private:
    Buffer<T> own_;
    const T* matrix_;
    Index stride_, n_;
};

// Matrices of equally many points, one below the other: a point has kernel values with those of its own matrix only.
class StackedSupply final : public RowSupply {
public:
    StackedSupply(const double* matrices, Index stride, Index n_each, Index count)
        : matrices_(matrices), stride_(stride), n_each_(n_each), count_(count) {}

    Index size() const override { return n_each_ * count_; }
    std::unique_ptr<RowSource<float>> single(const Array<Index>*, Pool&) const override { return nullptr; }
    std::unique_ptr<RowSource<double>> wide(const Array<Index>* selection, Pool&) const override;
    Array<double> times(const Array<Index>& to, const Array<Index>& from, const Array<double>& weights, bool rough,
                        Pool& pool) const override;

private:
    // The number of the matrix that points are in, and their places there.
    Index places(const Array<Index>& points, Array<Index>& found) const;
    const double* matrix(Index k) const { return matrices_ + k * n_each_ * stride_; }

    const double* matrices_;
    Index stride_, n_each_, count_;
};

// Rows from a function.
class RequestedSupply final : public RowSupply {
public:
    RequestedSupply(RequestedRows<double>::Request request, Index n) : all_(std::move(request), n) {}

    Index size() const override { return all_.size(); }
    std::unique_ptr<RowSource<float>> single(const Array<Index>*, Pool&) const override { return nullptr; }
    std::unique_ptr<RowSource<double>> wide(const Array<Index>* selection, Pool& pool) const override;
    Array<double> times(const Array<Index>& to, const Array<Index>& from, const Array<double>& weights, bool rough,
                        Pool& pool) const override;

private:
    RequestedRows<double> all_;
};

}  // namespace mercer
