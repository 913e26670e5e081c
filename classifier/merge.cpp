#include "classifier/merge.h"

#include <algorithm>
#include <utility>

#include "classifier/host.h"
#include "data/core/clock.h"
#include "data/core/round_up.h"

namespace knn {

void merge_top_k(std::span<Neighbor* const> lists, std::int64_t count, int k, int threads,
                 const std::atomic<bool>* stop, Timeline& timeline) {
    const auto start = Clock::now();
    const std::int64_t n = lists.size() > 1 ? count : 0;
    for_rows(n, lists_per_piece(k), threads, stop, [&](std::int64_t first, std::int64_t last) {
        std::vector<Neighbor> both(at(2 * k));
        for (std::int64_t q = first; q < last; ++q) {
            Neighbor* const row = lists.front() + q * k;
            for (const Neighbor* list : lists.subspan(1)) {
                std::merge(row, row + k, list + q * k, list + (q + 1) * k, both.begin());
                std::copy_n(both.begin(), k, row);
            }
        }
    });
    timeline.add({.name = "merge", .launches = 1, .total_ms = ms_since(start), .kind = StageKind::host});
}

MergeBehind::MergeBehind(std::vector<Neighbor*> lists, int k, const ProgressToken& token,
                         const BatchCallback& on_batch)
    : lists_(std::move(lists)), n_found_(lists_.size()), k_(k), token_(token), on_batch_(on_batch) {}

void MergeBehind::add(std::size_t list, const ResultBatch& batch) {
    const std::lock_guard lock(mutex_);
    n_found_[list] = batch.first + std::ssize(batch.neighbors) / k_;
    const std::int64_t begin = n_given_, end = *std::min_element(n_found_.begin(), n_found_.end());
    if (end == begin) return;
    n_given_ = end;
    jobs_.add([this, begin, end] { merge(begin, end - begin); });
}

void MergeBehind::finish(Timeline& timeline) {
    jobs_.finish();
    timeline.add(timeline_);
}

void MergeBehind::merge(std::int64_t begin, std::int64_t count) {
    std::vector<Neighbor*> rows;
    for (Neighbor* list : lists_)
        rows.push_back(list + begin * k_);
    merge_top_k(rows, count, k_, available_threads(), token_.stop, timeline_);
    if (on_batch_) on_batch_({begin, {rows.front(), at(count * k_)}});
}

}  // namespace knn
