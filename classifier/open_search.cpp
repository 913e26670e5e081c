#include "classifier/open_search.h"

#include "classifier/rank_search.h"
#include "classifier/spread.h"

namespace knn {

std::unique_ptr<Searcher> open_search(const Training& training, const Measure& measure,
                                      const Resolved& resolved, Timeline& timeline) {
    const auto open = [&](const Training& own) {
        return open_spread(*resolved.engine, own, measure, resolved.plan, timeline);
    };
    if (resolved.ranks == nullptr) return open(training);
    return std::make_unique<RankSearcher>(*resolved.ranks, training, resolved.plan, timeline, open);
}

}  // namespace knn
