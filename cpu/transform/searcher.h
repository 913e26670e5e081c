#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "data/core/searcher.h"

namespace knn::cpu {

/// A search among features: transforms training images and queries, and leaves the rest to the searcher that
/// `open_rows` makes. Adds the stage `transform`. Where the queries are the training images themselves, their features are
/// there already.
class TransformedSearcher : public Searcher {
  public:
    TransformedSearcher(const Training& training, int threads,
                        const std::function<std::unique_ptr<Searcher>(const Rows&)>& open_rows,
                        Timeline& timeline);

    Neighbors search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                     const Watch& watch) override;
    Plan plan() const override { return inner_->plan(); }

  private:
    std::vector<std::uint8_t> transformed(const Rows& images, const Watch& watch, Timeline& timeline) const;

    const FittedTransform& transform_;
    Rows images_;  ///< of the training set
    int threads_;
    std::vector<std::uint8_t> made_;  ///< the features of the training images, unless the caller has them
    Rows features_;
    std::unique_ptr<Searcher> inner_;
};

}  // namespace knn::cpu
