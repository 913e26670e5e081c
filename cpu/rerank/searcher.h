#pragma once

#include <memory>

#include "data/core/searcher.h"
#include "data/rerank/reranking.h"

namespace knn::cpu {

/// Orders again what another searcher finds. Adds the stages `describe` and `rerank`.
class RerankedSearcher : public Searcher {
  public:
    /// `inner` searches the same training set, without re-ranking.
    RerankedSearcher(const Training& training, std::unique_ptr<Searcher> inner, int threads,
                     Timeline& timeline);

    Neighbors search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                     const Watch& watch) override;
    Plan plan() const override { return inner_->plan(); }

  private:
    Descriptors described(const Rows& images, const std::atomic<bool>* stop, Timeline& timeline) const;

    const Reranking& reranking_;
    ImageShape shape_;
    std::int64_t n_train_;
    int threads_;
    Descriptors made_;  ///< of the training images, unless the caller has them
    std::unique_ptr<Searcher> inner_;
};

}  // namespace knn::cpu
