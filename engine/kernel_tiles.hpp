// Kernel values in register tiles, and sums of kernel rows. Included by hot_loops.cpp only.
#pragma once

#include <cmath>

#include "hot_loops.hpp"
#include "vectors.hpp"

namespace mercer {
namespace {  // internal linkage: each instruction set must keep its own copy

template <class T>
constexpr int panel_vectors = panel_rows / lanes<T>;

template <class T>
Vector<T> integer_power(Vector<T> base, int degree) {
    Vector<T> result = fill(T(1));
    for (; degree > 0; degree >>= 1) {
        if (degree & 1) result = result * base;
        base = base * base;
    }
    return result;
}

// From the accumulated number to the kernel value.
template <Family F, class T>
Vector<T> finish(Vector<T> sum, const KernelShape& shape) {
    const Vector<T> zero = fill(T(0)), one = fill(T(1));
    Vector<T> value = sum;
    if constexpr (F == Family::rbf) value = exponential(smaller(sum, zero));
    if constexpr (F == Family::rbf_by_difference) value = exponential(sum * fill(T(-0.5)));
    if constexpr (F == Family::laplacian) value = exponential(-sum);
    if constexpr (F == Family::euclidean_laplacian) value = exponential(-square_root<T>(sum));
    if constexpr (F == Family::polynomial)
        value = integer_power<T>(sum * fill(T(shape.gamma)) + fill(T(shape.coef0)), shape.degree);
    if constexpr (F == Family::sigmoid) {
        const Vector<T> z = sum * fill(T(shape.gamma)) + fill(T(shape.coef0));
        value = one - fill(T(2)) / (exponential(z + z) + one);
    }
    return value * fill(T(shape.factor));
}

// What one feature of two points adds to the sum.
template <Family F, class T>
Vector<T> accumulate(Vector<T> sum, Vector<T> x, Vector<T> y) {
    const Vector<T> difference = x - y;
    if constexpr (F == Family::laplacian) return sum + larger(difference, -difference);
    if constexpr (F == Family::euclidean_laplacian || F == Family::rbf_by_difference) return sum + difference * difference;
    return sum + x * y;
}

// Q queries against W vectors of the data, all sums in registers. The vectors are `first` and those behind it:
// a part of a panel, or whole panels.
template <Family F, class T, int Q, int W>
void micro_tile(const KernelShape& shape, const T* queries, const T* query_halves, const Panels<T>& data,
                std::int64_t first, T* const* out) {
    constexpr int V = panel_vectors<T>;
    const std::int64_t d = data.n_features, column = first * lanes<T>;
    Vector<T> sum[Q][W];
    for (int q = 0; q < Q; ++q)
        for (int v = 0; v < W; ++v)
            sum[q][v] = F == Family::rbf ? -(fill(query_halves[q]) + load(data.halves + column + v * lanes<T>)) : fill(T(0));
    const T* base = data.values + first / V * d * panel_rows + first % V * lanes<T>;
    for (std::int64_t k = 0; k < d; ++k) {
        Vector<T> x[W];
        for (int v = 0; v < W; ++v) x[v] = load(base + (v / V * d + k) * panel_rows + v % V * lanes<T>);
        for (int q = 0; q < Q; ++q) {
            const Vector<T> y = fill(queries[q * d + k]);
            for (int v = 0; v < W; ++v) sum[q][v] = accumulate<F, T>(sum[q][v], x[v], y);
        }
    }
    for (int q = 0; q < Q; ++q)
        for (int v = 0; v < W; ++v) store(out[q] + column + v * lanes<T>, finish<F, T>(sum[q][v], shape));
}

template <Family F, class T, int Q>
void panel_strip(const KernelShape& shape, const T* queries, const T* query_halves, const Panels<T>& data,
                 std::int64_t begin, std::int64_t end, T* const* out) {
    constexpr int W = registers.vectors, V = panel_vectors<T>;
    std::int64_t first = begin * V;
    for (; first + W <= end * V; first += W) micro_tile<F, T, Q, W>(shape, queries, query_halves, data, first, out);
    if constexpr (W > V)  // a panel left over
        for (; first < end * V; first += V) micro_tile<F, T, Q, V>(shape, queries, query_halves, data, first, out);
}

template <Family F, class T>
void family_tile(const KernelShape& shape, const Queries<T>& queries, const Panels<T>& data,
                 std::int64_t begin, std::int64_t end, T* const* out) {
    constexpr int Q = registers.queries;
    // A strip of panels that stays in the second-level cache while all queries pass over it.
    const std::int64_t wanted = (1 << 17) / (static_cast<std::int64_t>(sizeof(T)) * panel_rows * (data.n_features + 1));
    const std::int64_t strip = wanted < 2 ? 2 : wanted;
    for (std::int64_t first = begin; first < end; first += strip) {
        const std::int64_t last = first + strip < end ? first + strip : end;
        std::int64_t q = 0;
        for (; q + Q <= queries.count; q += Q)
            panel_strip<F, T, Q>(shape, queries.values + q * data.n_features, queries.halves + q, data, first, last, out + q);
        for (; q + 4 <= queries.count; q += 4)
            panel_strip<F, T, 4>(shape, queries.values + q * data.n_features, queries.halves + q, data, first, last, out + q);
        for (; q < queries.count; ++q)
            panel_strip<F, T, 1>(shape, queries.values + q * data.n_features, queries.halves + q, data, first, last, out + q);
    }
}

template <class T>
void tile(const KernelShape& shape, const Queries<T>& queries, const Panels<T>& data, std::int64_t begin,
          std::int64_t end, T* const* out) {
    switch (shape.family) {
        case Family::linear: return family_tile<Family::linear>(shape, queries, data, begin, end, out);
        case Family::polynomial: return family_tile<Family::polynomial>(shape, queries, data, begin, end, out);
        case Family::rbf: return family_tile<Family::rbf>(shape, queries, data, begin, end, out);
        case Family::laplacian: return family_tile<Family::laplacian>(shape, queries, data, begin, end, out);
        case Family::euclidean_laplacian:
            return family_tile<Family::euclidean_laplacian>(shape, queries, data, begin, end, out);
        case Family::sigmoid: return family_tile<Family::sigmoid>(shape, queries, data, begin, end, out);
        case Family::rbf_by_difference:
            return family_tile<Family::rbf_by_difference>(shape, queries, data, begin, end, out);
    }
}

// Four rows at a time, so that the running sum travels to the first-level cache once for four products.
template <class T>
void add_rows(const T* const* rows, const double* weights, std::int64_t count, std::int64_t begin,
              std::int64_t end, double* sum) {
    std::int64_t q = 0;
    for (; q + 4 <= count; q += 4) {
        const T *a = rows[q], *b = rows[q + 1], *c = rows[q + 2], *e = rows[q + 3];
        const double wa = weights[q], wb = weights[q + 1], wc = weights[q + 2], we = weights[q + 3];
        for (std::int64_t i = begin; i < end; ++i)
            sum[i] += (wa * double(a[i]) + wb * double(b[i])) + (wc * double(c[i]) + we * double(e[i]));
    }
    for (; q < count; ++q) {
        const T* a = rows[q];
        const double wa = weights[q];
        for (std::int64_t i = begin; i < end; ++i) sum[i] += wa * double(a[i]);
    }
}

// Q rows against one coefficient vector, which is loaded once for all of them.
template <class T, int Q>
void dot_strip(const T* const* rows, const T* coefficients, std::int64_t length, double* out, std::int64_t out_stride) {
    Vector<T> sum[Q];
    for (int q = 0; q < Q; ++q) sum[q] = fill(T(0));
    std::int64_t i = 0;
    for (; i + lanes<T> <= length; i += lanes<T>) {
        const Vector<T> c = load(coefficients + i);
        for (int q = 0; q < Q; ++q) sum[q] = sum[q] + c * load(rows[q] + i);
    }
    for (int q = 0; q < Q; ++q) {
        double total = double(horizontal_sum<T>(sum[q]));
        for (std::int64_t k = i; k < length; ++k) total += double(coefficients[k]) * double(rows[q][k]);
        out[q * out_stride] += total;
    }
}

template <class T>
void dot_rows(const T* const* rows, std::int64_t count, const T* coefficients, std::int64_t n_coefficients, std::int64_t stride,
              std::int64_t begin, std::int64_t end, double* out, std::int64_t out_stride) {
    constexpr int Q = 8;
    for (std::int64_t r = 0; r < n_coefficients; ++r) {
        const T* vector = coefficients + r * stride + begin;
        std::int64_t q = 0;
        for (; q + Q <= count; q += Q) dot_strip<T, Q>(rows + q, vector, end - begin, out + q * out_stride + r, out_stride);
        for (; q < count; ++q) dot_strip<T, 1>(rows + q, vector, end - begin, out + q * out_stride + r, out_stride);
    }
}

}  // namespace
}  // namespace mercer
