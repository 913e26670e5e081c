#include "cpu/rerank/searcher.h"

#include "cpu/rerank/rerank.h"
#include "data/core/clock.h"

namespace knn::cpu {

RerankedSearcher::RerankedSearcher(const Training& training, std::unique_ptr<Searcher> inner, int threads,
                                   Timeline& timeline)
    : reranking_(*training.reranking),
      shape_(training.shape),
      n_train_(training.rows.count),
      threads_(threads),
      inner_(std::move(inner)) {
    if (reranking_.train.bytes.empty()) made_ = described(training.rows, nullptr, timeline);
}

Neighbors RerankedSearcher::search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                                   const Watch& watch) {
    require_k(k, n_train_, exclude);
    const int candidates = reranking_.candidates(k, n_train_, exclude.any());
    const Neighbors found = inner_->search(queries, candidates, exclude, timeline, watch);
    if (queries.count == 0) return found;
    const Descriptors of_queries = described(queries, watch.stop, timeline);
    const Descriptors& of_training = made_.bytes.empty() ? reranking_.train : made_;
    Watch quiet;
    quiet.stop = watch.stop;
    const auto start = Clock::now();
    Neighbors ordered =
        rerank(reranking_.rerank, found, of_queries, of_training, reranking_.density, k, threads_, quiet);
    timeline.add({.name = "rerank", .launches = 1, .total_ms = ms_since(start)});
    return ordered;
}

Descriptors RerankedSearcher::described(const Rows& images, const std::atomic<bool>* stop,
                                        Timeline& timeline) const {
    const auto start = Clock::now();
    Descriptors made = describe(reranking_.rerank, images, shape_, threads_, stop);
    timeline.add(
        {.name = "describe",
         .launches = 1,
         .total_ms = ms_since(start),
         .bytes = static_cast<double>(images.count * images.dim) + static_cast<double>(made.bytes.size())});
    return made;
}

}  // namespace knn::cpu
