// One step of SMO inside a working set: the pair to change. Included by hot_loops.cpp only.
#pragma once

#include "hot_loops.hpp"
#include "vectors.hpp"

namespace mercer {
namespace {  // internal linkage: each instruction set must keep its own copy

constexpr double huge_penalty = 1e30;

// Whether a gradient is small beside the penalties. Where it is not they exclude nobody, neither variables at
// their bounds nor the padding behind the last one.
template <class T>
bool is_tame(T gradient) {
    return gradient < T(0.1 * huge_penalty) && gradient > T(-0.1 * huge_penalty);
}

// The largest value and where it stands, kept lane by lane.
template <class T>
struct Best {
    using Index = typename IndexOf<T>::type;
    Vector<T> value;
    Vector<Index> where;

    explicit Best(T start) : value(fill(start)), where(fill(Index(0))) {}

    void offer(const Vector<T>& candidate, const Vector<Index>& index) {
        where = choose(candidate > value, index, where);
        value = larger(candidate, value);
    }

    // No value is NaN, since a NaN is never larger. Ties go to the smallest index, so that the choice does not depend
    // on the lanes.
    std::int64_t pick(T& best) const {
        std::int64_t at;
        best = first_largest<T>(value, where, at);
        return at;
    }
};

template <class T>
Vector<typename IndexOf<T>::type> counting() {
    Vector<typename IndexOf<T>::type> v;
    for (int i = 0; i < lanes<T>; ++i) v[i] = i;
    return v;
}

// Rows of a large matrix come from memory. The processor sees where a loop is going, but only as far as the end of
// a page: so pages are named beforehand, and lines a little before their time.
constexpr int line = 64, half_page = 2048;  // bytes

template <class T>
void announce(const T* row, std::int64_t n) {
    constexpr int step = half_page / int(sizeof(T));
    for (std::int64_t t = 0; t < n; t += step) prefetch(row + t);
}

// For the two vectors at `at`, or whatever lines they lie in.
template <class T>
void announce_next(const T* at) {
    constexpr int step = half_page / int(sizeof(T));
    prefetch(at + step);
    if constexpr (2 * registers.bytes > line) prefetch(at + step + line / int(sizeof(T)));
}

// gradient += a * row_i + b * row_j, and at the same time the largest -gradient among those that may
// rise and the smallest among those that may fall.
template <class T>
std::int64_t update_and_select(InnerProblem<T>& w, const T* row_i, const T* row_j, T a, T b, T& highest, T& lowest) {
    using Index = typename IndexOf<T>::type;
    Best<T> up0(T(-2 * huge_penalty)), up1(T(-2 * huge_penalty));
    Vector<T> low0 = fill(T(2 * huge_penalty)), low1 = low0;
    Vector<Index> index = counting<T>();
    const Vector<Index> advance = fill(Index(lanes<T>));
    const Vector<T> va = fill(a), vb = fill(b);
    T* const gradient = w.gradient;  // in registers: what is stored might be w itself, as far as the compiler knows
    const T *const up_penalty = w.up_penalty, *const low_penalty = w.low_penalty;
    const std::int64_t n = w.width;
    announce(row_j, n);
    for (std::int64_t t = 0; t < n; t += 2 * lanes<T>) {
        const std::int64_t s = t + lanes<T>;
        announce_next(row_j + t);
        const Vector<T> g0 = load(gradient + t) + va * load(row_i + t) + vb * load(row_j + t);
        const Vector<T> g1 = load(gradient + s) + va * load(row_i + s) + vb * load(row_j + s);
        store(gradient + t, g0);
        store(gradient + s, g1);
        up0.offer(load(up_penalty + t) - g0, index);
        index = index + advance;
        up1.offer(load(up_penalty + s) - g1, index);
        index = index + advance;
        low0 = smaller(low0, load(low_penalty + t) - g0);
        low1 = smaller(low1, load(low_penalty + s) - g1);
    }
    lowest = -horizontal_max<T>(-smaller(low0, low1));
    up0.offer(up1.value, up1.where);
    return up0.pick(highest);
}

// The partner with the largest decrease of the objective by second order; floors the curvature so that
// neither rounding nor a kernel with negative values on its diagonal can make it vanish. Those are rare, and the loop
// is shorter without them.
template <class T, bool may_be_negative>
std::int64_t select_partner(const InnerProblem<T>& w, std::int64_t i, T highest, T floor_share) {
    using Index = typename IndexOf<T>::type;
    Best<T> best0(T(-1)), best1(T(-1));
    Vector<Index> index = counting<T>();
    const Vector<Index> advance = fill(Index(lanes<T>));
    const T* row = w.kernel + i * w.stride;
    const Vector<T> top = fill(highest), own = fill(w.diagonal[i]), two = fill(T(2)), share = fill(floor_share);
    const Vector<T> zero = fill(T(0)), tiny = fill(T(1e-30));
    announce(row, w.width);
    for (std::int64_t t = 0; t < w.width; t += 2 * lanes<T>) {
        const std::int64_t s = t + lanes<T>;
        announce_next(row + t);
        const Vector<T> d0 = larger(top + load(w.gradient + t) - load(w.low_penalty + t), zero);
        const Vector<T> d1 = larger(top + load(w.gradient + s) - load(w.low_penalty + s), zero);
        const Vector<T> k0 = own + load(w.diagonal + t), k1 = own + load(w.diagonal + s);
        const Vector<T> s0 = may_be_negative ? larger(k0, zero) : k0, s1 = may_be_negative ? larger(k1, zero) : k1;
        const Vector<T> c0 = larger(k0 - two * load(row + t), s0 * share + tiny);
        const Vector<T> c1 = larger(k1 - two * load(row + s), s1 * share + tiny);
        best0.offer(rough_quotient<T>(d0 * d0, c0), index);
        index = index + advance;
        best1.offer(rough_quotient<T>(d1 * d1, c1), index);
        index = index + advance;
    }
    best0.offer(best1.value, best1.where);
    T gain;
    return best0.pick(gain);
}

template <class T>
bool has_negative_diagonal(const InnerProblem<T>& w) {
    for (std::int64_t i = 0; i < w.size; ++i)
        if (w.diagonal[i] < T(0)) return true;
    return false;
}

template <class T>
void set_penalties(InnerProblem<T>& w, std::int64_t i) {
    w.up_penalty[i] = w.beta[i] < w.upper[i] ? T(0) : T(-huge_penalty);
    w.low_penalty[i] = w.beta[i] > w.lower[i] ? T(0) : T(huge_penalty);
}

}  // namespace
}  // namespace mercer
