#include "team.hpp"

#include <thread>

#include "hot_loops.hpp"

#if defined(__SSE2__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace mercer {

namespace {

constexpr int answer_time = 500;     // looks within which a member that is awake begins its part
constexpr int longest_part = 50000;  // looks after which a member that has begun must have been put to sleep
constexpr int patience = 200000;     // looks for which a member waits for the next step

inline void pause() {
#if defined(__SSE2__) || defined(_M_X64)
    _mm_pause();
#elif defined(__aarch64__) && !defined(_MSC_VER)
    asm volatile("yield");
#endif
}

}  // namespace

Team::Team(int n_parts) : n_parts_(n_parts), members_(new Member[static_cast<std::size_t>(n_parts)]) {
    for (int part = 0; part < n_parts; ++part) members_[static_cast<std::size_t>(part)].state.store(1, std::memory_order_relaxed);
}

void Team::run(Work work, void* what) {
    work_ = work;
    what_ = what;
    step_.store(step_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    work(what, 0);
    for (int part = 1; part < n_parts_; ++part) finish(members_[static_cast<std::size_t>(part)], part);
}

// Waits for a member, or takes its part from it.
void Team::finish(Member& member, int part) {
    const std::uint64_t step = step_.load(std::memory_order_relaxed);
    int looks = member.present.load(std::memory_order_relaxed) ? 0 : answer_time;
    while (looks < answer_time && member.state.load(std::memory_order_acquire) < 2 * step) ++looks;
    if (looks >= answer_time && claim(member, step)) {
        work_(what_, part);
        member.state.store(2 * step + 1, std::memory_order_release);
        return;
    }
    for (looks = 0; member.state.load(std::memory_order_acquire) != 2 * step + 1; ++looks) {
        if (looks == longest_part) ++n_delays_;
        if (looks < longest_part) pause();
        else std::this_thread::yield();
    }
}

void Team::serve(int part) {
    Member& member = members_[static_cast<std::size_t>(part)];
    member.present.store(true, std::memory_order_relaxed);
    std::uint64_t last = step_.load(std::memory_order_acquire);
    for (int looks = 0; looks < patience && open_.load(std::memory_order_relaxed); ++looks) {
        const std::uint64_t step = step_.load(std::memory_order_acquire);
        if (step == last) {
            pause();
            continue;
        }
        last = step;
        looks = 0;
        if (!claim(member, step)) continue;  // the leader was quicker
        work_(what_, part);
        member.state.store(2 * step + 1, std::memory_order_release);
    }
    member.present.store(false, std::memory_order_relaxed);
}

int team_parts(const Team& team) { return team.parts(); }
void team_run(Team& team, Work work, void* what) { team.run(work, what); }

}  // namespace mercer
