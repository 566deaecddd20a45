#include "bounded_start.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hot_loops.hpp"

namespace mercer {

namespace {

constexpr double sum_rounding = 1e-10;  // errors of sums, relative to what is summed

// What to take from a variable of this size, of an amount that may reach it in part only. Rounding must not leave a
// variable beside its bound: it would count as one between them.
double taken(double amount, double size) {
    if (amount < sum_rounding * size) return 0.0;
    return amount > (1.0 - sum_rounding) * size ? size : amount;
}

// images += K weights.
template <class T>
void add_images(const StoredRows<T>& kernel, const Array<double>& weights, double* images) {
    Array<const T*> rows;
    Array<double> own;
    for (Index i = 0; i < kernel.n; ++i) {
        if (weights[i] == 0.0) continue;
        rows.push_back(kernel.values + i * kernel.stride);
        own.push_back(weights[i]);
    }
    hot_loops<T>().add_rows(rows.data(), own.data(), rows.size(), 0, kernel.n, images);
}

}  // namespace

template <class T>
bool release_excess(const StoredRows<T>& kernel, Index most, double* beta, double* image) {
    const Index n = kernel.n;
    const double excess = std::accumulate(beta, beta + n, 0.0), side = excess < 0.0 ? -1.0 : 1.0;
    Array<Index> larger;
    for (Index i = 0; i < n; ++i)
        if (side * beta[i] > 0.0) larger.push_back(i);
    const auto is_farther = [&](Index i, Index j) {
        return image[i] != image[j] ? side * image[i] > side * image[j] : i < j;
    };
    const Index count = std::min(most, larger.size());
    std::partial_sort(larger.begin(), larger.begin() + count, larger.end(), is_farther);
    Array<double> changes(n, 0.0), images(n, 0.0);
    double left = std::abs(excess);
    for (Index k = 0; k < count && left > 0.0; ++k) {
        const Index i = larger[k];
        const double size = std::abs(beta[i]), step = taken(left, size);
        left -= size;
        changes[i] = -side * step;
    }
    add_images(kernel, changes, images.data());
    double sum = 0.0, size = 0.0, curvature = 0.0;
    for (Index i = 0; i < n; ++i) {
        beta[i] += changes[i];
        image[i] += images[i];
        sum += beta[i];
        size += std::abs(beta[i]);
        curvature += beta[i] * image[i];
    }
    return std::abs(sum) <= sum_rounding * size && curvature <= size;
}

template bool release_excess<float>(const StoredRows<float>&, Index, double*, double*);
template bool release_excess<double>(const StoredRows<double>&, Index, double*, double*);

}  // namespace mercer
