#include "classifier/job_queue.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <utility>
#include <vector>

namespace knn {

JobQueue::~JobQueue() {
    close(true);
}

void JobQueue::add(std::function<void()> job) {
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
    if (!worker_.valid()) worker_ = std::async([this] { run(); });
}

void JobQueue::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        const auto job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        lock.lock();
    }
}

void JobQueue::close(bool drops) {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        if (drops) jobs_.clear();
    }
    changed_.notify_one();
}

void JobQueue::finish() {
    close(false);
    if (worker_.valid()) worker_.get();
}

void run_together(std::size_t count, std::int64_t n_query, const ProgressToken& token,
                  const std::function<void(std::size_t, const ProgressToken&)>& work) {
    constexpr std::chrono::milliseconds poll_every{20};
    if (count == 1) return work(0, token);
    std::atomic<bool> stop{false};
    std::vector<std::atomic<double>> share_done(count);
    const auto run = [&](std::size_t job) {
        ProgressToken own;
        own.stop = &stop;
        own.progress = [&, job](std::int64_t done, std::int64_t total) {
            if (total > 0) share_done[job] = static_cast<double>(done) / static_cast<double>(total);
        };
        try {
            work(job, own);
            share_done[job] = 1;
        } catch (...) {
            stop = true;
            throw;
        }
    };
    // A job for which the system provides no thread runs in `get`.
    std::vector<std::future<void>> jobs;
    for (std::size_t job = 0; job < count; ++job)
        jobs.push_back(std::async(run, job));
    for (const std::future<void>& job : jobs)
        while (job.wait_for(poll_every) == std::future_status::timeout) {
            if (token.stopped()) stop = true;
            if (!token.progress) continue;
            double sum = 0;
            for (const std::atomic<double>& share : share_done)
                sum += share;
            token.progress(
                static_cast<std::int64_t>(sum / static_cast<double>(count) * static_cast<double>(n_query)),
                n_query);
        }
    // Those that were stopped after an error throw Interrupted: the error counts.
    std::exception_ptr error;
    bool interrupted = false;
    for (std::future<void>& job : jobs)
        try {
            job.get();
        } catch (const Interrupted&) {
            interrupted = true;
        } catch (...) {
            if (!error) error = std::current_exception();
        }
    if (error) std::rethrow_exception(error);
    if (interrupted || token.stopped()) throw Interrupted();
}

}  // namespace knn
