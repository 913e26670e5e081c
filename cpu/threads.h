#pragma once
/// Work on several threads: who may run, who says how far it is, and how everybody stops.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

#include "data/core/searcher.h"

namespace knn::cpu {

/// One job that a team of threads works on. The thread that calls `run` is one of them, and the only one
/// that reports progress.
class Team {
  public:
    /// The job is `queries` queries, each of which takes `units` units of work; see `advance`.
    Team(int threads, const Watch& watch, std::int64_t queries, std::int64_t units);

    int threads() const { return threads_; }

    /// Calls work(0 .. threads-1), each on a thread of its own, and waits for all of them. Rethrows the first
    /// exception that one of them threw; throws Interrupted where the watch asked to stop. `work` returns
    /// early when `halted()`. Where the system gives fewer threads, fewer calls are made: work is taken from
    /// a shared counter, never counted out in advance.
    void run(const std::function<void(int thread)>& work);

    /// run() over 0 .. count-1 in pieces of at most `piece`: work(thread, first, last).
    void run_pieces(std::int64_t count, std::int64_t piece,
                    const std::function<void(int, std::int64_t, std::int64_t)>& work);

    /// Whether work should end: somebody asked to stop, or another thread failed.
    bool halted() const { return failed_.load(std::memory_order_relaxed) || watch_.stopped(); }

    /// `units` more are done; thread 0 tells the watch now and then, in queries.
    void advance(int thread, std::int64_t units);

  private:
    void guarded(const std::function<void(int)>& work, int thread);

    int threads_;
    const Watch& watch_;
    std::int64_t queries_, units_;
    std::atomic<std::int64_t> done_{0};
    std::atomic<bool> failed_{false};
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
    std::chrono::steady_clock::time_point reported_;
};

}  // namespace knn::cpu
