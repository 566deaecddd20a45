// Large arrays whose memory is kept for the next solve.
//
// Fresh pages cost more than the kernel values that go into them (about 1.7 microseconds for 1024 floats
// against 0.7), so that a solver which hands its memory back to the system pays twice over.
#pragma once

#include <cstddef>

#include "array.hpp"

namespace mercer {

// At least `bytes` bytes, aligned for vectors, contents undefined. Throws std::bad_alloc.
void* acquire_memory(std::size_t bytes);
void release_memory(void* memory, std::size_t bytes) noexcept;

// Gives what is kept back to the system; returns how many bytes that were.
std::size_t release_kept_memory() noexcept;

template <class T>
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(Index count)
        : bytes_(unsigned_of(count) * sizeof(T)), values_(static_cast<T*>(acquire_memory(bytes_))) {}
    ~Buffer() {
        if (values_) release_memory(values_, bytes_);
    }
    Buffer(Buffer&& other) noexcept : bytes_(other.bytes_), values_(other.values_) { other.values_ = nullptr; }
    Buffer& operator=(Buffer&& other) noexcept {
        std::size_t bytes = bytes_;
        T* values = values_;
        bytes_ = other.bytes_;
        values_ = other.values_;
        other.bytes_ = bytes;
        other.values_ = values;
        return *this;
    }

    T* data() { return values_; }
    const T* data() const { return values_; }
    T& operator[](Index i) { return values_[i]; }
    const T& operator[](Index i) const { return values_[i]; }

private:
    std::size_t bytes_ = 0;
    T* values_ = nullptr;
};

}  // namespace mercer
