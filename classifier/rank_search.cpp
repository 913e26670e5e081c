#include "classifier/rank_search.h"

#include <algorithm>
#include <cstring>

#include "classifier/merge.h"
#include "cpu/search.h"
#include "data/core/clock.h"
#include "data/core/errors.h"

namespace knn {

namespace {

template <class T>
std::span<const std::uint8_t> bytes_of(const T* data, std::size_t count) {
    return {reinterpret_cast<const std::uint8_t*>(data), count * sizeof(T)};
}
template <class T>
std::span<std::uint8_t> bytes_of(T* data, std::size_t count) {
    return {reinterpret_cast<std::uint8_t*>(data), count * sizeof(T)};
}

std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

/// A stage as it is sent; names of stages are short.
struct PackedStage {
    char name[40] = "";
    std::int64_t launches = 0;
    double total_ms = 0, bytes = 0, operations = 0;
    StageKind kind = StageKind::kernel;
};

std::vector<PackedStage> packed(const Timeline& timeline, double ms) {
    std::vector<PackedStage> all(1);
    all[0].total_ms = ms;
    for (const Stage& stage : timeline.stages()) {
        PackedStage& one = all.emplace_back();
        stage.name.copy(one.name, sizeof one.name - 1);
        one.launches = stage.launches;
        one.total_ms = stage.total_ms;
        one.bytes = stage.bytes;
        one.operations = stage.operations;
        one.kind = stage.kind;
    }
    return all;
}

/// Of this rank: it reports its share of the queries.
Watch scaled(const Watch& watch, std::int64_t own, std::int64_t all) {
    Watch part = watch;
    if (watch.progress)
        part.progress = [&watch, own, all](std::int64_t done, std::int64_t) {
            watch.progress(done * all / std::max<std::int64_t>(own, 1), all);
        };
    return part;
}

}  // namespace

Timeline slowest_rank(Ranks& ranks, const Timeline& mine, double ms, const std::atomic<bool>* stop) {
    const std::vector<PackedStage> own = packed(mine, ms);
    std::vector<Timeline> timelines;
    std::vector<double> rank_ms;
    for (const auto& bytes : gather_all(ranks, bytes_of(own.data(), own.size()), stop)) {
        std::vector<PackedStage> stages(bytes.size() / sizeof(PackedStage));
        std::memcpy(stages.data(), bytes.data(), stages.size() * sizeof(PackedStage));
        Timeline& timeline = timelines.emplace_back();
        for (std::size_t i = 1; i < stages.size(); ++i) {
            const PackedStage& one = stages[i];
            timeline.add({one.name, one.launches, one.total_ms, one.bytes, one.operations, one.kind});
        }
        rank_ms.push_back(stages.at(0).total_ms);
    }
    Timeline all = slowest(timelines);
    all.add_device_ms(rank_ms);
    return all;
}

RankSearcher::RankSearcher(Ranks& ranks, const Training& training, const Plan& plan, Timeline& timeline,
                           const std::function<std::unique_ptr<Searcher>(const Training&)>& open)
    : ranks_(ranks), n_train_(training.rows.count), plan_(plan), images_{0, n_train_} {
    if (!by_queries()) images_ = share_of(n_train_, ranks.size(), ranks.rank());
    if (images_.count > 0) inner_ = open(slice(training, images_));
    timeline = slowest_rank(ranks, timeline, 0, nullptr);
}

Share RankSearcher::queries_of(int rank, std::int64_t n_query) const {
    return share_of(n_query, ranks_.size(), rank);
}

/// This rank's answers: to its own queries, or to all queries among its own images.
Answers RankSearcher::search_own(const Rows& queries, int k, const VotingRule* rule, Exclude exclude,
                                 Timeline& timeline, const Watch& watch) {
    Answers own;
    if (!by_queries()) {
        if (inner_)
            search_part(*inner_, images_, queries, k, exclude, timeline, watch, {}, own);
        else
            own.neighbors = no_neighbors(queries.count, k);
        return own;
    }
    const Share share = queries_of(ranks_.rank(), queries.count);
    if (share.count == 0) return own;
    const Rows rows = queries.slice(share.begin, share.count);
    const Watch part = scaled(watch, share.count, queries.count);
    if (rule != nullptr)
        return inner_->search_and_vote(rows, *rule, exclude.from(share.begin), timeline, part);
    own.neighbors = inner_->search(rows, k, exclude.from(share.begin), timeline, part);
    return own;
}

/// Each rank merges the lists of its share of the queries.
Neighbors RankSearcher::merge_lists(const Neighbors& mine, Timeline& timeline, const Watch& watch) {
    auto start = Clock::now();
    const int size = ranks_.size(), k = mine.k;
    const Share own = queries_of(ranks_.rank(), mine.n_query);
    std::vector<Neighbors> lists(static_cast<std::size_t>(size), Neighbors(own.count, k));
    Outgoing send;
    Incoming receive;
    for (int r = 0; r < size; ++r) {
        const Share theirs = queries_of(r, mine.n_query);
        send.push_back(bytes_of(mine.rows.data() + theirs.begin * k, at(theirs.count * k)));
        Neighbors& list = lists[static_cast<std::size_t>(r)];
        receive.push_back(bytes_of(list.rows.data(), list.rows.size()));
    }
    ranks_.exchange(send, receive, watch.stop);
    timeline.add({.name = "exchange", .launches = 1, .total_ms = ms_since(start), .kind = StageKind::host});
    start = Clock::now();
    Neighbors found = merged(std::move(lists), std::max(plan_.threads, 1), watch.stop);
    timeline.add({.name = "merge", .launches = 1, .total_ms = ms_since(start), .kind = StageKind::host});
    return found;
}

template <class Row>
void RankSearcher::gather_rows(const std::vector<Row>& mine, std::int64_t n_query, int row_length,
                               std::vector<Row>& all, const Watch& watch) {
    all.resize(at(n_query * row_length));
    Incoming receive;
    for (int r = 0; r < ranks_.size(); ++r) {
        const Share share = queries_of(r, n_query);
        receive.push_back(bytes_of(all.data() + share.begin * row_length, at(share.count * row_length)));
    }
    const auto own = bytes_of(mine.data(), mine.size());
    ranks_.exchange(Outgoing(static_cast<std::size_t>(ranks_.size()), own), receive, watch.stop);
}

Answers RankSearcher::run(const Rows& queries, int k, const VotingRule* rule, Exclude exclude,
                          Timeline& timeline, const Watch& watch) {
    require_k(k, n_train_, exclude);
    watch.step(0, queries.count);
    Answers answers;
    answers.neighbors = Neighbors(0, k);
    if (queries.count == 0) return answers;
    Timeline mine;
    auto start = Clock::now();
    Answers own = search_own(queries, k, rule, exclude, mine, watch);
    const double search_ms = ms_since(start);
    if (!by_queries()) own.neighbors = merge_lists(own.neighbors, mine, watch);
    start = Clock::now();
    answers.neighbors.n_query = queries.count;
    gather_rows(own.neighbors.rows, queries.count, k, answers.neighbors.rows, watch);
    if (rule != nullptr) gather_rows(own.votes, queries.count, 1, answers.votes, watch);
    mine.add({.name = "exchange", .launches = 1, .total_ms = ms_since(start), .kind = StageKind::host});
    timeline.add(slowest_rank(ranks_, mine, search_ms, watch.stop));
    watch.step(queries.count, queries.count);
    return answers;
}

Neighbors RankSearcher::search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                               const Watch& watch) {
    return run(queries, k, nullptr, exclude, timeline, watch).neighbors;
}

bool RankSearcher::rerank_by(const Reranking& reranking, Timeline& timeline) {
    if (!by_queries()) return false;
    const std::uint8_t can = inner_->rerank_by(reranking, timeline) ? 1 : 0;
    for (const auto& theirs : gather_all(ranks_, {&can, 1}, nullptr))
        if (theirs.front() != can)
            throw DeviceError("only some ranks can re-rank on their device; expected devices of one kind");
    return can != 0;
}

bool RankSearcher::votes(const VotingRule& rule) const {
    return by_queries() && inner_->votes(rule);
}

Answers RankSearcher::search_and_vote(const Rows& queries, const VotingRule& rule, Exclude exclude,
                                      Timeline& timeline, const Watch& watch) {
    return run(queries, rule.k, &rule, exclude, timeline, watch);
}

Plan RankSearcher::plan() const {
    Plan plan = plan_;
    if (inner_) plan.batch = inner_->plan().batch;
    return plan;
}

bool RankSearcher::wrap(const std::function<std::unique_ptr<Searcher>(std::unique_ptr<Searcher>)>& wrap) {
    if (!by_queries()) return false;
    inner_ = wrap(std::move(inner_));
    return true;
}

}  // namespace knn
