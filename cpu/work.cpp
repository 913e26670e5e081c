#include "cpu/work.h"

#include <algorithm>

#include "cpu/pack.h"

namespace knn::cpu {

namespace {
constexpr std::int64_t few_queries = 64;  ///< a smaller block reads panels too often for what it computes
constexpr std::int64_t tasks_of_a_thread = 4;  ///< at least, so that a slow thread can leave some to others
}  // namespace

Work::Work(std::int64_t n_query, std::int64_t units, int threads, std::int64_t strip, std::int64_t largest)
    : n_query_(n_query),
      units_(units),
      threads_(threads),
      strip_(strip),
      smallest_(std::min(largest, rounded_up(few_queries, strip))),
      largest_(largest) {
    const std::int64_t blocks = std::max<std::int64_t>((n_query + smallest_ - 1) / smallest_, 1);
    if (threads > 1 && blocks < threads * tasks_of_a_thread) {
        largest_ = std::min(smallest_, rounded_up(n_query, strip));
        slices_ = std::min(units, (threads * tasks_of_a_thread + blocks - 1) / blocks);
    }
    largest_ = std::min(largest_, rounded_up(n_query, strip));
}

std::optional<Task> Work::next() {
    const std::lock_guard lock(mutex_);
    if (query_ >= n_query_) return std::nullopt;
    const std::int64_t share = rounded_up((n_query_ - query_) / (2 * threads_), strip_);
    const std::int64_t block =
        slices_ > 1 ? largest_ : std::clamp(share, std::min(smallest_, largest_), largest_);
    const Task task{query_, std::min(block, n_query_ - query_), units_ * slice_ / slices_,
                    units_ * (slice_ + 1) / slices_, slice_};
    if (++slice_ == slices_) {
        slice_ = 0;
        query_ += task.n_query;
    }
    return task;
}

}  // namespace knn::cpu
