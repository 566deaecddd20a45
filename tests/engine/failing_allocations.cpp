// Put before the allocator with LD_PRELOAD: lets one allocation fail, in the thread that asked for it or in others.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <new>
#include <thread>

namespace {

std::atomic<long> left{-1};  // allocations until one fails; negative: none will
std::atomic<bool> in_helpers{false};
std::atomic<std::thread::id> caller{};

// Where another thread's allocation shall fail, the caller gives it time to come to one, however busy the machine is.
void wait_for_helpers() {
    if (in_helpers && std::this_thread::get_id() == caller) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

// The allocation number `which`, counted from 0, fails: of this thread, or of all others together.
extern "C" void fail_allocation(long which, int helpers) {
    caller = std::this_thread::get_id();
    in_helpers = helpers != 0;
    left = which;
}

// Whether it has failed.
extern "C" int allocation_has_failed() { return left.exchange(-1) < 0; }

void* operator new(std::size_t size) {
    static const auto next = reinterpret_cast<void* (*)(std::size_t)>(dlsym(RTLD_NEXT, "_Znwm"));
    if (left >= 0) wait_for_helpers();
    if (left >= 0 && (std::this_thread::get_id() != caller) == in_helpers && left.fetch_sub(1) == 0)
        throw std::bad_alloc();
    return next(size);
}
