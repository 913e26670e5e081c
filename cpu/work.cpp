#include "cpu/work.h"

#include <algorithm>

#include "data/core/round_up.h"

namespace knn::cpu {

namespace {
/// Blocks have at least 8 strips and 64 queries: smaller ones read panels too often for their work. The last
/// blocks may have fewer than 8 strips.
constexpr std::int64_t min_strips = 8, block_queries = 64;
constexpr std::int64_t tasks_per_thread = 4;   ///< at least, for load balancing
constexpr std::int64_t pieces_per_slice = 16;  ///< which a block's slices take in turn

}  // namespace

Work::Work(std::int64_t n_query, std::int64_t units, int threads, std::int64_t strip, std::int64_t largest,
           std::int64_t max_slices, bool spares_slices)
    : n_query_(n_query),
      units_(units),
      threads_(threads),
      strip_(strip),
      last_(round_up(block_queries, strip)),
      largest_(std::min(largest, round_up(std::max<std::int64_t>(n_query, 1), strip))) {
    if (threads == 1 || n_query == 0) return;
    const std::int64_t good = std::max(last_, min_strips * strip), blocks = divide_up(n_query, good);
    if (blocks >= threads * tasks_per_thread) {
        largest_ = std::min(share(), largest_);
        return;
    }
    // Rounds in which each thread has the same number of tasks.
    std::int64_t rounds = divide_up(blocks, threads_);
    if (!spares_slices) {
        slices_ = std::min({units, max_slices, threads_, divide_up(threads * tasks_per_thread, blocks)});
        rounds = std::max(divide_up(blocks * slices_, threads_), slices_ < threads_ ? tasks_per_thread : 1);
    }
    const std::int64_t even = round_up(divide_up(n_query * slices_, rounds * threads), strip);
    largest_ = std::min({good, even, largest_});
    const std::int64_t made = divide_up(n_query, largest_);
    if (spares_slices) slices_ = std::min({units, max_slices, divide_up(threads_, made)});
    if (slices_ > 1) taken_ = std::vector<std::atomic<std::int64_t>>(static_cast<std::size_t>(made));
}

std::int64_t Work::share() const {
    return round_up((n_query_ - query_) / (2 * threads_), strip_);
}

std::optional<Task> Work::next() {
    Task task;
    {
        const std::lock_guard lock(mutex_);
        if (query_ >= n_query_) return std::nullopt;
        const std::int64_t block =
            slices_ > 1 ? largest_ : std::clamp(share(), std::min(last_, largest_), largest_);
        task = {query_, std::min(block, n_query_ - query_), 0, units_, slice_};
        if (++slice_ == slices_) {
            slice_ = 0;
            query_ += task.n_query;
        }
    }
    if (slices_ > 1) more(task);
    return task;
}

bool Work::more(Task& task) {
    if (slices_ == 1) return false;
    const std::int64_t piece = std::max<std::int64_t>(units_ / (slices_ * pieces_per_slice), 1);
    const auto block = static_cast<std::size_t>(task.first_query / largest_);
    task.first_unit = std::min(taken_[block].fetch_add(piece), units_);
    task.last_unit = std::min(task.first_unit + piece, units_);
    return task.first_unit < units_;
}

}  // namespace knn::cpu
