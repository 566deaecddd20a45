// Sums of rows and products with rows, against loops.
#pragma once

#include "checking.hpp"

namespace check {

// Row pointers to separate arrays, each exactly as long as promised.
template <class T>
struct Rows {
    std::vector<std::vector<T>> values;
    std::vector<const T*> pointers;

    Rows(Index count, Index length, Random& random, double scale) {
        for (Index q = 0; q < count; ++q) values.push_back(random.normals<T>(length, scale));
        for (const auto& row : values) pointers.push_back(row.data());
    }
};

// sum[i] is one sum of count + 1 numbers in double: |error| <= (count + 2) u (|sum| + sum|w r|), u that of double.
template <class T>
void check_add_rows(const mercer::HotLoops<T>& loops, Index count, Index begin, Index end, double scale,
                    Random& random) {
    const Rows<T> rows(count, end, random, scale);
    const auto weights = random.normals<double>(count, 3.0), before = random.normals<double>(end + 20);
    Guarded<double> sum(end + 20);
    for (Index i = 0; i < end + 20; ++i) sum[i] = before[std::size_t(i)];
    loops.add_rows(rows.pointers.data(), weights.data(), count, begin, end, sum.data());
    for (Index i = 0; i < end + 20; ++i) {
        Widest value = before[std::size_t(i)], size = std::fabs(value);
        if (i >= begin && i < end)
            for (std::size_t q = 0; q < std::size_t(count); ++q) {
                const Widest product = Widest(weights[q]) * rows.values[q][std::size_t(i)];
                value += product;
                size += std::fabs(product);
            }
        const Widest error = i >= begin && i < end ? Widest(count + 2) * unit<double> * size : 0;
        expect(Interval<double>::around(value - error, value + error).has(sum[i]),
               "add_rows %s, %d rows, [%d, %d): entry %d is %.17g, not %.17Lg", name<T>(), int(count), int(begin),
               int(end), int(i), sum[i], value);
    }
    expect(sum.intact(), "add_rows %s writes outside the sum", name<T>());
}

// Products are summed in any order, and then added: |error| <= (length + 1) u sum|c r| + u |out|.
template <class T>
void check_dot_rows(const mercer::HotLoops<T>& loops, Index count, Index n_coefficients, Index begin, Index length,
                    double scale, Random& random) {
    const Index end = begin + length, stride = end + 3, out_stride = n_coefficients + 2;
    const Rows<T> rows(count, length, random, scale);
    const auto coefficients = random.normals<double>((n_coefficients - 1) * stride + end);
    const auto before = random.normals<double>(count * out_stride);
    Guarded<double> out(count * out_stride);
    for (Index i = 0; i < count * out_stride; ++i) out[i] = before[std::size_t(i)];
    loops.dot_rows(rows.pointers.data(), count, coefficients.data(), n_coefficients, stride, begin, end, out.data(),
                   out_stride);
    for (Index i = 0; i < count * out_stride; ++i) {
        const Index q = i / out_stride, r = i % out_stride;
        Widest value = before[std::size_t(i)], size = 0;
        for (Index k = 0; k < length && r < n_coefficients; ++k) {
            const double c = coefficients[std::size_t(r * stride + begin + k)];
            const Widest product = Widest(c) * rows.values[std::size_t(q)][std::size_t(k)];
            value += product;
            size += std::fabs(product);
        }
        const Widest sum = Widest(length + 1) * unit<double> * size + Widest(length) * grain<double>;
        const Widest error = r < n_coefficients ? sum + 2 * unit<double> * (std::fabs(value) + size) : 0;
        expect(Interval<double>::around(value - error, value + error).has(out[i]),
               "dot_rows %s, %d rows, %d coefficients, [%d, %d): entry %d is %.17g, not %.17Lg", name<T>(), int(count),
               int(n_coefficients), int(begin), int(end), int(i), out[i], value);
    }
    expect(out.intact(), "dot_rows %s writes outside the result", name<T>());
}

template <class T>
void check_sums(const mercer::HotLoops<T>& loops) {
    Random random(2);
    for (double scale : {1.0, sizeof(T) == 4 ? 1e-38 : 1e-300, 1e20}) {
        if (brief && scale != 1.0) continue;
        for (Index count = 0; count <= 19; ++count)
            for (Index begin : {0, 1, 5, 16, 33})
                for (Index length : {0, 1, 2, 7, 8, 15, 16, 17, 31, 48, 67, 150}) {
                    if (count <= 9) check_add_rows(loops, count, begin, begin + length, scale, random);
                    check_dot_rows(loops, count, 1 + (count + length) % 3, begin, length, scale, random);
                }
    }
}

}  // namespace check
