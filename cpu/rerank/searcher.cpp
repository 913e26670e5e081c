#include "cpu/rerank/searcher.h"

#include <algorithm>
#include <vector>

#include "cpu/rerank/rerank.h"
#include "data/core/clock.h"

namespace knn::cpu {

RerankedSearcher::RerankedSearcher(const Training& training, std::unique_ptr<Searcher> inner, int threads)
    : reranking_(*training.reranking),
      shape_(training.shape),
      train_(training.rows),
      threads_(threads),
      inner_(std::move(inner)) {}

Neighbors RerankedSearcher::search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                                   const Watch& watch) {
    require_k(k, train_.count, exclude);
    const int candidates = reranking_.candidates(k, train_.count, exclude.any());
    const Neighbors found = inner_->search(queries, candidates, exclude, timeline, watch);
    if (queries.count == 0) return found;
    const StageKind kind =
        inner_->plan().device.kind == Device::Kind::cpu ? StageKind::kernel : StageKind::host;
    auto start = Clock::now();
    if (!reranking_.rerank.has_descriptors()) {
        Neighbors ordered = scaled(reranking_.rerank, found, reranking_.spread, k, threads_);
        timeline.add({.name = "rerank", .launches = 1, .total_ms = ms_since(start), .kind = kind});
        return ordered;
    }
    const Descriptors described = describe(reranking_.rerank, queries, shape_, threads_, watch.stop);
    timeline.add({.name = "describe", .launches = 1, .total_ms = ms_since(start), .kind = kind});
    start = Clock::now();
    Neighbors ordered = reranking_.train.count() == 0 ? reranked_alone(found, described, k, watch.quiet())
                                                      : reranked(found, described, k, watch.quiet());
    timeline.add({.name = "rerank", .launches = 1, .total_ms = ms_since(start), .kind = kind});
    return ordered;
}

Neighbors RerankedSearcher::reranked(const Neighbors& found, const Descriptors& queries, int k,
                                     const Watch& watch) const {
    return rerank(found, queries, reranking_.train, reranking_.density, k, threads_, watch);
}

/// The candidates become a training set of their own, in the same order, so that ties stay as they are.
Neighbors RerankedSearcher::reranked_alone(Neighbors found, const Descriptors& queries, int k,
                                           const Watch& watch) const {
    std::vector<std::uint32_t> images;
    for (const Neighbor& one : found.rows)
        images.push_back(one.index);
    std::sort(images.begin(), images.end());
    images.erase(std::unique(images.begin(), images.end()), images.end());
    std::vector<std::uint8_t> pixels;
    std::vector<std::uint32_t> density;
    for (const std::uint32_t image : images) {
        pixels.insert(pixels.end(), train_.row(image), train_.row(image) + train_.dim);
        if (!reranking_.density.empty()) density.push_back(reranking_.density[image]);
    }
    for (Neighbor& one : found.rows)
        one.index = static_cast<std::uint32_t>(std::lower_bound(images.begin(), images.end(), one.index) -
                                               images.begin());
    const Descriptors described = describe(reranking_.rerank, {pixels.data(), std::ssize(images), train_.dim},
                                           shape_, threads_, watch.stop);
    Neighbors ordered = rerank(found, queries, described, density, k, threads_, watch);
    for (Neighbor& one : ordered.rows)
        one.index = images[one.index];
    return ordered;
}

}  // namespace knn::cpu
