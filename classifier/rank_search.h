#pragma once
/// A search by several processes, each of which calls it with the same arguments and gets the same answer: that of one
/// process.

#include <functional>
#include <memory>

#include "classifier/ranks.h"
#include "classifier/shares.h"
#include "data/core/searcher.h"

namespace knn {

class RankSearcher final : public Searcher {
  public:
    /// `plan`: this rank's, whose spread tells which share it has. `open` gets this rank's share of the training
    /// set, or all of it, and is not called if the share is empty.
    RankSearcher(Ranks& ranks, const Training& training, const Plan& plan, Timeline& timeline,
                 const std::function<std::unique_ptr<Searcher>(const Training& training)>& open);

    Neighbors search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                     const Watch& watch) override;
    /// As the ranks' own searchers; throws DeviceError if some can and others cannot.
    bool rerank_by(const Reranking& reranking, Timeline& timeline) override;
    bool votes(const VotingRule& rule) const override;
    Answers search_and_vote(const Rows& queries, const VotingRule& rule, Exclude exclude, Timeline& timeline,
                            const Watch& watch) override;
    Plan plan() const override;

    /// Where each rank has the whole training set, puts `wrap` around this rank's searcher: what it does is then
    /// shared like the queries. Returns whether it did.
    bool wrap(const std::function<std::unique_ptr<Searcher>(std::unique_ptr<Searcher>)>& wrap);

  private:
    Answers run(const Rows& queries, int k, const VotingRule* rule, Exclude exclude, Timeline& timeline,
                const Watch& watch);
    Answers search_own(const Rows& queries, int k, const VotingRule* rule, Exclude exclude,
                       Timeline& timeline, const Watch& watch);
    Neighbors merge_lists(const Neighbors& mine, Timeline& timeline, const Watch& watch);
    template <class Row>
    void gather_rows(const std::vector<Row>& mine, std::int64_t n_query, int row_length,
                     std::vector<Row>& all, const Watch& watch);
    Share queries_of(int rank, std::int64_t n_query) const;
    bool by_queries() const { return plan_.spread == SpreadBy::queries; }

    Ranks& ranks_;
    std::int64_t n_train_;
    Plan plan_;
    Share images_;  ///< of this rank
    std::unique_ptr<Searcher> inner_;
};

/// The timeline of all ranks: the slowest of each stage, and the time of each rank.
Timeline slowest_rank(Ranks& ranks, const Timeline& mine, double ms, const std::atomic<bool>* stop);

}  // namespace knn
