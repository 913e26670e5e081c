#pragma once
/// A k-NN classifier: a training set on the device of a plan, ready to classify.

#include <memory>

#include "classifier/evidence.h"
#include "classifier/method.h"
#include "classifier/plan.h"
#include "classifier/training_set.h"
#include "data/core/searcher.h"
#include "data/rerank/reranking.h"

namespace knn {

/// The result of classifying images.
struct Classified {
    Neighbors neighbors;             ///< n_query × k
    std::vector<Vote> votes;         ///< n_query
    std::vector<Evidence> evidence;  ///< n_query; of the neighbors that voted
    Neighbors all_voters;            ///< if more than k voted, else empty
    Timeline timeline;
    double search_ms = 0;  ///< wall clock, votes included
    Plan plan;             ///< with the batch size of the search

    std::span<const Neighbor> voters(std::int64_t query) const {
        return all_voters.n_query > 0 ? all_voters.row(query) : neighbors.row(query);
    }
};

class Classifier {
  public:
    /// Fits what the method needs to `set`, unless that has it, and moves the training set to the plan's device. Throws
    /// DeviceError, DataError, UsageError, Interrupted.
    Classifier(const TrainingSet& set, const Method& method, const Resolved& resolved,
               const Watch& watch = {});

    const TrainingSet& set() const { return set_; }
    /// The set with what is fitted to it.
    const Training& training() const { return training_; }
    const Method& method() const { return method_; }

    /// Neighbors and votes of each image. Throws DeviceError, DataError (not enough memory), Interrupted.
    Classified classify(const Rows& images, const Watch& watch, Exclude exclude = {});

    /// Neighbors alone, which need no labels; adds its stages to `timeline`. Throws as `classify`.
    Neighbors search(const Rows& images, Timeline& timeline, const Watch& watch, Exclude exclude = {});

    /// The plan, with the batch size of the last search.
    Plan plan() const { return searcher_->plan(); }

    /// The time of opening: the stages that move and arrange the training set, and wall clock.
    const Timeline& opening() const { return opening_; }
    double open_ms() const { return open_ms_; }

  private:
    void take_features(const Resolved& resolved, const Watch& watch);
    void fit_reranking(const Resolved& resolved, const Watch& watch);
    std::vector<std::uint32_t> fitted_density(const Watch& watch);
    std::unique_ptr<Searcher> reranked(std::unique_ptr<Searcher> searcher);
    void describe(std::int64_t n_query, int k, bool keep, const Watch& watch);

    TrainingSet set_;
    Reranking reranking_;
    Training training_;
    Method method_;
    Timeline opening_;
    double open_ms_ = 0;
    int threads_;  ///< of the host: read once, because the system takes 50 µs to say it
    std::unique_ptr<Searcher> searcher_;
    bool reranks_on_host_ = false;
};

/// Whether a classifier needs no search to be opened: the set has what the method fits.
bool is_fitted(const TrainingSet& set, const Method& method);

/// One search by the engine `cpu`, without votes. Throws UsageError (refused), DataError, Interrupted.
Neighbors search_on_cpu(const Rows& train, const Rows& queries, int k, const Measure& measure,
                        Exclude exclude = {}, const Watch& watch = {}, int threads = 0);

}  // namespace knn
