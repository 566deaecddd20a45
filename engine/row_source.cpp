#include "row_source.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mercer {

namespace {

// The factor by which rows are multiplied so that the tile accumulates the exponent itself.
double row_scale(const KernelShape& shape) {
    switch (shape.family) {
        case Family::rbf: return std::sqrt(2.0 * shape.gamma);
        case Family::laplacian:
        case Family::euclidean_laplacian: return shape.gamma;
        default: return 1.0;
    }
}

// Beyond this half of a squared norm, the exponent of a Gaussian is summed from differences.
constexpr double largest_half = 1e4;

// Rows by whole panels, side by side where there are many of them.
template <class Pack>
void by_panels(Index n, Pool& pool, Pack pack) {
    constexpr Index some = 128 * panel_rows, fewest_helpers = 3;
    if (n < 4 * some || pool.helpers() < fewest_helpers) return pack(Index(0), n);
    pool.run((n + some - 1) / some, [&](Index task) { pack(task * some, std::min(n, (task + 1) * some)); });
}

}  // namespace

template <class T>
PackedRows<T>::PackedRows(const T* rows, Index n, Index n_features, const KernelShape& shape, Pool& pool)
    : n_(n),
      d_(n_features),
      rows_(n * n_features),
      panels_(padded(n) * n_features),
      halves_(padded(n)),
      wide_halves_(padded(n)) {
    const double scale = row_scale(shape);
    by_panels(n, pool, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            double sum = 0.0;
            for (Index k = 0; k < d_; ++k) {
                const T value = static_cast<T>(scale * double(rows[i * d_ + k]));
                rows_[i * d_ + k] = value;
                sum += double(value) * double(value);
            }
            wide_halves_[i] = 0.5 * sum;
        }
        pack(begin, end);
    });
    pad();
}

template <class T>
PackedRows<T>::PackedRows(const PackedRows& all, const Array<Index>& selection, Pool& pool)
    : n_(selection.size()),
      d_(all.d_),
      rows_(n_ * d_),
      panels_(padded(n_) * d_),
      halves_(padded(n_)),
      wide_halves_(padded(n_)) {
    by_panels(n_, pool, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            const Index from = selection[i];
            std::copy_n(all.row(from), d_, rows_.data() + i * d_);
            wide_halves_[i] = all.half(from);
        }
        pack(begin, end);
    });
    pad();
}

template <class T>
KernelShape PackedRows<T>::suited(KernelShape shape) const {
    const bool far_apart =
        std::any_of(wide_halves_.data(), wide_halves_.data() + n_, [](double half) { return half > largest_half; });
    if (shape.family == Family::rbf && far_apart) shape.family = Family::rbf_by_difference;
    return shape;
}

template <class T>
void PackedRows<T>::pack(Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
        halves_[i] = static_cast<T>(wide_halves_[i]);
        T* panel = panels_.data() + (i / panel_rows) * d_ * panel_rows + i % panel_rows;
        const T* from = row(i);
        for (Index k = 0; k < d_; ++k) panel[k * panel_rows] = from[k];
    }
}

// Zeros in the empty lanes of the last panel.
template <class T>
void PackedRows<T>::pad() {
    for (Index i = n_; i < padded(n_); ++i) {
        halves_[i] = T(0);
        wide_halves_[i] = 0.0;
        T* panel = panels_.data() + (i / panel_rows) * d_ * panel_rows + i % panel_rows;
        for (Index k = 0; k < d_; ++k) panel[k * panel_rows] = T(0);
    }
}

namespace {

template <class T>
void tile_of(const KernelShape& shape, const PackedRows<T>& data, const Index* indices, Index count,
             const Panels<T>& panels, Index panel_begin, Index panel_end, T* const* out) {
    const Index d = data.n_features();
    Array<T> queries(count * d), halves(count);
    for (Index q = 0; q < count; ++q) {
        std::copy_n(data.row(indices[q]), d, queries.data() + q * d);
        halves[q] = static_cast<T>(data.half(indices[q]));
    }
    hot_loops<T>().tile(shape, {queries.data(), halves.data(), nullptr, count}, panels, panel_begin, panel_end, out);
}

template <class T>
class ComputedColumns final : public ColumnSource<T> {
public:
    ComputedColumns(const KernelShape& shape, const PackedRows<T>& data, const Array<Index>& selection, Pool& pool)
        : shape_(shape), data_(data), selected_(data, selection, pool) {}

    void fill(const Index* indices, Index count, Index begin, Index end, T* const* out) const override {
        tile_of(shape_, data_, indices, count, selected_.panels(), begin / panel_rows, end / panel_rows, out);
    }

private:
    const KernelShape& shape_;
    const PackedRows<T>& data_;
    const PackedRows<T> selected_;
};

// Whole rows are asked for and thinned out.
template <class T>
class ThinnedColumns final : public ColumnSource<T> {
public:
    ThinnedColumns(const RowSource<T>& source, const Array<Index>& selection)
        : source_(source), selection_(selection) {}

    void fill(const Index* indices, Index count, Index begin, Index end, T* const* out) const override {
        const Index width = padded(source_.size());
        Array<T> rows(count * width);
        Array<T*> targets(count);
        for (Index q = 0; q < count; ++q) targets[q] = rows.data() + q * width;
        source_.fill(indices, count, 0, width, targets.data());
        for (Index q = 0; q < count; ++q)
            for (Index c = begin; c < std::min(end, selection_.size()); ++c) out[q][c] = targets[q][selection_[c]];
    }

private:
    const RowSource<T>& source_;
    const Array<Index>& selection_;
};

template <class T>
class MatrixColumns final : public ColumnSource<T> {
public:
    MatrixColumns(const MatrixRows<T>& source, const Array<Index>& selection) : source_(source) {
        columns_.reserve(selection.size());
        for (Index c : selection) columns_.push_back(source.at(c));
    }

    void fill(const Index* indices, Index count, Index begin, Index end, T* const* out) const override {
        for (Index q = 0; q < count; ++q) {
            const T* row = source_.stored(indices[q]);
            for (Index c = begin; c < std::min(end, columns_.size()); ++c) out[q][c] = row[columns_[c]];
        }
    }

private:
    const MatrixRows<T>& source_;
    Array<Index> columns_;
};

}  // namespace

template <class T>
void ComputedRows<T>::fill(const Index* indices, Index count, Index begin, Index end, T* const* out) const {
    tile_of(shape_, data_, indices, count, data_.panels(), begin / panel_rows, end / panel_rows, out);
}

template <class T>
std::unique_ptr<ColumnSource<T>> ComputedRows<T>::columns(const Array<Index>& selection) const {
    return std::make_unique<ComputedColumns<T>>(shape_, data_, selection, pool_);
}

template <class T>
std::unique_ptr<RowSource<T>> ComputedRows<T>::subset(const Array<Index>& selection) const {
    return std::make_unique<ComputedRows<T>>(*this, selection);
}

template <class T>
void MatrixRows<T>::fill(const Index* indices, Index count, Index begin, Index end, T* const* out) const {
    const Index last = std::min(end, n_);
    for (Index q = 0; q < count; ++q) {
        const T* row = stored(indices[q]);
        for (Index j = begin; j < last; ++j) out[q][j] = row[at(j)];
        for (Index j = std::max(begin, n_); j < end; ++j) out[q][j] = T(0);
    }
}

template <class T>
std::unique_ptr<ColumnSource<T>> MatrixRows<T>::columns(const Array<Index>& selection) const {
    return std::make_unique<MatrixColumns<T>>(*this, selection);
}

// A small part is copied, so that its entries need to be collected once only.
template <class T>
std::unique_ptr<RowSource<T>> MatrixRows<T>::subset(const Array<Index>& selection) const {
    constexpr Index largest_copy = 4096;
    const Index n = selection.size();
    if (n <= largest_copy) {
        const Index stride = padded_stride(n);
        Buffer<T> copy(n * stride);
        const MatrixColumns<T> columns(*this, selection);
        for (Index q = 0; q < n; ++q) {
            T* row = copy.data() + q * stride;
            columns.fill(&selection[q], 1, 0, n, &row);
            std::fill(row + n, row + stride, T(0));
        }
        return std::make_unique<MatrixRows<T>>(std::move(copy), stride, n);
    }
    Array<Index> view;
    view.reserve(selection.size());
    for (Index i : selection) view.push_back(at(i));
    return std::make_unique<MatrixRows<T>>(matrix_, stride_, std::move(view), n);
}

template <class T>
void RequestedRows<T>::fill(const Index* indices, Index count, Index, Index end, T* const* out) const {
    Array<T> rows(count * n_);
    request_(indices, count, rows.data());
    for (Index q = 0; q < count; ++q) {
        std::copy_n(rows.data() + q * n_, n_, out[q]);
        std::fill(out[q] + n_, out[q] + std::max(end, n_), T(0));
    }
}

template <class T>
std::unique_ptr<ColumnSource<T>> RequestedRows<T>::columns(const Array<Index>& selection) const {
    return std::make_unique<ThinnedColumns<T>>(*this, selection);
}

template <class T>
std::unique_ptr<RowSource<T>> RequestedRows<T>::subset(const Array<Index>& selection) const {
    auto request = [this, selection](const Index* indices, Index count, T* out) {
        Array<Index> rows(count);
        Array<T*> targets(count);
        for (Index q = 0; q < count; ++q) {
            rows[q] = selection[indices[q]];
            targets[q] = out + q * selection.size();
        }
        ThinnedColumns<T>(*this, selection).fill(rows.data(), count, 0, selection.size(), targets.data());
    };
    return std::make_unique<RequestedRows<T>>(request, selection.size());
}

template <class T>
void kernel_matrix(const KernelShape& shape, const PackedRows<T>& left, const PackedRows<T>& right, T* values,
                   Index stride, Pool& pool) {
    constexpr Index group = 2 * query_group;
    const Index n = left.size(), m = right.size(), width = padded(m);
    pool.run((n + group - 1) / group, [&](Index task) {
        const Index first = task * group, count = std::min(group, n - first);
        Array<T> buffer;
        T* targets[group];
        const bool direct = width <= stride;  // rows that are not whole panels go through a buffer
        if (!direct) buffer.resize(count * width);
        for (Index q = 0; q < count; ++q)
            targets[q] = direct ? values + (first + q) * stride : buffer.data() + q * width;
        hot_loops<T>().tile(shape, left.query(first, count), right.panels(), 0, width / panel_rows, targets);
        for (Index q = 0; q < count; ++q) {
            T* row = values + (first + q) * stride;
            if (!direct) std::copy_n(targets[q], m, row);
            std::fill(row + m, row + stride, T(0));
        }
    });
}

namespace {

template <class T>
void fill_tile(const KernelShape& shape, const Queries<T>& queries, const Panels<T>& data, Index begin, Index end,
               T* const* out) {
    hot_loops<T>().tile(shape, queries, data, begin, end, out);
}
void fill_tile(const KernelShape& shape, const Queries<float>& queries, const Panels<float>& data, Index begin,
               Index end, double* const* out) {
    hot_loops<float>().wide_tile(shape, queries, data, begin, end, out);
}

// Kernel values are of type V.
template <class V, class T>
void sum_products(const KernelShape& shape, const PackedRows<T>& left, const PackedRows<T>& right,
                  const double* coefficients, Index n_coefficients, const Array<Index>& ends, double* sums,
                  Pool& pool) {
    constexpr Index group = query_group, chunk = 32 * panel_rows;
    const Index n = left.size(), m = right.size();
    const Index n_segments = ends.size() - 1, stride = n_segments * n_coefficients;
    std::fill_n(sums, n * stride, 0.0);
    pool.run((n + group - 1) / group, [&](Index task) {
        const Index first = task * group, count = std::min(group, n - first);
        Array<V> buffer(group * chunk);
        V* targets[group];
        const V* rows[group];
        for (Index begin = 0; begin < m; begin += chunk) {
            const Index end = std::min(m, begin + chunk);
            for (Index q = 0; q < count; ++q) targets[q] = buffer.data() + q * chunk - begin;
            fill_tile(shape, left.query(first, count), right.panels(), begin / panel_rows, padded(end) / panel_rows,
                      targets);
            for (Index s = 0; s < n_segments; ++s) {
                const Index from = std::max(begin, ends[s]);
                const Index to = std::min(end, ends[s + 1]);
                if (from >= to) continue;
                for (Index q = 0; q < count; ++q) rows[q] = buffer.data() + q * chunk + (from - begin);
                hot_loops<V>().dot_rows(rows, count, coefficients, n_coefficients, m, from, to,
                                        sums + first * stride + s * n_coefficients, stride);
            }
        }
    });
}

}  // namespace

template <class T>
void kernel_products(const KernelShape& shape, const PackedRows<T>& left, const PackedRows<T>& right,
                     const double* coefficients, Index n_coefficients, const Array<Index>& ends, bool wide,
                     double* sums, Pool& pool) {
    if (wide) sum_products<double>(shape, left, right, coefficients, n_coefficients, ends, sums, pool);
    else sum_products<T>(shape, left, right, coefficients, n_coefficients, ends, sums, pool);
}

template class PackedRows<float>;
template class PackedRows<double>;
template class ComputedRows<float>;
template class ComputedRows<double>;
template class MatrixRows<float>;
template class MatrixRows<double>;
template class RequestedRows<float>;
template class RequestedRows<double>;
template void kernel_matrix(const KernelShape&, const PackedRows<float>&, const PackedRows<float>&, float*, Index,
                            Pool&);
template void kernel_matrix(const KernelShape&, const PackedRows<double>&, const PackedRows<double>&, double*, Index,
                            Pool&);

template void kernel_products(const KernelShape&, const PackedRows<float>&, const PackedRows<float>&, const double*,
                              Index, const Array<Index>&, bool, double*, Pool&);
template void kernel_products(const KernelShape&, const PackedRows<double>&, const PackedRows<double>&, const double*,
                              Index, const Array<Index>&, bool, double*, Pool&);

}  // namespace mercer
