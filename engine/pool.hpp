// A few helper threads for one solve. The caller works too, and never waits for a helper that sleeps:
// whatever no helper has begun, the caller does itself.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "array.hpp"

namespace mercer {

class Pool {
    class Job;

public:
    using Task = std::function<void(Index)>;

    // Work that helpers may have begun: task(0) ... task(count - 1), in that order of beginning. Tasks use what
    // belongs to the caller, so that this does not go away before the last of them has ended.
    class Posted {
    public:
        Posted() = default;
        explicit Posted(std::shared_ptr<Job> job) : job_(std::move(job)) {}
        Posted(Posted&& other) noexcept : job_(std::move(other.job_)) {}
        Posted& operator=(Posted&& other) noexcept;
        ~Posted();

        explicit operator bool() const { return job_ != nullptr; }

        // Does what nobody has begun and waits for the rest, by calling `wait` again and again. Throws what the
        // first of them that failed threw; the tasks after that one are skipped.
        void join(const std::function<void()>& wait = std::this_thread::yield);

    private:
        std::shared_ptr<Job> job_;
    };

    // Has fewer helpers where the system gives no more threads.
    explicit Pool(int n_threads);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    Index helpers() const { return threads_.size(); }

    // Helpers begin at once; the caller goes on and joins later.
    Posted post(Index count, Task task);
    void run(Index count, Task task);

private:
    class Job {
    public:
        Job(Index count, Task task) : task_(std::move(task)), count_(count) {}

        // Does one task, or skips it after another has failed; false when none is left to begin.
        bool work() noexcept;
        // Returns when all tasks have ended, with what the first one that failed threw, which the job then
        // forgets: an exception may belong to the caller, and helpers let go of the job at any time.
        std::exception_ptr finish(const std::function<void()>& wait) noexcept;
        void give_up() noexcept { failed_.store(true, std::memory_order_relaxed); }

    private:
        template <class Work>
        void attempt(const Work& work) noexcept;

        const Task task_;
        const Index count_;
        std::atomic<Index> next_{0};
        std::atomic<Index> done_{0};
        std::atomic<bool> failed_{false};
        std::exception_ptr error_;  // written by what failed first, read when all have ended
    };

    void help();

    Array<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::shared_ptr<Job> current_;
    std::atomic<std::uint64_t> generation_{0};
    std::atomic<bool> stopping_{false};
};

}  // namespace mercer
