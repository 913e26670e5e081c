#pragma once
/// A training set on the devices of a plan, ready to search and to classify.
///
///   queries ─transform─► features ─top-k─► lists ─merge─► neighbors ─re-rank─► neighbors ─vote─► results
///
/// `stages_of` (classifier/plan.cpp) decides which of these a device does, inside DeviceIndex::top_k (gpu/engines/batches.cpp). What it
/// cannot do, such as the vote `class-mean`, the host does in index.cpp. classifier/sharded.h merges, also among ranks.

#include <memory>

#include "classifier/method.h"
#include "classifier/plan.h"
#include "classifier/training_set.h"
#include "data/core/device_index.h"
#include "data/rerank/descriptor.h"

namespace knn {

class Sharded;

struct SearchOptions {
    int k = 0;                   ///< neighbors of each query; 0: as many as the method's
    bool vote = true;            ///< needs labels; false: neighbors alone
    bool keep_features = false;  ///< Results::features
    ProgressToken token = {};
    /// May be empty. With ranks it is called once, at the end, with all queries. A batch has all neighbors that voted.
    BatchCallback on_batch = {};
};

/// The result of a search.
struct Results {
    Neighbors neighbors;                                  ///< n_query × k
    Uninitialized<Vote> votes;                            ///< n_query, or empty if there was no vote
    std::vector<ConfidenceFeatures> confidence_features;  ///< the same; of the neighbors that voted
    Neighbors all_voters;                                 ///< if more than k voted, else empty
    Queries features;  ///< if asked for: what was compared; none where a device or a rank made them
    Timeline timeline;
    double search_ms = 0;  ///< wall clock, votes included
    Plan plan;             ///< with the batch size of the search

    std::span<const Neighbor> voters(std::int64_t query) const {
        return all_voters.n_query > 0 ? all_voters.row(query) : neighbors.row(query);
    }
};

class Index {
  public:
    /// Fits what the method needs to `set`, unless that has it, and moves the training set to the plan's devices. Throws
    /// DeviceError, DataError, UsageError, Interrupted.
    Index(const TrainingSet& set, const Method& method, const Resolved& resolved,
          const ProgressToken& token = {});
    ~Index();

    /// Thread-safe, except with ranks, which call in one order. Throws DeviceError, DataError (not enough memory), Interrupted,
    /// std::invalid_argument (k, or a query that is no image of the set).
    Results search(const Queries& queries, const SearchOptions& options = {}) const;

    /// Queues a search for neighbors without waiting (DeviceIndex::enqueue), and returns true; false where the host has a part in it,
    /// or several devices: then `search` does it. wanted.queries are images of the set's size, wanted.k is at most the set's.
    bool enqueue(const DeviceSearch& wanted) const;

    /// Makes at once what pays for so many queries (DeviceIndex::expect), which will come in small searches.
    void expect(std::int64_t queries, const ProgressToken& token) const;

    /// The method's labels for some training images whose nearest by the top-k search are `nearest`, at least k each: what
    /// re-ranking and vote make of them.
    std::vector<std::uint8_t> labels_of(std::span<const std::uint32_t> images, const Neighbors& nearest,
                                        const ProgressToken& token) const;

    const TrainingSet& set() const { return set_; }
    /// The set with what is fitted to it.
    const Training& training() const { return training_; }
    const FittedReranking& reranking() const { return reranking_; }
    const Method& method() const { return method_; }
    const Plan& plan() const { return plan_; }

    /// The time of opening: the stages that move and arrange the training set, and wall clock.
    const Timeline& opening() const { return opening_; }
    double open_ms() const { return open_ms_; }

  private:
    // fit_reranking.cpp
    void fit_reranking(const Resolved& resolved, const ProgressToken& token);
    std::span<const std::uint32_t> fitted_density(const Resolved& resolved, const ProgressToken& token);
    // index.cpp
    Queries features_of(const Queries& queries, std::int64_t first, Timeline& timeline,
                        const ProgressToken& token) const;
    Neighbors reranked(const Neighbors& found, const Queries& queries, int k, bool describe_all, int threads,
                       Timeline& timeline, const ProgressToken& token) const;
    void gather(std::int64_t n_query, bool has_votes, double ms, const ProgressToken& token,
                Results& results) const;

    TrainingSet set_;
    FittedReranking reranking_;
    Training training_;
    Method method_;
    Plan plan_;
    Ranks* ranks_;
    Timeline opening_;
    double open_ms_ = 0;
    int threads_;  ///< of the host: read once, because the system takes 50 µs to say it
    std::unique_ptr<Sharded> sharded_;
};

/// Whether an index needs no search to be opened: the set has what the method fits.
bool is_fitted(const TrainingSet& set, const Method& method);

/// Throws UsageError unless each of n images has k others, DataError where one image has none.
void require_others(int k, std::int64_t n);

/// By the engine `cpu`, for searches without votes. threads: 0: all. Throws UsageError (refused), DataError.
std::unique_ptr<DeviceIndex> open_on_cpu(const Rows& train, std::int64_t n_query, int k,
                                         const Measure& measure, int threads);

/// One search by it. Throws the same, Interrupted.
Neighbors search_on_cpu(const Rows& train, const Queries& queries, int k, const Measure& measure,
                        const ProgressToken& token = {}, int threads = 0);

/// The k nearest by an engine's index, without votes.
Neighbors nearest_of(DeviceIndex& index, const Queries& queries, int k, Timeline& timeline,
                     const ProgressToken& token);

}  // namespace knn
