// A few helper threads for one solve. The caller works too, and never waits for a helper that sleeps:
// whatever no helper has begun, the caller does itself.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace mercer {

class Pool {
public:
    using Task = std::function<void(std::int64_t)>;

    // A posted piece of work: task(0) ... task(count - 1), in that order of beginning.
    class Job {
    public:
        Job(std::int64_t count, Task task) : task_(std::move(task)), count_(count) {}

        // Does one task; false when none is left to begin.
        bool work();
        void wait() const;

    private:
        const Task task_;
        const std::int64_t count_;
        std::atomic<std::int64_t> next_{0};
        std::atomic<std::int64_t> done_{0};
    };

    explicit Pool(int n_threads);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    int helpers() const { return static_cast<int>(threads_.size()); }

    // Helpers begin at once; the caller goes on and must join later.
    std::shared_ptr<Job> post(std::int64_t count, Task task);
    void join(const std::shared_ptr<Job>& job);
    void run(std::int64_t count, Task task);

private:
    void help();

    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::shared_ptr<Job> current_;
    std::atomic<std::uint64_t> generation_{0};
    std::atomic<bool> stopping_{false};
};

}  // namespace mercer
