#include "buffer.hpp"

#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace mercer {

namespace {

constexpr std::size_t kept_limit = std::size_t(256) << 20;
constexpr std::size_t smallest = std::size_t(64) << 10;  // below this the system's own allocator is as good
constexpr int n_classes = 48;

// Sizes are rounded up to four steps for each power of two, so that neighbouring problems fit.
std::size_t rounded(std::size_t bytes, int& size_class) {
    std::size_t power = smallest;
    size_class = 0;
    while (power * 2 < bytes && size_class < n_classes - 4) {
        power *= 2;
        size_class += 4;
    }
    for (int quarter = 0; quarter < 4; ++quarter) {
        const std::size_t size = power + power / 4 * static_cast<std::size_t>(quarter);
        if (bytes <= size) {
            size_class += quarter;
            return size;
        }
    }
    size_class += 4;
    return bytes <= power * 2 ? power * 2 : bytes;
}

std::size_t size_of(int size_class) {
    return (smallest << (size_class / 4)) / 4 * static_cast<std::size_t>(4 + size_class % 4);
}

class Shelf {
public:
    void* take(int size_class, std::size_t size) {
        std::lock_guard<std::mutex> lock(mutex_);
        auto& stack = free_[size_class];
        if (stack.empty()) return nullptr;
        void* memory = stack.back();
        stack.pop_back();
        kept_ -= size;
        return memory;
    }

    bool put(void* memory, int size_class, std::size_t size) noexcept {
        std::lock_guard<std::mutex> lock(mutex_);
        if (size > kept_limit) return false;
        for (int other = n_classes + 3; other >= 0 && kept_ + size > kept_limit; --other)
            if (other != size_class) give_up(other, kept_ + size - kept_limit);  // what was asked for last is kept
        if (kept_ + size > kept_limit) return false;
        try {
            free_[size_class].push_back(memory);
        } catch (const std::bad_alloc&) {
            return false;
        }
        kept_ += size;
        return true;
    }

    std::size_t clear() noexcept {
        std::lock_guard<std::mutex> lock(mutex_);
        for (auto& stack : free_) {
            for (void* memory : stack) std::free(memory);
            stack.clear();
        }
        const std::size_t released = kept_;
        kept_ = 0;
        return released;
    }

private:
    // Frees memory of one class until `bytes` are gone or none is left.
    void give_up(int size_class, std::size_t bytes) noexcept {
        auto& stack = free_[size_class];
        const std::size_t size = size_of(size_class);
        for (std::size_t gone = 0; gone < bytes && !stack.empty(); gone += size) {
            std::free(stack.back());
            stack.pop_back();
            kept_ -= size;
        }
    }

    std::mutex mutex_;
    std::vector<void*> free_[n_classes + 4];
    std::size_t kept_ = 0;
};

// Never destroyed: helper threads of an interpreter that is shutting down may still return memory.
Shelf& shelf() {
    static Shelf* const instance = new Shelf;
    return *instance;
}

void* allocate(std::size_t size) {
    const std::size_t whole = (size + 63) / 64 * 64;
#if defined(_MSC_VER)
    void* memory = std::malloc(whole);
#else
    void* memory = std::aligned_alloc(64, whole);
#endif
    if (!memory) throw std::bad_alloc();
    return memory;
}

}  // namespace

void* acquire_memory(std::size_t bytes) {
    if (bytes < smallest) return allocate(bytes ? bytes : 1);
    int size_class = 0;
    const std::size_t size = rounded(bytes, size_class);
    if (void* memory = shelf().take(size_class, size)) return memory;
    return allocate(size);
}

void release_memory(void* memory, std::size_t bytes) noexcept {
    int size_class = 0;
    const std::size_t size = rounded(bytes, size_class);
    if (bytes < smallest || !shelf().put(memory, size_class, size)) std::free(memory);
}

std::size_t release_kept_memory() noexcept { return shelf().clear(); }

}  // namespace mercer
