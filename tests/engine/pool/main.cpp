// Failures in tasks, in helpers and in the caller, and callers that leave a posted job behind.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pool.hpp"

using mercer::Pool;

namespace {

void expect(bool condition, const char* what) {
    if (condition) return;
    std::printf("failed: %s\n", what);
    std::exit(1);
}

template <class Error, class Work>
void expect_error(Work work, const char* what) {
    try {
        work();
    } catch (const Error&) {
        return;
    }
    expect(false, what);
}

void pause() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

// As many tasks as there are threads, none of which ends before all have begun: each thread does one.
void expect_all_at_work(Pool& pool) {
    const int threads = pool.helpers() + 1;
    std::atomic<int> begun{0};
    pool.run(threads, [&](std::int64_t) {
        ++begun;
        while (begun < threads) std::this_thread::yield();
    });
}

void failures_of_one_side(bool in_helpers) {
    Pool pool(4);
    const auto caller = std::this_thread::get_id();
    for (int repetition = 0; repetition < 200; ++repetition) {
        std::vector<int> on_the_stack(64, 0);
        std::atomic<bool> thrown{false};
        const auto work = [&] {
            pool.run(64, [&](std::int64_t task) {
                pause();
                on_the_stack[static_cast<std::size_t>(task)] = 1;
                if ((std::this_thread::get_id() != caller) == in_helpers) {
                    thrown = true;
                    throw std::runtime_error(std::string(100, 'x'));
                }
            });
        };
        try {
            work();
            expect(!thrown, "an exception was lost");
        } catch (const std::runtime_error& error) {
            expect(thrown && error.what() == std::string(100, 'x'), "another exception than the one thrown");
        }
    }
    expect_all_at_work(pool);
}

void every_task_fails() {
    for (int threads : {1, 2, 5}) {
        Pool pool(threads);
        std::atomic<int> tried{0};
        const auto failing = [&](std::int64_t) {
            ++tried;
            throw std::bad_alloc();
        };
        expect_error<std::bad_alloc>([&] { pool.run(1000, failing); }, "all tasks failed, but not the whole");
        expect(tried >= 1 && tried <= threads, "tasks are skipped after a failure");
        expect_all_at_work(pool);
    }
}

void owner_leaves() {
    Pool pool(3);
    for (int repetition = 0; repetition < 200; ++repetition) {
        const auto leave = [&] {
            std::vector<int> owned(256, 0);
            const Pool::Posted posted = pool.post(256, [&](std::int64_t task) {
                pause();
                owned[static_cast<std::size_t>(task)] = 1;
                if (task == 100) throw std::runtime_error("nobody hears this");
            });
            if (repetition % 2) pause();
            throw std::logic_error("before the join");
        };
        expect_error<std::logic_error>(leave, "the exception of the owner was lost");
    }
    expect_all_at_work(pool);
}

void joined_once() {
    Pool pool(3);
    std::atomic<int> sum{0};
    Pool::Posted posted;
    expect(!posted, "an empty handle has a job");
    posted = pool.post(100, [&](std::int64_t task) { sum += static_cast<int>(task); });
    posted.join();
    expect(!posted && sum == 4950, "each task is done once");
}

// Helpers are at work for as long as the caller has not given up waiting.
void caller_gives_up() {
    Pool pool(2);
    for (int repetition = 0; repetition < 50; ++repetition) {
        std::atomic<bool> in_helper{false}, stopped{false};
        const auto caller = std::this_thread::get_id();
        const auto task = [&](std::int64_t) {
            while (!in_helper && !stopped) {
                if (std::this_thread::get_id() != caller) in_helper = true;
            }
            while (std::this_thread::get_id() != caller && !stopped) pause();
        };
        const auto give_up = [&] {
            stopped = true;
            throw std::logic_error("enough");
        };
        expect_error<std::logic_error>([&] { pool.post(2, task).join(give_up); }, "the wait cannot fail");
    }
    expect_all_at_work(pool);
}

}  // namespace

int main() {
    failures_of_one_side(true);
    failures_of_one_side(false);
    every_task_fails();
    owner_leaves();
    joined_once();
    caller_gives_up();
    return 0;
}
