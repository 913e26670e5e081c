#pragma once
/// One training set on all devices of a plan: those of this process, and those of the ranks that search together. Usually that is
/// one device, whose DeviceIndex::top_k is the search.
///
/// Placement::replicate: every device has the whole training set and searches a share of the queries. Placement::shard:
/// every device has a share of the training set and searches all queries; the lists of all devices are merged by
/// (distance, index) on the host, those of a batch while the devices search the next. What does not fit the plan's limit
/// of memory is searched part by part: while one part is searched, the next is uploaded, so a part takes half of it. What
/// the parts before found is known to the next. Each way gives what one device gives, byte by byte.
///
/// Who does what among ranks, with classifier/index.h:
///   replicate  each rank's Index takes its share of the queries → top_k → re-rank → vote → Index::gather
///   shard      each rank's Sharded opens its share of the images; all queries → top_k → merge_ranks of the rank's share of
///              the queries → re-rank → vote → Index::gather

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "classifier/engines.h"
#include "classifier/plan.h"
#include "classifier/ranks.h"
#include "data/core/device_index.h"

namespace knn {

// Work in equal shares.

/// `count` consecutive items from `begin`.
struct Range {
    std::int64_t begin = 0, count = 0;

    std::int64_t end() const { return begin + count; }
};

/// Range `i` of n items among `shares`: they differ by at most one item; with fewer items than shares some are
/// empty.
inline Range range_of(std::int64_t n, std::int64_t shares, std::int64_t i) {
    const std::int64_t begin = n / shares * i + n % shares * i / shares;
    const std::int64_t end = n / shares * (i + 1) + n % shares * (i + 1) / shares;
    return {begin, end - begin};
}

class Sharded {
  public:
    /// plan.devices, or plan.device alone; devices that get no images stay idle. ranks: null: this process alone; else all
    /// ranks call each function with the same arguments. Throws as Engine::open.
    Sharded(const Engine& engine, const Training& training, const Measure& measure, const Plan& plan,
            Ranks* ranks, Timeline& timeline);
    ~Sharded();

    /// Of n queries, those that this rank searches, and those that it answers: all of this process alone.
    Range searched(std::int64_t n) const;
    Range answered(std::int64_t n) const;

    struct Searched {
        std::int64_t batch = 0;  ///< queries at once
        double ms = 0;           ///< of this process, before ranks wait for each other
    };
    /// As DeviceIndex::top_k. wanted.queries: the slice `searched(n_query)`; result has memory for `answered(n_query)`.
    Searched top_k(const TopKRequest& wanted, const TopKResult& result, std::int64_t n_query,
                   Timeline& timeline, const ProgressToken& token);

    /// As DeviceIndex::expect, of one device that has the whole set.
    void expect(std::int64_t queries, int k, const ProgressToken& token) const;

    /// As DeviceIndex::enqueue: by one device that has the whole set.
    bool enqueue(const DeviceSearch& wanted) const;

  private:
    struct Part;
    struct Shard;
    struct Search;

    Part make_part(const Training& training, Range images, int threads, Timeline& timeline) const;
    std::unique_ptr<DeviceIndex> open(const Part& part, const Plan& plan, Timeline& timeline) const;
    std::int64_t run_shards(std::int64_t n_query, Timeline& timeline, const ProgressToken& token,
                            const std::function<std::int64_t(std::size_t shard, Timeline& timeline,
                                                             const ProgressToken& token)>& work) const;
    void merge_ranks(const Neighbors& mine, const Rows& queries, std::span<Neighbor> merged,
                     Timeline& timeline, const ProgressToken& token) const;
    /// The only device's, which has the whole set; else null.
    DeviceIndex* whole_set() const;
    bool replicates() const { return plan_.placement == Placement::replicate; }
    bool takes_known() const { return engine_.can_with(measure_.real).known; }

    const Engine& engine_;
    Measure measure_;
    Rows compared_;  ///< all training rows as they are compared, if they are real
    Plan plan_;
    Ranks* ranks_;
    std::int64_t n_train_;
    std::vector<Shard> shards_;
    std::mutex one_search_;  ///< where ranks take part, or parts take all memory
};

}  // namespace knn
