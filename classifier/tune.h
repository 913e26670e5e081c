#pragma once
/// Leave-one-out on a training set for many methods at once: one search at the largest k gives the errors of every
/// smaller k, both weights, both ties and both votes.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "classifier/evaluation.h"
#include "classifier/index.h"

namespace knn {

/// The numbers from `low` to `high`.
std::vector<int> all_k(int low, int high);

/// The voting rules that are tried; without a value, both.
struct VoteRange {
    std::vector<int> k = all_k(1, 30);  ///< ascending
    std::optional<VoteKind> votes;
    std::optional<Weights> weights;  ///< `class-mean` has none
    std::optional<Tie> tie;
};

/// The rules of the range, whatever k, that suit the method, the simplest first. `class-mean` adds up distances, so it needs integers:
/// l2, l1, or a re-ranker. Empty if none is left.
std::vector<VotingRule> vote_kinds(const VoteRange& range, const Method& method);

/// The training images that one configuration gets wrong when each is left out, as bits.
using WrongImages = std::vector<std::uint64_t>;

/// One method and its leave-one-out result.
struct Configuration {
    Method method;
    WrongImages wrong;
    std::size_t search = 0;   ///< by `ranked`
    std::int64_t errors = 0;  ///< the same, and what follows
    Interval share = {};      ///< of errors among the images: the 95 % Wilson interval
    double p_value = 1;       ///< McNemar's test against the best
    bool as_good_as_best = true;
};

/// The results of one search.
class TunedSearch {
  public:
    /// All configurations of `method`, whose k is not read.
    TunedSearch(const Method& method, const VoteRange& range, std::int64_t n_train);

    /// The method of the search: its k is the number of neighbors to search.
    const Method& searched() const { return searched_; }

    /// Classifies every training image by all others; `classifier` was opened with `searched()`. Adds its stages to
    /// `timeline`; the token counts images. Throws as Index::search.
    Plan run(const Index& index, Timeline& timeline, const ProgressToken& token);

    /// By kind and k.
    const std::vector<Configuration>& configurations() const { return configurations_; }
    std::vector<Configuration> take() { return std::move(configurations_); }

  private:
    void count(const Neighbors& part, std::int64_t first, std::span<const std::uint8_t> labels, int threads,
               const ProgressToken& token);

    Method searched_;
    VoteRange range_;
    std::vector<Configuration> configurations_;
};

/// All configurations, the fewest errors first, then in the order of searches, kinds and k. At least one search, with at
/// least one configuration.
std::vector<Configuration> ranked(std::vector<TunedSearch> searches, std::int64_t n_train,
                                  const ProgressToken& token = {});

/// Labels that leave-one-out gets wrong whatever the method, because no other image has them.
std::vector<std::uint8_t> lonely_labels(std::span<const std::uint8_t> labels);

}  // namespace knn
