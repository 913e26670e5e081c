#include "classifier/merge_behind.h"

#include <algorithm>
#include <utility>

#include "classifier/merge.h"
#include "data/core/clock.h"

namespace knn {

MergeBehind::MergeBehind(std::size_t lists, int k, int threads, const std::atomic<bool>* stop,
                         const Tell& tell)
    : k_(k),
      threads_(threads),
      stop_(stop),
      tell_(tell),
      rows_(lists),
      n_found_(lists),
      stage_{.name = "merge", .kind = StageKind::host} {}

void MergeBehind::add(std::size_t list, const FoundRows& rows) {
    const std::lock_guard lock(mutex_);
    rows_[list] = rows.neighbors.data() - rows.begin * k_;
    n_found_[list] = rows.begin + std::ssize(rows.neighbors) / k_;
    const std::int64_t begin = n_given_, end = *std::min_element(n_found_.begin(), n_found_.end());
    if (end == begin) return;
    n_given_ = end;
    jobs_.add([this, begin, end] { merge(begin, end - begin); });
}

void MergeBehind::merge(std::int64_t begin, std::int64_t count) {
    const auto start = Clock::now();
    std::vector<Neighbor*> rows;
    {
        const std::lock_guard lock(mutex_);
        for (Neighbor* first : rows_)
            rows.push_back(first + begin * k_);
    }
    merge_into_first(rows, count, k_, threads_, stop_);
    ++stage_.launches;
    stage_.total_ms += ms_since(start);
    tell_({begin, {rows.front(), static_cast<std::size_t>(count * k_)}, {}});
}

void MergeBehind::finish(Timeline& timeline) {
    jobs_.finish();
    timeline.add(stage_);
}

}  // namespace knn
