// What the checks of the hot loops share: counting and reporting, arrays with guards, random numbers.
#pragma once

#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "hot_loops.hpp"

namespace check {

using Index = std::int64_t;
using mercer::panel_rows;

// What is expected is computed in more digits. (Processors without long numbers compute them in software.)
using Widest = long double;
template <class T>
using Wide = std::conditional_t<sizeof(T) == 4, double, Widest>;

inline long made = 0, failed = 0;
inline bool brief = false;  // a part of the sizes, for runs under an emulator or a slow sanitizer

// Half the distance from 1 to the next number: the largest relative error of one rounding.
template <class T>
constexpr Wide<T> unit = std::numeric_limits<T>::epsilon() / 2;
// The smallest normal number, and the distance of the denormal ones below it.
template <class T>
constexpr Wide<T> least = std::numeric_limits<T>::min();
template <class T>
constexpr Wide<T> grain = std::numeric_limits<T>::denorm_min();

template <class T>
const char* name() {
    return sizeof(T) == 4 ? "float" : "double";
}

// Counts one comparison, and prints one line where it failed.
inline void expect(bool holds, const char* format, ...) {
    ++made;
    if (holds) return;
    if (++failed > 20) return;
    va_list values;
    va_start(values, format);
    std::vprintf(format, values);
    va_end(values);
    std::printf("\n");
}

// Numbers of T that contain [low, high]; infinite where that leaves the range.
template <class T>
struct Interval {
    T low, high;

    template <class W>
    static Interval around(W low, W high) {
        const T infinity = std::numeric_limits<T>::infinity();
        T a = T(low), b = T(high);
        if (W(a) > low) a = std::nextafter(a, -infinity);
        if (W(b) < high) b = std::nextafter(b, infinity);
        return {a, b};
    }
    bool has(T value) const { return value >= low && value <= high; }  // false for NaN
};

// An array between two margins of a value that nothing computes. Only outputs need it: inputs are
// as long as promised, so that the address sanitizer sees what is read beyond them.
template <class T>
class Guarded {
public:
    explicit Guarded(Index n, T value = T(0)) : values_(std::size_t(n + 2 * margin), mark) {
        for (Index i = 0; i < n; ++i) data()[i] = value;
    }
    T* data() { return values_.data() + margin; }
    T& operator[](Index i) { return data()[i]; }
    bool intact() const {
        for (Index i = 0; i < margin; ++i)
            if (values_[std::size_t(i)] != mark || values_[values_.size() - 1 - std::size_t(i)] != mark) return false;
        return true;
    }
    static constexpr T mark = T(-77.25);

private:
    static constexpr Index margin = 64;
    std::vector<T> values_;
};

class Random {
public:
    explicit Random(unsigned seed) : engine_(seed) {}
    double normal() { return std::normal_distribution<double>()(engine_); }
    double uniform() { return double(engine_() >> 11) / 9007199254740992.0; }
    template <class T>
    std::vector<T> normals(Index n, double scale = 1.0) {
        std::vector<T> values(static_cast<std::size_t>(n));
        for (T& value : values) value = T(scale * normal());
        return values;
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace check
