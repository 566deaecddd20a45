// Kernel values against the formulas.
//
// Bounds, with u = unit<T>, the error of one rounding. A sum of d products in any order, fused or not,
// meets each product at most d + 1 times with a rounding: |error| <= (d + 1) u sum|x y|, and `grain` for each
// product that is denormal. What follows the sum is rounded in the precision of the result, Out. An exponent
// that is off by delta changes the value by the factor exp(delta);
// the exponential itself is allowed `exp_roundings` units. Exponents are held at the smallest normal number, so that
// values below 2 `least` are as good as 0.
#pragma once

#include "checking.hpp"

namespace check {

using mercer::Family;
using mercer::KernelShape;

constexpr int exp_roundings = 4;
constexpr Index most_queries = 20, most_panels = 6;
constexpr const char* family_names[] = {"linear",  "polynomial",       "rbf", "laplacian", "euclidean_laplacian",
                                        "sigmoid", "rbf_by_difference"};

// Points on both sides of a tile, and the kernel of their rows.
template <class T>
struct Points {
    Index d;
    std::vector<T> queries, panels, query_halves, panel_halves;
    std::vector<double> wide_query_halves, wide_panel_halves;

    Points(Index d, double scale, Random& random)
        : d(d),
          queries(random.normals<T>(most_queries * d, scale)),
          panels(random.normals<T>(most_panels * panel_rows * d, scale)) {
        if (d > 0) panels[0] = queries[0];  // column 0 is near query 0, and equal to it where d = 1
        for (Index q = 0; q < most_queries; ++q) wide_query_halves.push_back(half([&](Index k) { return x(q, k); }));
        for (Index c = 0; c < most_panels * panel_rows; ++c)
            wide_panel_halves.push_back(half([&](Index k) { return y(c, k); }));
        for (double value : wide_query_halves) query_halves.push_back(T(value));
        for (double value : wide_panel_halves) panel_halves.push_back(T(value));
    }
    T x(Index q, Index k) const { return queries[std::size_t(q * d + k)]; }
    T y(Index c, Index k) const { return panels[std::size_t((c / panel_rows * d + k) * panel_rows + c % panel_rows)]; }
    template <class Value>
    double half(Value value) const {
        Widest sum = 0;
        for (Index k = 0; k < d; ++k) sum += Widest(value(k)) * value(k);
        return double(sum / 2);
    }
};

// What a query and a column have in common, for every kernel: sums over the features.
template <class W>
struct Sums {
    W product = 0, sizes = 0, squares = 0, absolute = 0;
};

constexpr Index width = most_panels * panel_rows;

// Those of all pairs. Made once for all kernels, because wide numbers are slow where no processor knows them.
template <class W, class T>
std::vector<Sums<W>> sums_of(const Points<T>& p) {
    std::vector<Sums<W>> all(std::size_t(most_queries * width));
    for (Index q = 0; q < most_queries; ++q)
        for (Index c = 0; c < width; ++c)
            for (Index k = 0; k < p.d; ++k) {
                Sums<W>& sums = all[std::size_t(q * width + c)];
                const W x = p.x(q, k), y = p.y(c, k);
                sums.product += x * y;
                sums.sizes += std::fabs(x * y);
                sums.squares += (x - y) * (x - y);
                sums.absolute += std::fabs(x - y);
            }
    return all;
}

template <class T>
struct Bounds {
    Wide<T> low, high;
};

// All numbers that exp(exponent +- delta) may be, in units of the factor.
template <class T>
Bounds<T> exp_bounds(Wide<T> exponent, Wide<T> delta) {
    const Wide<T> own = exp_roundings * unit<T>, top = exponent + delta < 0 ? exponent + delta : 0;
    return {std::exp(exponent - delta) * (1 - own) - 2 * least<T>, std::exp(top) * (1 + own) + 2 * least<T>};
}

// The values that query q and column c may have, without the factor.
template <class T, class Out>
Bounds<Out> expected(const KernelShape& shape, const Points<T>& p, const Sums<Wide<Out>>& sums, Index q, Index c) {
    using W = Wide<Out>;
    const W product = sums.product, sizes = sums.sizes, squares = sums.squares, absolute = sums.absolute;
    const W roundings = W(p.d + 4) * unit<T>, lost = W(p.d + 1) * grain<T>, more = 4 * unit<Out>;
    const W gamma = Out(shape.gamma), coef0 = Out(shape.coef0), z = gamma * product + coef0;
    const W z_error =
        (roundings + more) * std::fabs(gamma) * sizes + more * std::fabs(coef0) + lost * (1 + std::fabs(gamma));
    switch (shape.family) {
        case Family::linear: return {product - roundings * sizes - lost, product + roundings * sizes + lost};
        case Family::rbf: {
            const bool wide = sizeof(Out) > sizeof(T);  // the halves do not take part in the sum then
            const W halves = wide ? W(p.wide_query_halves[std::size_t(q)]) + p.wide_panel_halves[std::size_t(c)]
                                  : W(p.query_halves[std::size_t(q)]) + p.panel_halves[std::size_t(c)];
            const W exponent = product - halves < 0 ? product - halves : 0;
            return exp_bounds<Out>(exponent, (wide ? more : roundings) * halves + roundings * sizes + lost);
        }
        case Family::rbf_by_difference: return exp_bounds<Out>(-squares / 2, roundings * squares / 2 + lost);
        case Family::laplacian: return exp_bounds<Out>(-absolute, roundings * absolute);
        case Family::euclidean_laplacian:
            return exp_bounds<Out>(-std::sqrt(squares), roundings * std::sqrt(squares) + std::sqrt(lost));
        case Family::polynomial: {
            const W value = std::pow(z, W(shape.degree)), size = std::fabs(z) + z_error;
            const W largest = std::pow(size, W(shape.degree)) * (1 + 2 * shape.degree * unit<Out>);
            const W error = largest - std::fabs(value);
            return {value - error - lost, value + error + lost};
        }
        default:  // 1 - 2 / (exp(2 z) + 1): four more roundings of numbers of at most 2, and the exponential
            return {std::tanh(z - z_error) - 8 * unit<Out>, std::tanh(z + z_error) + 8 * unit<Out>};
    }
}

// With the factor, which is rounded once, and so is the product.
template <class T>
Interval<T> scaled(const KernelShape& shape, Bounds<T> value) {
    const Wide<T> factor = T(shape.factor), more = 1 + 2 * unit<T>;
    const Wide<T> low = factor * (factor > 0 ? value.low : value.high),
                  high = factor * (factor > 0 ? value.high : value.low);
    return Interval<T>::around(low > 0 ? low / more : low * more, high > 0 ? high * more : high / more);
}

template <class T, class Out>
using Tile = void (*)(const KernelShape&, const mercer::Queries<T>&, const mercer::Panels<T>&, Index, Index,
                      Out* const*);

// The first so many, in an array of their own that is no longer.
template <class V>
V first_of(const V& all, Index count) {
    return V(all.begin(), all.begin() + count);
}

// All numbers of queries and panels, from panel 0 or 1 on; nothing outside of them is written.
template <class T, class Out>
void check_sizes(Tile<T, Out> tile, const KernelShape& shape, const Points<T>& p,
                 const std::vector<Sums<Wide<Out>>>& sums, double scale) {
    std::vector<Interval<Out>> known;
    for (Index i = 0; i < most_queries * width; ++i)
        known.push_back(scaled<Out>(shape, expected<T, Out>(shape, p, sums[std::size_t(i)], i / width, i % width)));
    for (Index count = 1; count <= most_queries; ++count)
        for (Index panels = 1; panels < most_panels; ++panels) {
            if (brief && (count + panels) % 5) continue;
            const Index begin = (count + panels) % 2, end = begin + panels, columns = end * panel_rows;
            const auto queries = first_of(p.queries, count * p.d), values = first_of(p.panels, columns * p.d);
            const auto halves = first_of(p.query_halves, count), panel_halves = first_of(p.panel_halves, columns);
            const auto wide = first_of(p.wide_query_halves, count), wide_panel = first_of(p.wide_panel_halves, columns);
            Guarded<Out> out(count * width, Guarded<Out>::mark);
            std::vector<Out*> rows;
            for (Index q = 0; q < count; ++q) rows.push_back(out.data() + q * width);
            tile(shape, {queries.data(), halves.data(), wide.data(), count},
                 {values.data(), panel_halves.data(), wide_panel.data(), p.d}, begin, end, rows.data());
            for (Index i = 0; i < count * width; ++i) {
                const Index q = i / width, c = i % width;
                const bool asked = c >= begin * panel_rows && c < columns;
                const Interval<Out> e =
                    asked ? known[std::size_t(i)] : Interval<Out>{Guarded<Out>::mark, Guarded<Out>::mark};
                expect(e.has(out[i]),
                       "tile %s %s to %s d=%d scale=%g, %d queries, panels %d to %d: "
                       "query %d, column %d is %.9g, not in [%.9g, %.9g]",
                       family_names[int(shape.family)], name<T>(), name<Out>(), int(p.d), scale, int(count), int(begin),
                       int(end), int(q), int(c), double(out[i]), double(e.low), double(e.high));
            }
            expect(out.intact(), "tile %s %s writes outside its rows", family_names[int(shape.family)], name<T>());
        }
}

// One feature and a query of 0 or 1 make the number under the exponential what we like, without rounding.
template <class T>
T one_value(const mercer::HotLoops<T>& loops, const KernelShape& shape, T query, T other) {
    const std::vector<T> values(panel_rows, other), halves(panel_rows, other * other / 2);
    const T query_half = query * query / 2;
    const std::vector<double> wide(halves.begin(), halves.end());
    const double wide_query = query_half;
    std::vector<T> out(panel_rows);
    T* row = out.data();
    loops.tile(shape, {&query, &query_half, &wide_query, 1}, {values.data(), halves.data(), wide.data(), 1}, 0, 1,
               &row);
    for (T value : out) expect(value == out[0] || value != value, "tile %s: equal columns differ", name<T>());
    return out[0];
}

// The exponential over its range and beyond: the only error is its own.
template <class T>
void check_exponential(const mercer::HotLoops<T>& loops) {
    const KernelShape shape{Family::laplacian, 1.0, 0.0, 1.0, 1};
    const double end = sizeof(T) == 4 ? 87.5 : 708.5;
    std::vector<double> exponents{0.0, 1e-30, 1e-9, 87.0, 87.5, 88.0, 104.0, 708.0, 709.0, 1000.0, 1e30};
    const int steps = brief ? 2000 : 20000;
    for (int i = 1; i <= steps; ++i) exponents.push_back(end * i / steps);
    for (double each : exponents) {
        const T x = T(each), value = one_value(loops, shape, T(0), x);
        const Bounds<T> b = exp_bounds<T>(-Wide<T>(x), 0);
        const auto e = Interval<T>::around(b.low, b.high);
        expect(e.has(value), "exp %s(%.9g) is %.17g, not in [%.17g, %.17g]", name<T>(), -double(x), double(value),
               double(e.low), double(e.high));
    }
}

// Numbers that leave the range on the way: nothing becomes NaN, and limits are what they should be.
template <class T>
void check_limits(const mercer::HotLoops<T>& loops) {
    const T inf = std::numeric_limits<T>::infinity(), most = std::numeric_limits<T>::max();
    for (T far : {inf, -inf, most, -most, T(1e4)})
        for (Family family : {Family::laplacian, Family::euclidean_laplacian, Family::rbf_by_difference}) {
            const T value = one_value<T>(loops, {family, 1.0, 0.0, 1.0, 3}, T(0), far);
            expect(value >= 0 && value <= 2 * least<T>, "%s %s of a distance of %g is %g, not 0",
                   family_names[int(family)], name<T>(), double(far), double(value));
        }
    for (T z : {T(20), T(44), T(88), T(1e4), most, inf})
        for (T sign : {T(1), T(-1)}) {
            const T value = one_value<T>(loops, {Family::sigmoid, 1.0, 0.0, 1.0, 3}, sign, z);
            expect(std::fabs(value - sign) <= 4 * unit<T>, "sigmoid %s of %g is %.9g", name<T>(), double(sign * z),
                   double(value));
        }
    for (T z : {most, inf}) {
        const T product = one_value<T>(loops, {Family::linear, 1.0, 0.0, 2.0, 3}, T(-2), z);
        const T cube = one_value<T>(loops, {Family::polynomial, 1.0, 0.5, 1.0, 3}, T(-1), z);
        const T square = one_value<T>(loops, {Family::polynomial, 1.0, 0.5, 1.0, 2}, T(-1), z);
        expect(product == -inf && cube == -inf && square == inf, "%s: products do not overflow to infinity", name<T>());
    }
}

template <class T>
void check_tiles(const mercer::HotLoops<T>& loops) {
    Random random(1);
    const bool single = sizeof(T) == 4;
    for (Index d : {0, 1, 2, 3, 7, 16, 20, 123, 1500})  // 1500: more panels than are handled at a time
        for (double scale : {1.0, 0.1, 12.0, single ? 1e-20 : 1e-160, single ? 1e15 : 1e150}) {
            if (d == 1500 ? brief || scale != 0.1 : brief && (d == 123 || scale == 0.1)) continue;
            const bool widely = !brief || (scale == 1.0 && d < 16);
            const Points<T> points(d, scale, random);
            const auto sums = sums_of<Wide<T>>(points);
            const auto wide_sums = widely ? sums_of<Wide<double>>(points) : std::vector<Sums<Wide<double>>>();
            for (int family = 0; family < 7; ++family) {
                const KernelShape shape{Family(family), 0.3, scale < 1e-10 ? 0.0 : 0.7, 2.5, 3};
                check_sizes<T, T>(loops.tile, shape, points, sums, scale);
                if (widely) check_sizes<T, double>(loops.wide_tile, shape, points, wide_sums, scale);
            }
            if (d != 3) continue;
            for (int degree = 0; degree < 9; ++degree)
                check_sizes<T, T>(loops.tile, {Family::polynomial, -0.3, 0.7, -1.5, degree}, points, sums, scale);
        }
    check_exponential(loops);
    check_limits(loops);
}

}  // namespace check
