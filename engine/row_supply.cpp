#include "row_supply.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace mercer {

namespace {

template <class T>
PackedRows<T> packed(const double* points, Index d, const Array<Index>& selection, const KernelShape& shape,
                     Pool& pool) {
    const Index n = selection.size();
    Buffer<T> chosen(n * d);
    for (Index i = 0; i < n; ++i) {
        const double* from = points + selection[i] * d;
        std::copy_n(from, d, chosen.data() + i * d);
    }
    return PackedRows<T>(chosen.data(), n, d, shape, pool);
}

Array<Index> everything(Index n) {
    Array<Index> all(n);
    std::iota(all.begin(), all.end(), Index(0));
    return all;
}

template <class T>
std::unique_ptr<RowSource<T>> computed(const double* points, Index n, Index d, const Array<Index>* selection,
                                       const KernelShape& shape, Pool& pool) {
    return std::make_unique<ComputedRows<T>>(packed<T>(points, d, selection ? *selection : everything(n), shape, pool),
                                             shape, pool);
}

template <class T>
Array<double> computed_times(const double* points, Index d, const KernelShape& shape, const Array<Index>& to,
                             const Array<Index>& from, const Array<double>& weights, Pool& pool) {
    const PackedRows<T> left = packed<T>(points, d, to, shape, pool), right = packed<T>(points, d, from, shape, pool);
    Array<double> sums(to.size());
    Array<Index> ends(2, 0);  // one segment
    ends[1] = right.size();
    const bool wide = sizeof(T) == 8;
    kernel_products<T>(right.suited(left.suited(shape)), left, right, weights.data(), 1, ends, wide, sums.data(), pool);
    return sums;
}

// Rows of a few points at a time, added up whole; what is wanted is picked from the sums.
template <class T>
Array<double> summed_rows(const RowSource<T>& source, const Array<Index>& to, const Array<Index>& from,
                          const Array<double>& weights) {
    const Index n = source.size(), width = padded(n), count = from.size();
    Array<double> sums(n, 0.0);
    Array<T> buffer(query_group * width);
    T* rows[query_group];
    for (Index q = 0; q < query_group; ++q) rows[q] = buffer.data() + q * width;
    for (Index first = 0; first < count; first += query_group) {
        const Index some = std::min<Index>(query_group, count - first);
        source.fill(from.data() + first, some, 0, width, rows);
        hot_loops<T>().add_rows(rows, weights.data() + first, some, 0, n, sums.data());
    }
    Array<double> wanted;
    wanted.reserve(to.size());
    for (Index i : to) wanted.push_back(sums[i]);
    return wanted;
}

}  // namespace

std::unique_ptr<MatrixSupply<double>> RowSupply::held(Pool&) const { return nullptr; }

// With few features a row is computed sooner than fresh memory for it is had from the system.
std::int64_t PointSupply::worthwhile_cache() const {
    constexpr Index few_features = 256;
    constexpr std::int64_t some = 200'000'000;
    return d_ <= few_features ? some : RowSupply::worthwhile_cache();
}

std::unique_ptr<RowSource<float>> PointSupply::single(const Array<Index>* selection, Pool& pool) const {
    return computed<float>(points_, n_, d_, selection, shape_, pool);
}

std::unique_ptr<RowSource<double>> PointSupply::wide(const Array<Index>* selection, Pool& pool) const {
    return computed<double>(points_, n_, d_, selection, shape_, pool);
}

std::unique_ptr<MatrixSupply<double>> PointSupply::held(Pool& pool) const {
    const Index stride = padded(n_);
    Buffer<double> values(n_ * stride);
    std::fill_n(values.data(), n_ * stride, 0.0);
    const PackedRows<double> rows = packed<double>(points_, d_, everything(n_), shape_, pool);
    kernel_matrix<double>(rows.suited(shape_), rows, rows, values.data(), stride, pool);
    return std::make_unique<MatrixSupply<double>>(std::move(values), stride, n_);
}

Array<double> PointSupply::times(const Array<Index>& to, const Array<Index>& from, const Array<double>& weights,
                                 bool rough, Pool& pool) const {
    if (rough) return computed_times<float>(points_, d_, shape_, to, from, weights, pool);
    return computed_times<double>(points_, d_, shape_, to, from, weights, pool);
}

namespace {

// A small part is copied: a matrix of its own is a working set as it is.
template <class T>
std::unique_ptr<RowSource<T>> matrix_rows(const T* matrix, Index stride, Index n, const Array<Index>* selection) {
    constexpr Index small = 256;
    if (!selection) return std::make_unique<MatrixRows<T>>(matrix, stride, Array<Index>{}, n);
    if (selection->size() <= small) return MatrixRows<T>(matrix, stride, {}, n).subset(*selection);
    return std::make_unique<MatrixRows<T>>(matrix, stride, *selection, selection->size());
}

}  // namespace

template <class T>
std::unique_ptr<RowSource<float>> MatrixSupply<T>::single(const Array<Index>* selection, Pool&) const {
    if constexpr (sizeof(T) == 4) return matrix_rows(matrix_, stride_, n_, selection);
    return nullptr;
}

template <class T>
std::unique_ptr<RowSource<double>> MatrixSupply<T>::wide(const Array<Index>* selection, Pool&) const {
    if constexpr (sizeof(T) == 8) return matrix_rows(matrix_, stride_, n_, selection);
    return nullptr;
}

template <class T>
Array<double> MatrixSupply<T>::times(const Array<Index>& to, const Array<Index>& from, const Array<double>& weights,
                                     bool, Pool&) const {
    const MatrixRows<T> rows(matrix_, stride_, {}, n_);
    return summed_rows(rows, to, from, weights);
}

Index StackedSupply::places(const Array<Index>& points, Array<Index>& found) const {
    const Index first = points[0] / n_each_;
    found.reserve(points.size());
    for (Index i : points) {
        if (i / n_each_ != first) throw std::invalid_argument("a program has points of several matrices");
        found.push_back(i % n_each_);
    }
    return first;
}

std::unique_ptr<RowSource<double>> StackedSupply::wide(const Array<Index>* selection, Pool&) const {
    if (!selection) {
        if (count_ != 1) throw std::invalid_argument("a program has points of several matrices");
        return matrix_rows(matrices_, stride_, n_each_, nullptr);
    }
    Array<Index> own;
    const double* values = matrix(places(*selection, own));
    const bool is_whole = own.size() == n_each_ && std::is_sorted(own.begin(), own.end());
    return matrix_rows(values, stride_, n_each_, is_whole ? nullptr : &own);
}

Array<double> StackedSupply::times(const Array<Index>& to, const Array<Index>& from, const Array<double>& weights, bool,
                                   Pool&) const {
    Array<Index> own_to, own_from;
    const Index k = places(to, own_to);
    if (places(from, own_from) != k) throw std::invalid_argument("points of different matrices have no kernel value");
    return summed_rows(MatrixRows<double>(matrix(k), stride_, {}, n_each_), own_to, own_from, weights);
}

std::unique_ptr<RowSource<double>> RequestedSupply::wide(const Array<Index>* selection, Pool&) const {
    if (!selection) return std::make_unique<RequestedRows<double>>(all_);
    return all_.subset(*selection);
}

Array<double> RequestedSupply::times(const Array<Index>& to, const Array<Index>& from, const Array<double>& weights,
                                     bool, Pool&) const {
    return summed_rows(all_, to, from, weights);
}

template class MatrixSupply<float>;
template class MatrixSupply<double>;

}  // namespace mercer
