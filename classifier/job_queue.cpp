#include "classifier/job_queue.h"

#include <system_error>
#include <utility>

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

}  // namespace knn
