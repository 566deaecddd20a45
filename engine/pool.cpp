#include "pool.hpp"

#include <algorithm>

namespace mercer {

template <class Work>
void Pool::Job::attempt(const Work& work) noexcept {
    try {
        work();
    } catch (...) {
        if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
    }
}

bool Pool::Job::work() noexcept {
    const Index mine = next_.fetch_add(1, std::memory_order_relaxed);
    if (mine >= count_) return false;
    if (!failed_.load(std::memory_order_relaxed)) attempt([&] { task_(mine); });
    done_.fetch_add(1, std::memory_order_release);
    return true;
}

std::exception_ptr Pool::Job::finish(const std::function<void()>& wait) noexcept {
    while (work()) {
    }
    while (done_.load(std::memory_order_acquire) < count_) attempt(wait);
    return std::move(error_);
}

Pool::Posted& Pool::Posted::operator=(Posted&& other) noexcept {
    std::swap(job_, other.job_);
    return *this;
}

Pool::Posted::~Posted() {
    if (!job_) return;
    job_->give_up();  // never joined: an exception is on its way already
    job_->finish(std::this_thread::yield);
}

void Pool::Posted::join(const std::function<void()>& wait) {
    const std::shared_ptr<Job> job = std::move(job_);
    if (std::exception_ptr error = job->finish(wait)) std::rethrow_exception(std::move(error));
}

Pool::Pool(int n_threads) {
    threads_.reserve(n_threads > 1 ? n_threads - 1 : 0);
    try {
        for (int i = 1; i < n_threads; ++i) threads_.emplace_back([this] { help(); });
    } catch (const std::exception&) {
        // The work gets done by those that are there.
    }
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

Pool::Posted Pool::post(Index count, Task task) {
    auto job = std::make_shared<Job>(count, std::move(task));
    if (!threads_.empty()) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            current_ = job;
            ++generation_;
        }
        wake_.notify_all();
    }
    return Posted(std::move(job));
}

void Pool::run(Index count, Task task) {
    if (count <= 1 || threads_.empty()) {
        for (Index i = 0; i < count; ++i) task(i);
        return;
    }
    post(count, std::move(task)).join();
}

}  // namespace mercer
