#include "cpu/rerank/searcher.h"

#include "cpu/rerank/rerank.h"
#include "data/core/clock.h"

namespace knn::cpu {

RerankedSearcher::RerankedSearcher(const Training& training, std::unique_ptr<Searcher> inner, int threads)
    : reranking_(*training.reranking),
      shape_(training.shape),
      n_train_(training.rows.count),
      threads_(threads),
      inner_(std::move(inner)) {}

Neighbors RerankedSearcher::search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                                   const Watch& watch) {
    require_k(k, n_train_, exclude);
    const int candidates = reranking_.candidates(k, n_train_, exclude.any());
    const Neighbors found = inner_->search(queries, candidates, exclude, timeline, watch);
    if (queries.count == 0) return found;
    const StageKind kind =
        inner_->plan().device.kind == Device::Kind::cpu ? StageKind::kernel : StageKind::host;
    auto start = Clock::now();
    const Descriptors described = describe(reranking_.rerank, queries, shape_, threads_, watch.stop);
    timeline.add({.name = "describe", .launches = 1, .total_ms = ms_since(start), .kind = kind});
    start = Clock::now();
    Watch quiet;
    quiet.stop = watch.stop;
    Neighbors ordered =
        rerank(reranking_.rerank, found, described, reranking_.train, reranking_.density, k, threads_, quiet);
    timeline.add({.name = "rerank", .launches = 1, .total_ms = ms_since(start), .kind = kind});
    return ordered;
}

}  // namespace knn::cpu
