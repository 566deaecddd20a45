// Kernel values in register tiles, and sums of kernel rows. Included by hot_loops.cpp only.
#pragma once

#include <cmath>

#include "hot_loops.hpp"
#include "vectors.hpp"

namespace mercer {
namespace {  // internal linkage: each instruction set must keep its own copy

template <class T>
constexpr int panel_vectors = panel_rows / lanes<T>;

// The halves of squared norms in the precision of the result.
template <class Out, template <class> class Side, class T>
const Out* halves_of(const Side<T>& side) {
    if constexpr (std::is_same_v<Out, T>) return side.halves;
    else return side.wide_halves;
}

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
    if constexpr (F == Family::euclidean_laplacian || F == Family::rbf_by_difference)
        return sum + difference * difference;
    return sum + x * y;
}

// From sums to kernel values; the halves of the squared norms are still missing where double follows from float.
template <Family F, class T>
void finish_sums(const KernelShape& shape, Vector<T> sum, T, const T*, T* out) {
    store(out, finish<F, T>(sum, shape));
}
template <Family F>
void finish_sums(const KernelShape& shape, Vector<float> sum, double query_half, const double* halves, double* out) {
    for (int half = 0; half < 2; ++half) {
        const int first = half * lanes<double>;
        Vector<double> wide = widened(sum, half);
        if constexpr (F == Family::rbf) wide = wide - (fill(query_half) + load(halves + first));
        store(out + first, finish<F, double>(wide, shape));
    }
}

// Q queries against W vectors of the data, all sums in registers. The vectors are `first` and those behind it:
// a part of a panel, or whole panels. Sums of float may end in double: the exponent of a Gaussian is then put
// together in double precision.
template <Family F, class T, class Out, int Q, int W>
void micro_tile(const KernelShape& shape, const T* queries, const Out* query_halves, const Panels<T>& data,
                std::int64_t first, Out* const* out) {
    constexpr int V = panel_vectors<T>;
    const std::int64_t d = data.n_features, column = first * lanes<T>;
    Vector<T> sum[Q][W];
    for (int q = 0; q < Q; ++q)
        for (int v = 0; v < W; ++v)
            if constexpr (F == Family::rbf && std::is_same_v<Out, T>)
                sum[q][v] = -(fill(query_halves[q]) + load(data.halves + column + v * lanes<T>));
            else sum[q][v] = fill(T(0));
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
        for (int v = 0; v < W; ++v) {
            const std::int64_t at = column + v * lanes<T>;
            finish_sums<F>(shape, sum[q][v], query_halves[q], halves_of<Out>(data) + at, out[q] + at);
        }
}

template <Family F, class T, class Out, int Q>
void panel_strip(const KernelShape& shape, const Queries<T>& queries, std::int64_t q, const Panels<T>& data,
                 std::int64_t begin, std::int64_t end, Out* const* out) {
    constexpr int W = registers.vectors, V = panel_vectors<T>;
    const T* values = queries.values + q * data.n_features;
    const Out* halves = halves_of<Out>(queries) + q;
    std::int64_t first = begin * V;
    for (; first + W <= end * V; first += W) micro_tile<F, T, Out, Q, W>(shape, values, halves, data, first, out + q);
    if constexpr (W > V)  // a panel left over
        for (; first < end * V; first += V) micro_tile<F, T, Out, Q, V>(shape, values, halves, data, first, out + q);
}

template <Family F, class T, class Out>
void family_tile(const KernelShape& shape, const Queries<T>& queries, const Panels<T>& data, std::int64_t begin,
                 std::int64_t end, Out* const* out) {
    constexpr int Q = registers.queries;
    // A strip of panels that stays in the second-level cache while all queries pass over it.
    const std::int64_t wanted = (1 << 17) / (static_cast<std::int64_t>(sizeof(T)) * panel_rows * (data.n_features + 1));
    const std::int64_t strip = wanted < 2 ? 2 : wanted;
    for (std::int64_t first = begin; first < end; first += strip) {
        const std::int64_t last = first + strip < end ? first + strip : end;
        std::int64_t q = 0;
        for (; q + Q <= queries.count; q += Q) panel_strip<F, T, Out, Q>(shape, queries, q, data, first, last, out);
        for (; q + 4 <= queries.count; q += 4) panel_strip<F, T, Out, 4>(shape, queries, q, data, first, last, out);
        for (; q < queries.count; ++q) panel_strip<F, T, Out, 1>(shape, queries, q, data, first, last, out);
    }
}

template <class T, class Out>
void tile(const KernelShape& shape, const Queries<T>& queries, const Panels<T>& data, std::int64_t begin,
          std::int64_t end, Out* const* out) {
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
void add_rows(const T* const* rows, const double* weights, std::int64_t count, std::int64_t begin, std::int64_t end,
              double* sum) {
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

// Q rows against R vectors of coefficients, all sums in registers and in double precision.
template <class T, int Q, int R>
void dot_tile(const T* const* rows, const double* coefficients, std::int64_t stride, std::int64_t length, double* out,
              std::int64_t out_stride) {
    Vector<double> sum[Q][R];
    for (auto& row : sum)
        for (auto& one : row) one = fill(0.0);
    std::int64_t i = 0;
    for (; i + lanes<double> <= length; i += lanes<double>) {
        Vector<double> c[R];
        for (int r = 0; r < R; ++r) c[r] = load(coefficients + r * stride + i);
        for (int q = 0; q < Q; ++q) {
            const Vector<double> value = load_double(rows[q] + i);
            for (int r = 0; r < R; ++r) sum[q][r] = sum[q][r] + c[r] * value;
        }
    }
    for (int q = 0; q < Q; ++q)
        for (int r = 0; r < R; ++r) {
            double total = horizontal_sum<double>(sum[q][r]);
            for (std::int64_t k = i; k < length; ++k) total += coefficients[r * stride + k] * double(rows[q][k]);
            out[q * out_stride + r] += total;
        }
}

template <class T, int R>
void dot_strip(const T* const* rows, std::int64_t count, const double* coefficients, std::int64_t stride,
               std::int64_t length, double* out, std::int64_t out_stride) {
    constexpr int Q = 8 / R;
    std::int64_t q = 0;
    for (; q + Q <= count; q += Q)
        dot_tile<T, Q, R>(rows + q, coefficients, stride, length, out + q * out_stride, out_stride);
    for (; q < count; ++q) dot_tile<T, 1, R>(rows + q, coefficients, stride, length, out + q * out_stride, out_stride);
}

template <class T>
void dot_rows(const T* const* rows, std::int64_t count, const double* coefficients, std::int64_t n_coefficients,
              std::int64_t stride, std::int64_t begin, std::int64_t end, double* out, std::int64_t out_stride) {
    const double* from = coefficients + begin;
    std::int64_t r = 0;
    for (; r + 2 <= n_coefficients; r += 2)
        dot_strip<T, 2>(rows, count, from + r * stride, stride, end - begin, out + r, out_stride);
    if (r < n_coefficients) dot_strip<T, 1>(rows, count, from + r * stride, stride, end - begin, out + r, out_stride);
}

}  // namespace
}  // namespace mercer
