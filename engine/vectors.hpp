// Portable vectors: the compiler's own vector type where it has one (GCC, Clang), a plain array elsewhere.
//
// The hot loops are written once against this file and compiled for several instruction sets. What differs from
// one set to the other stands here: the width of a register, how many of them a tile of kernel values may
// fill, and the few operations that compilers do not find by themselves.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(MERCER_PLAIN_VECTORS)
#define MERCER_COMPILER_VECTORS
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#endif

namespace mercer {
namespace {  // internal linkage: each instruction set must keep its own copy

// A vector is as wide as a register. GCC splits wider ones through memory, which costs five times the time.
//
// Sums of a tile stay in registers: `queries` times `vectors` of them, beside `vectors` of the data, one query
// and, where products and sums are separate instructions, one product.
struct Registers {
    int bytes, queries, vectors;
};
#if defined(__AVX512F__)
constexpr Registers registers{64, 8, 2};  // of 32
#elif defined(__AVX2__)
constexpr Registers registers{32, 6, 2};  // of 16
#elif defined(__aarch64__)
constexpr Registers registers{16, 6, 4};  // of 32
#else
constexpr Registers registers{16, 6, 2};  // of 16
#endif

template <class T>
constexpr int lanes = registers.bytes / static_cast<int>(sizeof(T));

// Whole numbers as wide as T.
template <class T>
struct IndexOf {
    using type = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
};

#if defined(MERCER_COMPILER_VECTORS)
template <class T>
struct VectorOf {
    typedef T type __attribute__((vector_size(registers.bytes)));
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

// The lanes moved by `step` places, those at the end to the beginning.
template <int step, class V, int... lane>
inline V rotated(V v, std::integer_sequence<int, lane...>) {
#if defined(__clang__)
    return __builtin_shufflevector(v, v, ((lane + step) % int(sizeof...(lane)))...);
#else
    using Places = Vector<typename IndexOf<std::decay_t<decltype(v[0])>>::type>;
    return __builtin_shuffle(v, Places{((lane + step) % int(sizeof...(lane)))...});
#endif
}
template <int step, class V>
inline V rotated(V v) {
    return rotated<step>(v, std::make_integer_sequence<int, int(sizeof(V) / sizeof(v[0]))>());
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
#define MERCER_LANEWISE(op)                                                     \
    template <class T>                                                          \
    inline Vector<T> operator op(const Vector<T>& a, const Vector<T>& b) {      \
        Vector<T> r;                                                            \
        for (int i = 0; i < lanes<T>; ++i) r[i] = static_cast<T>(a[i] op b[i]); \
        return r;                                                               \
    }
MERCER_LANEWISE(+)
MERCER_LANEWISE(-)
MERCER_LANEWISE(*)
MERCER_LANEWISE(/)
#undef MERCER_LANEWISE
#define MERCER_COMPARE(op)                                                                         \
    template <class T>                                                                             \
    inline Vector<typename IndexOf<T>::type> operator op(const Vector<T>& a, const Vector<T>& b) { \
        Vector<typename IndexOf<T>::type> r;                                                       \
        for (int i = 0; i < lanes<T>; ++i) r[i] = a[i] op b[i] ? -1 : 0;                           \
        return r;                                                                                  \
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

template <int step, class T>
inline Vector<T> rotated(const Vector<T>& v) {
    Vector<T> r;
    for (int i = 0; i < lanes<T>; ++i) r[i] = v[(i + step) % lanes<T>];
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

// As many numbers as a vector of doubles holds, whatever their precision in memory.
inline Vector<double> load_double(const double* from) { return load(from); }
inline Vector<double> load_double(const float* from) {
#if defined(MERCER_COMPILER_VECTORS)
    typedef float Narrow __attribute__((vector_size(registers.bytes / 2)));
    Narrow narrow;
    std::memcpy(&narrow, from, sizeof(narrow));
    return __builtin_convertvector(narrow, Vector<double>);
#else
    Vector<double> r;
    for (int i = 0; i < lanes<double>; ++i) r[i] = double(from[i]);
    return r;
#endif
}

// Half of the lanes, in double precision.
inline Vector<double> widened(const Vector<float>& v, int half) {
    float values[lanes<float>];
    std::memcpy(values, &v, sizeof(v));
    return load_double(values + half * lanes<double>);
}

template <class V>
inline V larger(V a, V b) {
    return choose(a > b, a, b);
}

template <class V>
inline V smaller(V a, V b) {
    return choose(a < b, a, b);
}

// What combine makes of all lanes, in every lane; half of the lanes at a time.
template <int step, class V, class Combine>
inline V folded(V v, Combine combine) {
    if constexpr (step > 0) return folded<step / 2>(combine(v, rotated<step>(v)), combine);
    return v;
}

template <class T>
inline T horizontal_max(const Vector<T>& v) {
    return folded<lanes<T> / 2>(v, [](auto a, auto b) { return larger(a, b); })[0];
}

template <class T>
inline T horizontal_sum(const Vector<T>& v) {
    return folded<lanes<T> / 2>(v, [](auto a, auto b) { return a + b; })[0];
}

// The largest value, and the smallest index among those that have it.
template <class T>
inline T first_largest(const Vector<T>& value, const Vector<typename IndexOf<T>::type>& index, std::int64_t& first) {
    using Index = typename IndexOf<T>::type;
    const Vector<T> best = folded<lanes<T> / 2>(value, [](auto a, auto b) { return larger(a, b); });
    const Vector<Index> candidates = choose(value < best, fill(std::numeric_limits<Index>::max()), index);
    first = folded<lanes<T> / 2>(candidates, [](auto a, auto b) { return smaller(a, b); })[0];
    return best[0];
}

// a / b to three digits, for choosing among quotients; b is a positive normal number.
template <class T>
inline Vector<T> rough_quotient(const Vector<T>& a, const Vector<T>& b) {
    return a / b;
}
#if defined(MERCER_COMPILER_VECTORS)
#if defined(__AVX512F__)
inline Vector<float> rough_inverse(Vector<float> b) { return (Vector<float>)_mm512_rcp14_ps((__m512)b); }
#elif defined(__AVX2__)
inline Vector<float> rough_inverse(Vector<float> b) { return (Vector<float>)_mm256_rcp_ps((__m256)b); }
#elif defined(__SSE2__)
inline Vector<float> rough_inverse(Vector<float> b) { return (Vector<float>)_mm_rcp_ps((__m128)b); }
#elif defined(__aarch64__)
inline Vector<float> rough_inverse(Vector<float> b) {
    const float32x4_t guess = vrecpeq_f32((float32x4_t)b);  // eight bits, and twice as many after one step
    return (Vector<float>)vmulq_f32(guess, vrecpsq_f32((float32x4_t)b, guess));
}
#else
inline Vector<float> rough_inverse(Vector<float> b) { return fill(1.0f) / b; }
#endif
template <>
inline Vector<float> rough_quotient<float>(const Vector<float>& a, const Vector<float>& b) {
    return a * rough_inverse(b);
}
#endif

template <class T>
inline Vector<T> square_root(const Vector<T>& v) {
    T values[lanes<T>];
    std::memcpy(values, &v, sizeof(v));
    for (T& value : values) value = std::sqrt(value);
    return load(values);
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
        1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
        1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
    Vector<double> e = fill(inverse_factorial[13]);
    for (int n = 12; n >= 0; --n) e = e * r + fill(inverse_factorial[n]);
    return add_exponent(e, shifted);
}

}  // namespace
}  // namespace mercer
