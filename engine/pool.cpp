#include "pool.hpp"

namespace mercer {

bool Pool::Job::work() {
    const std::int64_t mine = next_.fetch_add(1, std::memory_order_relaxed);
    if (mine >= count_) return false;
    task_(mine);
    done_.fetch_add(1, std::memory_order_release);
    return true;
}

void Pool::Job::wait() const {
    while (done_.load(std::memory_order_acquire) < count_) std::this_thread::yield();
}

Pool::Pool(int n_threads) {
    for (int i = 1; i < n_threads; ++i) threads_.emplace_back([this] { help(); });
}

Pool::~Pool() {
    stopping_ = true;
    {
        std::lock_guard<std::mutex> lock(mutex_);
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Pool::help() {
    constexpr int patience = 2000;  // looks before sleeping: about the pause between two jobs of a solve
    std::uint64_t seen = 0;
    for (;;) {
        for (int look = 0; look < patience && generation_.load(std::memory_order_acquire) == seen && !stopping_; ++look)
            std::this_thread::yield();
        std::shared_ptr<Job> job;
        {
            std::unique_lock<std::mutex> lock(mutex_);
            wake_.wait(lock, [&] { return generation_ != seen || stopping_; });
            if (stopping_) return;
            seen = generation_;
            job = current_;
        }
        while (job && job->work()) {
        }
    }
}

std::shared_ptr<Pool::Job> Pool::post(std::int64_t count, Task task) {
    auto job = std::make_shared<Job>(count, std::move(task));
    if (!threads_.empty()) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            current_ = job;
            ++generation_;
        }
        wake_.notify_all();
    }
    return job;
}

void Pool::join(const std::shared_ptr<Job>& job) {
    while (job->work()) {
    }
    job->wait();
}

void Pool::run(std::int64_t count, Task task) {
    if (count <= 1 || threads_.empty()) {
        for (std::int64_t i = 0; i < count; ++i) task(i);
        return;
    }
    join(post(count, std::move(task)));
}

}  // namespace mercer
