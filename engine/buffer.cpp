#include "buffer.hpp"

#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace mercer {

namespace {

constexpr std::size_t large = std::size_t(64) << 10, least = 256;
constexpr int n_classes = 52;  // four for each power of two

struct Size {
    std::size_t bytes;
    int size_class;  // among those of the same shelf
};

// Sizes are rounded up to four steps for each power of two, so that neighbouring problems fit.
Size rounded(std::size_t bytes) {
    std::size_t power = bytes < large ? least : large;
    int size_class = 0;
    while (power * 2 < bytes && size_class < n_classes - 8) {
        power *= 2;
        size_class += 4;
    }
    for (int quarter = 0; quarter < 4; ++quarter) {
        const std::size_t size = power + power / 4 * static_cast<std::size_t>(quarter);
        if (bytes <= size) return {size, size_class + quarter};
    }
    return {bytes <= power * 2 ? power * 2 : bytes, size_class + 4};
}

// Memory that is kept, of sizes from `smallest` on, at most `limit` bytes of it.
class Shelf {
public:
    Shelf(std::size_t smallest, std::size_t limit) : smallest_(smallest), limit_(limit) {}

    void* take(const Size& size) {
        auto& stack = free_[size.size_class];
        if (stack.empty()) return nullptr;
        void* memory = stack.back();
        stack.pop_back();
        kept_ -= size.bytes;
        return memory;
    }

    bool put(void* memory, const Size& size) noexcept {
        if (size.bytes > limit_) return false;
        for (int other = n_classes - 1; other >= 0 && kept_ + size.bytes > limit_; --other)
            if (other != size.size_class)  // what was asked for last is kept
                give_up(other, kept_ + size.bytes - limit_);
        if (kept_ + size.bytes > limit_) return false;
        try {
            free_[size.size_class].push_back(memory);
        } catch (const std::bad_alloc&) {
            return false;
        }
        kept_ += size.bytes;
        return true;
    }

    std::size_t clear() noexcept {
        for (auto& stack : free_) {
            for (void* memory : stack) std::free(memory);
            stack.clear();
        }
        const std::size_t released = kept_;
        kept_ = 0;
        return released;
    }

private:
    std::size_t size_of(int size_class) const {
        return (smallest_ << (size_class / 4)) / 4 * static_cast<std::size_t>(4 + size_class % 4);
    }

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

    const std::size_t smallest_, limit_;
    std::vector<void*> free_[n_classes];
    std::size_t kept_ = 0;
};

// Large arrays, of all threads. Never destroyed: helper threads of an interpreter that is shutting down may still
// return memory.
class CommonShelf {
public:
    static CommonShelf& get() {
        static CommonShelf* const instance = new CommonShelf;
        return *instance;
    }

    template <class Use>
    auto use(Use use) {
        std::lock_guard<std::mutex> lock(mutex_);
        return use(shelf_);
    }

private:
    std::mutex mutex_;
    Shelf shelf_{large, std::size_t(256) << 20};
};

// Small arrays, of each thread: many small programs ask for the same few sizes again and again, and the system is slow
// where they have to be aligned.
class OwnShelf {
public:
    // Null where the thread is about to end.
    static Shelf* get() {
        thread_local OwnShelf own;
        return is_gone ? nullptr : &own.shelf_;
    }
    ~OwnShelf() {
        is_gone = true;
        shelf_.clear();
    }

private:
    static thread_local bool is_gone;
    Shelf shelf_{least, std::size_t(1) << 20};
};

thread_local bool OwnShelf::is_gone = false;

// Rows of a large matrix are read in an order that nobody can foresee: with small pages the processor looks up as many
// addresses as it reads rows. Linux gives large ones to those who ask.
constexpr std::size_t line = 64, large_page = std::size_t(2) << 20;

void* allocate(std::size_t size) {
    const std::size_t unit = size < large_page ? line : large_page, whole = (size + unit - 1) / unit * unit;
#if defined(_MSC_VER)
    void* memory = std::malloc(whole);
#else
    void* memory = std::aligned_alloc(unit, whole);
#endif
    if (!memory) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    if (unit == large_page) madvise(memory, whole, MADV_HUGEPAGE);  // a wish: what comes of it is for the system to say
#endif
    return memory;
}

// What `use` makes of the shelf for arrays of so many bytes, or nothing where there is none.
template <class Use>
auto at_shelf(std::size_t bytes, Use use) -> decltype(use(std::declval<Shelf&>())) {
    if (bytes >= large) return CommonShelf::get().use(use);
    Shelf* const own = OwnShelf::get();
    return own ? use(*own) : decltype(use(*own)){};
}

}  // namespace

void* acquire_memory(std::size_t bytes) {
    const Size size = rounded(bytes);
    void* const kept = at_shelf(bytes, [&](Shelf& shelf) { return shelf.take(size); });
    return kept ? kept : allocate(size.bytes);
}

void release_memory(void* memory, std::size_t bytes) noexcept {
    const Size size = rounded(bytes);
    if (!at_shelf(bytes, [&](Shelf& shelf) { return shelf.put(memory, size); })) std::free(memory);
}

std::size_t release_kept_memory() noexcept {
    const auto clear = [](Shelf& shelf) { return shelf.clear(); };
    return at_shelf(least, clear) + at_shelf(large, clear);
}

}  // namespace mercer
