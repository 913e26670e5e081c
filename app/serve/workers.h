#pragma once
/// Threads for requests that take long, and what waits for them.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace knn::web {

class Workers {
  public:
    /// A job gets the number of its thread, from 0.
    using Job = std::function<void(int thread)>;

    Workers(int threads, std::size_t max_waiting);
    /// Does all jobs that wait.
    ~Workers();

    /// False if too many wait already. A job throws nothing.
    bool add(Job job);

  private:
    void run(int thread);

    const std::size_t max_waiting_;
    std::mutex mutex_;  ///< of `jobs_` and `closed_`
    std::condition_variable changed_;
    std::deque<Job> jobs_;
    bool closed_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace knn::web
