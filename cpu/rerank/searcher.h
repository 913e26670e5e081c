#pragma once

#include <memory>

#include "data/core/searcher.h"
#include "data/rerank/reranking.h"

namespace knn::cpu {

/// Re-ranks the results of another searcher. Adds the stages `describe`, if there are descriptors, and `rerank`.
class RerankedSearcher : public Searcher {
  public:
    /// `inner` searches the same training set, without re-ranking. training.reranking outlives this; if it has no
    /// descriptors, those of the candidates of each search are made.
    RerankedSearcher(const Training& training, std::unique_ptr<Searcher> inner, int threads);

    Neighbors search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                     const Watch& watch) override;
    Plan plan() const override { return inner_->plan(); }

  private:
    Neighbors reranked(const Neighbors& found, const Descriptors& queries, int k, const Watch& watch) const;
    Neighbors reranked_alone(Neighbors found, const Descriptors& queries, int k, const Watch& watch) const;

    const Reranking& reranking_;
    ImageShape shape_;
    Rows train_;
    int threads_;
    std::unique_ptr<Searcher> inner_;
};

}  // namespace knn::cpu
