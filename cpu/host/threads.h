#pragma once
/// Work on several threads, with progress and cancellation.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

#include "data/core/progress_token.h"

namespace knn {
struct Plan;
}

namespace knn::cpu {

/// One job for a team of threads. The thread that calls `run` is one of them, and only it reports progress.
class Team {
  public:
    /// The job has `queries` queries of `units` units of work each; see `advance`.
    Team(int threads, const ProgressToken& token, std::int64_t queries, std::int64_t units);

    int threads() const { return threads_; }

    /// Calls work(0 .. threads-1), each on its own thread, and waits for all of them. Rethrows the first
    /// exception of any; throws Interrupted if the token requested a stop. `work` returns early when
    /// `halted()`. If the system provides fewer threads, there are fewer calls, so work must be taken from a
    /// shared counter and not divided in advance.
    void run(const std::function<void(int thread)>& work);

    /// run() over 0 .. count-1 in pieces of at most `piece`: work(thread, first, last). Each piece is followed by `advance`, also where
    /// `work` counts nothing as done.
    void run_pieces(std::int64_t count, std::int64_t piece,
                    const std::function<void(int, std::int64_t, std::int64_t)>& work);

    /// Whether to stop: cancellation was requested, or another thread failed.
    bool halted() const { return failed_.load(std::memory_order_relaxed) || token_.stopped(); }

    /// Counts `units` as done; thread 0 occasionally reports to the token, in queries, or asks its StopCallback where the token has
    /// no progress.
    void advance(int thread, std::int64_t units);

  private:
    void guarded(const std::function<void(int)>& work, int thread);

    int threads_;
    const ProgressToken& token_;
    std::int64_t queries_, units_;
    std::atomic<std::int64_t> done_{0};
    std::atomic<bool> failed_{false};
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
    std::chrono::steady_clock::time_point reported_;
};

/// The threads for `count` rows in pieces of `piece`: as many as wanted (0: all of the machine), at most one per piece.
int team_size(int wanted, std::int64_t count, std::int64_t piece);

/// Pieces of `count` rows for all of the threads: of at most `most` rows, but of at least 8, which take some 10 µs each, more than the
/// start of a thread together.
std::int64_t piece_for_all(std::int64_t count, int threads, std::int64_t most);

/// How many lists of k neighbors make a piece, which takes longer than the start of a thread, some 20 µs, for k > 2.
std::int64_t lists_per_piece(int k);

/// As many threads as pay for that much work, at least 1: n threads take n starts and 1/n of the work, least at the root of their ratio.
int paying_threads(double work_ns);
/// plan.threads, and if it spares them no more than pay.
int threads_for(const Plan& plan, double work_ns);

/// work(first, last) on lists of k neighbors, 0 .. count-1, where a neighbor takes some 9 ns, a list 20. On at most `threads` threads,
/// and no more than pay.
void for_lists(std::int64_t count, int k, int threads,
               const std::function<void(std::int64_t, std::int64_t)>& work);

/// work(first, last) on pieces of 0 .. count-1; the token is told how many are done. Throws Interrupted, and what `work` throws.
void for_rows(std::int64_t count, std::int64_t piece, int threads, const ProgressToken& token,
              const std::function<void(std::int64_t, std::int64_t)>& work);
/// The same without progress.
inline void for_rows(std::int64_t count, std::int64_t piece, int threads, const std::atomic<bool>* stop,
                     const std::function<void(std::int64_t, std::int64_t)>& work) {
    for_rows(count, piece, threads, ProgressToken{.progress = nullptr, .stop = stop}, work);
}

}  // namespace knn::cpu
