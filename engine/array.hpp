// Arrays that are measured and indexed by one signed type, as all positions and counts of the engine are: differences
// may be negative, and -1 may stand for "none". Only this file converts to the unsigned type of the library.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace mercer {

using Index = std::int64_t;

// A size as the library wants it.
inline std::size_t unsigned_of(Index n) {
    assert(n >= 0);
    return static_cast<std::size_t>(n);
}

// A std::vector but for its index; indices are checked where assertions are on, as with the sanitizers.
template <class T>
class Array : private std::vector<T> {
    using Base = std::vector<T>;

    template <class Iterator>
    using if_iterator = std::enable_if_t<!std::is_arithmetic_v<Iterator>>;

public:
    using typename Base::value_type;

    Array() = default;
    explicit Array(Index n) : Base(unsigned_of(n)) {}
    Array(Index n, const T& value) : Base(unsigned_of(n), value) {}
    template <class Iterator, class = if_iterator<Iterator>>
    Array(Iterator first, Iterator last) : Base(first, last) {}

    Index size() const { return static_cast<Index>(Base::size()); }
    void resize(Index n) { Base::resize(unsigned_of(n)); }
    void resize(Index n, const T& value) { Base::resize(unsigned_of(n), value); }
    void reserve(Index n) { Base::reserve(unsigned_of(n)); }
    void assign(Index n, const T& value) { Base::assign(unsigned_of(n), value); }
    template <class Iterator, class = if_iterator<Iterator>>
    void assign(Iterator first, Iterator last) {
        Base::assign(first, last);
    }

    T& operator[](Index i) {
        assert(0 <= i && i < size());
        return Base::data()[i];
    }
    const T& operator[](Index i) const {
        assert(0 <= i && i < size());
        return Base::data()[i];
    }

    using Base::back;
    using Base::begin;
    using Base::clear;
    using Base::data;
    using Base::emplace_back;
    using Base::empty;
    using Base::end;
    using Base::erase;
    using Base::front;
    using Base::insert;
    using Base::pop_back;
    using Base::push_back;
};

}  // namespace mercer
