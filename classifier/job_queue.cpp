#include "classifier/job_queue.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace knn {

JobQueue::~JobQueue() {
    {
        const std::lock_guard lock(mutex_);
        jobs_.clear();
        closed_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void JobQueue::add(Job job) {
    const std::lock_guard lock(mutex_);
    if (error_) return;
    jobs_.push_back(std::move(job));
    changed_.notify_all();
    if (thread_.joinable()) return;
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
        // The next job tries again.
    }
}

void JobQueue::finish() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable())
        thread_.join();
    else
        run();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

/// Until the queue is closed and empty.
void JobQueue::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        const Job job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        std::exception_ptr error;
        try {
            job();
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        if (!error) continue;
        error_ = error;
        jobs_.clear();
    }
}

namespace {

constexpr std::chrono::milliseconds poll_every{20};

/// What the threads share.
class Jobs {
  public:
    Jobs(std::size_t count, const Watch& watch)
        : watch_(watch), share_done_(count), errors_(count), running_(count) {}

    void run(std::size_t job, const std::function<void(std::size_t, const Watch&)>& work) {
        Watch own;
        own.stop = &stop_;
        own.progress = [&, job](std::int64_t done, std::int64_t total) {
            if (total > 0) share_done_[job] = static_cast<double>(done) / static_cast<double>(total);
        };
        try {
            work(job, own);
            share_done_[job] = 1;
        } catch (...) {
            errors_[job] = std::current_exception();
            stop_ = true;
        }
        const std::lock_guard lock(mutex_);
        --running_;
        changed_.notify_one();
    }

    /// Until all have ended: hands the user's wish to stop on, and reports.
    void wait(std::int64_t n_query) {
        std::unique_lock lock(mutex_);
        while (!changed_.wait_for(lock, poll_every, [&] { return running_ == 0; })) {
            if (watch_.stopped()) stop_ = true;
            if (!watch_.progress) continue;
            double sum = 0;
            for (const std::atomic<double>& share : share_done_)
                sum += share;
            watch_.progress(static_cast<std::int64_t>(sum / static_cast<double>(share_done_.size()) *
                                                      static_cast<double>(n_query)),
                            n_query);
        }
    }

    /// Those that were stopped after an error throw Interrupted: the error counts.
    void rethrow() const {
        std::exception_ptr first;
        for (const std::exception_ptr& error : errors_) {
            if (!error) continue;
            try {
                std::rethrow_exception(error);
            } catch (const Interrupted&) {
                if (!first) first = error;
            } catch (...) {
                throw;
            }
        }
        if (first) std::rethrow_exception(first);
    }

    void stop() { stop_ = true; }

  private:
    const Watch& watch_;
    std::atomic<bool> stop_{false};
    std::vector<std::atomic<double>> share_done_;
    std::vector<std::exception_ptr> errors_;
    std::size_t running_;
    std::mutex mutex_;
    std::condition_variable changed_;
};

}  // namespace

void run_together(std::size_t count, std::int64_t n_query, const Watch& watch,
                  const std::function<void(std::size_t, const Watch&)>& work) {
    if (count == 1) return work(0, watch);
    Jobs jobs(count, watch);
    {
        std::vector<std::jthread> threads;
        threads.reserve(count);
        try {
            for (std::size_t job = 0; job < count; ++job)
                threads.emplace_back([&jobs, &work, job] { jobs.run(job, work); });
        } catch (...) {
            jobs.stop();  // those that run, before they are joined
            throw;
        }
        jobs.wait(n_query);
    }
    jobs.rethrow();
    if (watch.stopped()) throw Interrupted();
}

}  // namespace knn
