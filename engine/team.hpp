// Threads that take many short steps together, far too short for a pool: a leader names a step, and each
// member does its own part of it, always the same one, whose data then stay in that processor's cache.
//
// Nobody has to be there. A part that its member does not begin at once the leader does itself, so that a
// helper that sleeps, or a processor that others use, costs no more than a moment. What comes out does not
// depend on who did what.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace mercer {

// One step: work(what, part) for all parts.
using Work = void (*)(void* what, int part);

class Team {
public:
    explicit Team(int n_parts);

    int parts() const { return n_parts_; }

    // The leader: does the step and returns when all parts are done.
    void run(Work work, void* what);

    // A member, for one of the parts but the first: takes part in steps until it is dismissed.
    void serve(int part);

    // Between run and run only; members leave, and may serve again after the next call of summon.
    void dismiss() { open_.store(false, std::memory_order_release); }
    void summon() { open_.store(true, std::memory_order_release); }

    // Whether members have kept the leader waiting so often that steps are sooner done alone.
    bool is_slow() const { return n_delays_ > most_delays; }

private:
    static constexpr int most_delays = 3;

    struct alignas(64) Member {
        std::atomic<std::uint64_t> state{0};  // twice the number of the step, and 1 more when it is done
        std::atomic<bool> present{false};
    };

    void finish(Member& member, int part);
    bool claim(Member& member, std::uint64_t step) {
        std::uint64_t before = 2 * (step - 1) + 1;
        return member.state.compare_exchange_strong(before, 2 * step, std::memory_order_acq_rel);
    }

    const int n_parts_;
    std::unique_ptr<Member[]> members_;
    int n_delays_ = 0;
    // What members look at all the time, in one line of cache.
    alignas(64) std::atomic<std::uint64_t> step_{0};
    Work work_ = nullptr;
    void* what_ = nullptr;
    std::atomic<bool> open_{false};
};

}  // namespace mercer
