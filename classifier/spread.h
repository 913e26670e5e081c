#pragma once
/// A search by several devices of one process: a searcher of searchers.
///
/// SpreadBy::queries: every device has the whole training set and searches a share of the queries. SpreadBy::training:
/// every device has a share of the training set and searches all queries; the lists of all devices are merged by
/// (distance, index) on the host, those of a batch while the devices search the next. Either gives what one device gives,
/// byte by byte. What does not fit the plan's limit of memory is searched part by part: while one part is searched, the
/// next is uploaded, so a part takes half of it. Each part improves what those before found.

#include <functional>
#include <memory>
#include <vector>

#include "classifier/engines.h"
#include "classifier/shares.h"
#include "data/core/searcher.h"

namespace knn {

/// Opens the training set as the plan says: by the engine alone, or spread. Throws as Engine::open.
std::unique_ptr<Searcher> open_spread(const Engine& engine, const Training& training, const Measure& measure,
                                      const Plan& plan, Timeline& timeline);

class SpreadSearcher final : public Searcher {
  public:
    /// plan.devices, or plan.device alone; devices that get no images stay idle.
    SpreadSearcher(const Engine& engine, const Training& training, const Measure& measure, const Plan& plan,
                   Timeline& timeline);

    Neighbors search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                     const Watch& watch) override;
    /// Only where each device has the whole training set at once, as for a vote. Throws DeviceError if some devices
    /// can and others cannot.
    bool rerank_by(const Reranking& reranking, Timeline& timeline) override;
    bool votes(const VotingRule& rule) const override;
    Answers search_and_vote(const Rows& queries, const VotingRule& rule, Exclude exclude, Timeline& timeline,
                            const Watch& watch) override;
    void search_and_tell(const Rows& queries, int k, const VotingRule* rule, Exclude exclude,
                         Timeline& timeline, const Watch& watch, const Tell& tell, Answers& answers) override;
    Plan plan() const override;

  private:
    struct Part {
        Share images;
        Training training;
    };
    /// A device with its parts of the training set.
    struct Lane {
        Plan plan;
        std::vector<Part> parts;
        std::unique_ptr<Searcher> resident;  ///< of the only part; null if there are several
        std::int64_t batch;                  ///< of the last search, if there are several
    };
    using Work = std::function<void(std::size_t lane, Timeline& timeline, const Watch& watch)>;

    std::unique_ptr<Searcher> open_part(const Lane& lane, const Part& part, Timeline& timeline) const;
    /// The k nearest in the lane's parts; tells of them.
    void search_lane(Lane& lane, const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                     const Watch& watch, const Tell& tell, Answers& found);
    void search_parts(Lane& lane, const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                      const Watch& watch, const Tell& tell, Answers& found);
    void search_all_on_each(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                            const Watch& watch, const Tell& tell, Answers& all);
    /// Each device gets a share of the queries. rule: null for neighbors alone.
    void search_shares(const Rows& queries, int k, const VotingRule* rule, Exclude exclude,
                       Timeline& timeline, const Watch& watch, const Tell& tell, Answers& all);
    void run_lanes(std::int64_t n_query, Timeline& timeline, const Watch& watch, const Work& work);
    bool whole_on_each() const;
    Share queries_of(std::size_t lane, std::int64_t n_query) const;
    int host_threads() const;  ///< of a device, for its lists

    const Engine& engine_;
    Measure measure_;
    Plan plan_;
    std::int64_t n_train_;
    std::vector<Lane> lanes_;
};

}  // namespace knn
