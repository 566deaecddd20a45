// Portable vectors: the compiler's own vector type where it has one (GCC, Clang), a plain array elsewhere.
//
// The hot loops are written once against this file and compiled for several instruction sets.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__AVX512F__) && defined(__GNUC__) && !defined(MERCER_PLAIN_VECTORS)
#include <immintrin.h>
#endif

namespace mercer {
namespace {  // internal linkage: each instruction set must keep its own copy

// One vector holds 64 bytes, whatever the machine: compilers split it where registers are shorter.
template <class T>
constexpr int lanes = 64 / static_cast<int>(sizeof(T));

template <class T>
struct IndexOf;
template <>
struct IndexOf<float> {
    using type = std::int32_t;
};
template <>
struct IndexOf<double> {
    using type = std::int64_t;
};

#if (defined(__GNUC__) || defined(__clang__)) && !defined(MERCER_PLAIN_VECTORS)
template <class T>
struct VectorOf {
    typedef T type __attribute__((vector_size(64)));
};
template <class T>
using Vector = typename VectorOf<T>::type;

// Asks for a line of memory that will be read soon; it need not exist.
template <class T>
inline void prefetch(const T* at) {
    __builtin_prefetch(at);
}

template <class V, class M>
inline V choose(M mask, V yes, V no) {
    return mask ? yes : no;
}

template <class T>
inline Vector<T> fill(T value) {
    return value - Vector<T>{};  // one broadcast; a loop over the lanes becomes one insertion for each
}

// Adds the integer held in the low bits of `power` to the exponent of `value`.
inline Vector<float> add_exponent(Vector<float> value, Vector<float> power) {
    return (Vector<float>)((Vector<std::uint32_t>)value + ((Vector<std::uint32_t>)power << 23));
}
inline Vector<double> add_exponent(Vector<double> value, Vector<double> power) {
    return (Vector<double>)((Vector<std::uint64_t>)value + ((Vector<std::uint64_t>)power << 52));
}
#else
template <class T>
inline void prefetch(const T*) {}

template <class T>
struct Vector {
    T lane[lanes<T>];
    T& operator[](int i) { return lane[i]; }
    T operator[](int i) const { return lane[i]; }
};
template <class T>
inline Vector<T> fill(T value) {
    Vector<T> v;
    for (int i = 0; i < lanes<T>; ++i) v[i] = value;
    return v;
}
#define MERCER_LANEWISE(op)                                                         \
    template <class T>                                                              \
    inline Vector<T> operator op(const Vector<T>& a, const Vector<T>& b) {          \
        Vector<T> r;                                                                \
        for (int i = 0; i < lanes<T>; ++i) r[i] = static_cast<T>(a[i] op b[i]);     \
        return r;                                                                   \
    }
MERCER_LANEWISE(+)
MERCER_LANEWISE(-)
MERCER_LANEWISE(*)
MERCER_LANEWISE(/)
#undef MERCER_LANEWISE
#define MERCER_COMPARE(op)                                                                              \
    template <class T>                                                                                  \
    inline Vector<typename IndexOf<T>::type> operator op(const Vector<T>& a, const Vector<T>& b) {      \
        Vector<typename IndexOf<T>::type> r;                                                            \
        for (int i = 0; i < lanes<T>; ++i) r[i] = a[i] op b[i] ? -1 : 0;                                \
        return r;                                                                                       \
    }
MERCER_COMPARE(>)
MERCER_COMPARE(<)
#undef MERCER_COMPARE
template <class T>
inline Vector<T> operator-(const Vector<T>& a) {
    Vector<T> r;
    for (int i = 0; i < lanes<T>; ++i) r[i] = -a[i];
    return r;
}
template <class T, class M>
inline Vector<T> choose(const Vector<M>& mask, const Vector<T>& yes, const Vector<T>& no) {
    Vector<T> r;
    for (int i = 0; i < lanes<T>; ++i) r[i] = mask[i] ? yes[i] : no[i];
    return r;
}

template <class T>
inline Vector<T> add_exponent(const Vector<T>& value, const Vector<T>& power) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr int mantissa = sizeof(T) == 4 ? 23 : 52;
    Vector<T> r;
    for (int i = 0; i < lanes<T>; ++i) {
        Bits a, b;
        std::memcpy(&a, &value.lane[i], sizeof(T));
        std::memcpy(&b, &power.lane[i], sizeof(T));
        a += b << mantissa;
        std::memcpy(&r.lane[i], &a, sizeof(T));
    }
    return r;
}
#endif

template <class T>
inline Vector<T> load(const T* from) {
    Vector<T> v;
    std::memcpy(&v, from, sizeof(v));
    return v;
}

template <class T>
inline void store(T* to, const Vector<T>& v) {
    std::memcpy(to, &v, sizeof(v));
}

template <class V>
inline V larger(V a, V b) {
    return choose(a > b, a, b);
}

template <class V>
inline V smaller(V a, V b) {
    return choose(a < b, a, b);
}

template <class T>
inline T horizontal_max(const Vector<T>& v) {
    T best = v[0];
    for (int i = 1; i < lanes<T>; ++i) best = v[i] > best ? v[i] : best;
    return best;
}

// The largest value, and the smallest index among those that have it.
template <class T>
inline T first_largest(const Vector<T>& value, const Vector<typename IndexOf<T>::type>& index, std::int64_t& first) {
    T best = value[0];
    first = index[0];
    for (int i = 1; i < lanes<T>; ++i)
        if (value[i] > best || (value[i] == best && index[i] < first)) {
            best = value[i];
            first = index[i];
        }
    return best;
}

// a / b to three digits, for choosing among quotients; b is a positive normal number.
template <class T>
inline Vector<T> rough_quotient(const Vector<T>& a, const Vector<T>& b) {
    return a / b;
}

#if defined(__AVX512F__) && defined(__GNUC__) && !defined(MERCER_PLAIN_VECTORS)
// What a loop over the lanes takes dozens of instructions for.
template <>
inline float horizontal_max<float>(const Vector<float>& v) {
    return _mm512_reduce_max_ps((__m512)v);
}
template <>
inline float first_largest<float>(const Vector<float>& value, const Vector<std::int32_t>& index, std::int64_t& first) {
    const float best = _mm512_reduce_max_ps((__m512)value);
    const __mmask16 equal = _mm512_cmp_ps_mask((__m512)value, _mm512_set1_ps(best), _CMP_EQ_OQ);
    first = _mm512_mask_reduce_min_epi32(equal, (__m512i)index);
    return best;
}
template <>
inline Vector<float> rough_quotient<float>(const Vector<float>& a, const Vector<float>& b) {
    return (Vector<float>)_mm512_mul_ps((__m512)a, _mm512_rcp14_ps((__m512)b));
}
#endif

template <class T>
inline T horizontal_sum(const Vector<T>& v) {
    T sum = 0;
    for (int i = 0; i < lanes<T>; ++i) sum += v[i];
    return sum;
}

// exp(x) = 2^k exp(r), k = round(x / ln 2), |r| <= ln(2)/2, exp(r) by its series. Arguments below the
// smallest normal number are held there, so that the shifted exponent never wraps round.
inline Vector<float> exponential(Vector<float> x) {
    x = larger(smaller(x, fill(88.0f)), fill(-87.0f));
    const Vector<float> magic = fill(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
    const Vector<float> shifted = x * fill(1.44269504f) + magic;
    const Vector<float> k = shifted - magic;
    const Vector<float> r = (x - k * fill(0.693359375f)) - k * fill(-2.12194440e-4f);
    Vector<float> e = fill(1.0f / 5040.0f);
    e = e * r + fill(1.0f / 720.0f);
    e = e * r + fill(1.0f / 120.0f);
    e = e * r + fill(1.0f / 24.0f);
    e = e * r + fill(1.0f / 6.0f);
    e = e * r + fill(0.5f);
    e = e * r + fill(1.0f);
    e = e * r + fill(1.0f);
    return add_exponent(e, shifted);
}

inline Vector<double> exponential(Vector<double> x) {
    x = larger(smaller(x, fill(709.0)), fill(-708.0));
    const Vector<double> magic = fill(6755399441055744.0);  // 1.5 * 2^52
    const Vector<double> shifted = x * fill(1.4426950408889634) + magic;
    const Vector<double> k = shifted - magic;
    const Vector<double> r = (x - k * fill(0.693147180369123816490)) - k * fill(1.90821492927058770002e-10);
    constexpr double inverse_factorial[] = {
        1.0,           1.0,            1.0 / 2,         1.0 / 6,          1.0 / 24,         1.0 / 120,       1.0 / 720,
        1.0 / 5040,    1.0 / 40320,    1.0 / 362880,    1.0 / 3628800,    1.0 / 39916800,   1.0 / 479001600, 1.0 / 6227020800};
    Vector<double> e = fill(inverse_factorial[13]);
    for (int n = 12; n >= 0; --n) e = e * r + fill(inverse_factorial[n]);
    return add_exponent(e, shifted);
}

}  // namespace
}  // namespace mercer
