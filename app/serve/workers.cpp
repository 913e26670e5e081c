#include "app/serve/workers.h"

namespace knn::web {

Workers::Workers(int threads, std::size_t max_waiting) : max_waiting_(max_waiting) {
    for (int thread = 0; thread < threads; ++thread)
        threads_.emplace_back([this, thread] { run(thread); });
}

Workers::~Workers() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

bool Workers::add(Job job) {
    {
        const std::lock_guard lock(mutex_);
        if (jobs_.size() >= max_waiting_) return false;
        jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
    return true;
}

void Workers::run(int thread) {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return closed_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        const Job job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job(thread);
        lock.lock();
    }
}

}  // namespace knn::web
