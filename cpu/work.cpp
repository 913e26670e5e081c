#include "cpu/work.h"

#include <algorithm>

#include "cpu/pack.h"

namespace knn::cpu {

namespace {
/// Blocks have at least 8 strips and 64 queries: smaller ones read panels too often for their work. The last
/// blocks may have fewer than 8 strips.
constexpr std::int64_t min_strips = 8, block_queries = 64;
constexpr std::int64_t tasks_per_thread = 4;  ///< at least, for load balancing

}  // namespace

Work::Work(std::int64_t n_query, std::int64_t units, int threads, std::int64_t strip, std::int64_t largest,
           std::int64_t max_slices)
    : n_query_(n_query),
      units_(units),
      threads_(threads),
      strip_(strip),
      last_(round_up(block_queries, strip)),
      largest_(std::min(largest, round_up(std::max<std::int64_t>(n_query, 1), strip))) {
    if (threads == 1 || n_query == 0) return;
    const std::int64_t good = std::max(last_, min_strips * strip), blocks = divide_up(n_query, good);
    if (blocks < threads * tasks_per_thread) {
        slices_ = std::min({units, max_slices, divide_up(threads * tasks_per_thread, blocks)});
        // The same number of tasks for each thread.
        const std::int64_t rounds = std::max(divide_up(blocks * slices_, threads), tasks_per_thread);
        const std::int64_t even = round_up(divide_up(n_query * slices_, rounds * threads), strip);
        largest_ = std::min({good, even, largest_});
    } else {
        largest_ = std::min(share(), largest_);
    }
}

std::int64_t Work::share() const {
    return round_up((n_query_ - query_) / (2 * threads_), strip_);
}

std::optional<Task> Work::next() {
    const std::lock_guard lock(mutex_);
    if (query_ >= n_query_) return std::nullopt;
    const std::int64_t block =
        slices_ > 1 ? largest_ : std::clamp(share(), std::min(last_, largest_), largest_);
    const Task task{query_, std::min(block, n_query_ - query_), units_ * slice_ / slices_,
                    units_ * (slice_ + 1) / slices_, slice_};
    if (++slice_ == slices_) {
        slice_ = 0;
        query_ += task.n_query;
    }
    return task;
}

}  // namespace knn::cpu
