#include "classifier/index.h"

#include <algorithm>
#include <array>
#include <functional>

#include "classifier/host.h"
#include "classifier/job_queue.h"
#include "classifier/sharded.h"
#include "classifier/vote.h"
#include "cpu/rerank/rerank.h"
#include "data/core/clock.h"
#include "data/core/errors.h"
#include "data/core/exact_distance.h"
#include "data/core/round_up.h"

namespace knn {

namespace {

/// The descriptors of some of the images.
Descriptors some_of(const Descriptors& all, std::span<const std::uint32_t> images) {
    Descriptors some{all.layout, {}};
    const auto bytes = static_cast<std::size_t>(all.layout.bytes());
    const auto is_next = [](std::uint32_t a, std::uint32_t b) { return b == a + 1; };
    // All in order are by far the most common, and not copied.
    if (std::ranges::adjacent_find(images, std::not_fn(is_next)) == images.end()) {
        some.elsewhere = all.all().subspan(images.front() * bytes, images.size() * bytes);
        return some;
    }
    some.bytes.reserve(images.size() * bytes);
    for (const std::uint32_t image : images)
        some.bytes.insert(some.bytes.end(), all.row(image), all.row(image) + bytes);
    return some;
}

/// Re-ranks without the descriptors of all training images: the candidates become a training set of their own, in the
/// same order, so that ties stay as they are.
Neighbors reranked_alone(Neighbors found, const Descriptors& queries, const FittedReranking& reranking,
                         const Rows& train, int k, int threads, const ProgressToken& token) {
    std::vector<std::uint32_t> images;
    for (const Neighbor& one : found.rows)
        images.push_back(one.index);
    std::sort(images.begin(), images.end());
    images.erase(std::unique(images.begin(), images.end()), images.end());
    const std::vector<std::uint8_t> pixels = gathered(train, images);
    std::vector<std::uint32_t> density;
    if (!reranking.density.empty())
        for (const std::uint32_t image : images)
            density.push_back(reranking.density[image]);
    for (Neighbor& one : found.rows)
        one.index = static_cast<std::uint32_t>(std::lower_bound(images.begin(), images.end(), one.index) -
                                               images.begin());
    const Descriptors described =
        cpu::describe(reranking.rerank, {pixels.data(), std::ssize(images), train.dim}, queries.layout.image,
                      threads, token.stop);
    Neighbors ordered = cpu::rerank(found, queries, described, density, k, threads, token);
    for (Neighbor& one : ordered.rows)
        one.index = images[one.index];
    return ordered;
}

/// Gets pages from the system for what a search of one batch will write: later the device would wait for that.
void touch(Neighbors& found, Results& results) {
    std::ranges::fill(found.rows, Neighbor());
    std::ranges::fill(results.votes, Vote());
    results.confidence_features.resize(results.votes.size());
}

/// The same for all ranks, whose devices may differ: shard if one of them does not hold the whole training set.
Placement agreed_placement(Ranks& ranks, Placement own, const std::atomic<bool>* stop) {
    const std::array mine{static_cast<std::uint8_t>(own)};
    const auto all = gather_all(ranks, mine, stop);
    const std::vector<std::uint8_t> shard{static_cast<std::uint8_t>(Placement::shard)};
    return std::ranges::find(all, shard) != all.end() ? Placement::shard : own;
}

/// What the host does is a kernel where the host is the device.
StageKind host_kind(const Plan& plan) {
    return plan.device.kind == Device::Kind::cpu ? StageKind::kernel : StageKind::host;
}

/// What the host computes of batches: votes, unless the device has voted, and confidence features. In the order in which they come,
/// while the device searches others.
struct Voting {
    const Training& training;
    const Method& method;
    int voters;  ///< neighbors of each query
    const Plan& plan;
    int threads;  ///< of the host
    const BatchCallback& on_batch;
    const ProgressToken& token;
    Results& results;
    double ms = 0;  ///< of votes
    JobQueue jobs = {};

    void add(const ResultBatch& batch) {
        // Nothing else is searched meanwhile: a thread would only cost time.
        if (batch.neighbors.size() == results.votes.size() * at(voters)) return vote_in_parts(batch);
        jobs.add([this, batch] { vote_in_parts(batch); });
    }

    void vote_in_parts(const ResultBatch& batch) {
        constexpr std::size_t neighbors = 1 << 21;  // some 10 ms
        const std::size_t length = at(voters), most = std::max(neighbors / length, std::size_t{1}) * length;
        for (std::size_t i = 0; i < batch.neighbors.size(); i += most) {
            token.throw_if_stopped();
            const auto part = batch.neighbors.subspan(i, std::min(most, batch.neighbors.size() - i));
            vote({batch.first + static_cast<std::int64_t>(i / length), part});
        }
    }

    void vote(const ResultBatch& batch) {
        const std::size_t begin = at(batch.first), count = batch.neighbors.size() / at(voters);
        const auto votes = std::span(results.votes).subspan(begin, count);
        const Measure measure = method.neighbor_measure();
        if (plan.stages.vote != StagePlace::device) {
            const auto start = Clock::now();
            const int own = plan.device.kind == Device::Kind::cpu ? plan.threads : threads;
            vote_rows(batch.neighbors, voters, training.labels, method.vote, measure, own, votes);
            ms += ms_since(start);
        }
        results.confidence_features.resize(results.votes.size());
        const auto confidence_features = std::span(results.confidence_features).subspan(begin, count);
        confidence_features_of(batch.neighbors, voters, training.labels, votes, method.vote, measure, threads,
                               confidence_features);
        if (on_batch) on_batch({batch.first, batch.neighbors, votes, confidence_features});
    }

    /// After the search.
    void finish(Timeline& timeline) {
        jobs.finish();
        if (ms > 0) timeline.add({.name = "vote", .launches = 1, .total_ms = ms, .kind = host_kind(plan)});
    }
};

}  // namespace

Index::Index(const TrainingSet& set, const Method& method, const Resolved& resolved,
             const ProgressToken& token)
    : set_(set),
      training_(set.view()),
      method_(method),
      plan_(resolved.plan),
      ranks_(resolved.ranks),
      threads_(available_threads()) {
    const auto start = Clock::now();
    const Engine& engine = *resolved.engine;
    method_.measure = measure_of(method_.measure, method_.compared_type(set_.images().type));
    if (ranks_ != nullptr) plan_.placement = agreed_placement(*ranks_, plan_.placement, token.stop);
    plan_.stages = stages_of(method, engine, plan_, training_);
    plan_.caches_fits = set_.is_cached();
    if (!method.transform.is_raw()) {
        // A device makes features faster than they are read, and a rank those of its own images, unless it compares real rows of
        // others in a merge.
        const bool has_features =
            plan_.stages.transform == StagePlace::host && (ranks_ == nullptr || method_.measure.real);
        if (has_features) {
            const Features& features = set_.features(method.transform, plan_.threads, token.stop, opening_);
            training_.transform = &features.transform;
            training_.features = features.rows;
        } else {
            training_.transform = &set_.transform(method.transform, 0, token.stop, opening_);
        }
    }
    if (method.reranks()) fit_reranking(resolved, token);
    if (plan_.stages.rerank == StagePlace::device) training_.reranking = &reranking_;
    sharded_ = std::make_unique<Sharded>(engine, training_, method_.measure, plan_, ranks_, opening_);
    open_ms_ = ms_since(start);
}

Index::~Index() = default;

/// What the engine compares: features where the host makes them, else the images themselves. `first`: the index of
/// the first query, for errors.
Queries Index::features_of(const Queries& queries, std::int64_t first, Timeline& timeline,
                           const ProgressToken& token) const {
    if (plan_.stages.transform != StagePlace::host || queries.count() == 0) return queries;
    if (queries.leaves_out() && training_.features.count > 0) return queries.as_rows_of(training_.features);
    const FittedTransform& transform = *training_.transform;
    const auto start = Clock::now();
    const auto made = std::make_shared<const std::vector<std::uint8_t>>(
        cpu::features(transform, queries.rows, plan_.threads, token.stop));
    const Rows rows = transform.rows_out(made->data(), queries.count());
    if (transform.spec.makes_reals()) {  // of queries far from all that the scale was fitted to
        Magnitude magnitude = magnitude_of(rows, plan_.threads, token);
        magnitude.row += first;
        if (const auto why = refuse_elements(method_.measure, magnitude, rows.dim, 1))
            throw std::invalid_argument("queries by §transform " + transform.spec.text() +
                                        ", counted from 1: " + *why);
    }
    timeline.add({.name = "transform",
                  .launches = 1,
                  .total_ms = ms_since(start),
                  .bytes = static_cast<double>(queries.rows.bytes() + rows.bytes())});
    Queries same = queries;
    same.rows = rows;
    same.owner = std::make_shared<const std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
        made, queries.owner);
    return same;
}

/// On the host.
Neighbors Index::reranked(const Neighbors& found, const Queries& queries, int k, bool describe_all,
                          int threads, Timeline& timeline, const ProgressToken& token) const {
    const RerankSpec& rerank = method_.rerank;
    const StageKind kind = host_kind(plan_);
    auto start = Clock::now();
    const auto timed = [&](const char* name) {
        timeline.add_since(name, start, kind);
        start = Clock::now();
    };
    if (!rerank.has_descriptors()) {
        Neighbors ordered = cpu::scaled(rerank, found, reranking_.spread, k, threads);
        timed("rerank");
        return ordered;
    }
    Descriptors all;
    if (describe_all || queries.count() * found.k >= set_.size() || set_.has_descriptors(rerank))
        all = set_.descriptors(rerank, threads_, token.stop, !queries.leaves_out());
    const bool are_described = queries.leaves_out() && all.count() > 0;
    const Descriptors described =
        are_described ? some_of(all, queries.images)
                      : cpu::describe(rerank, queries.rows, training_.shape, threads, token.stop);
    timed("describe");
    Neighbors ordered = all.count() > 0
                            ? cpu::rerank(found, described, all, reranking_.density, k, threads, token)
                            : reranked_alone(found, described, reranking_, training_.rows, k, threads, token);
    timed("rerank");
    return ordered;
}

bool Index::enqueue(const DeviceSearch& wanted) const {
    const auto on_host = [](StagePlace place) { return place == StagePlace::host; };
    return !on_host(plan_.stages.transform) && !on_host(plan_.stages.rerank) && sharded_->enqueue(wanted);
}

void Index::expect(std::int64_t queries, const ProgressToken& token) const {
    const int voters = method_.voters(set_.size());
    const bool host_rerank = plan_.stages.rerank == StagePlace::host;
    sharded_->expect(queries, host_rerank ? reranking_.candidates(voters, set_.size(), false) : voters,
                     token);
}

Results Index::search(const Queries& queries, const SearchOptions& options) const {
    const auto start = Clock::now();
    for (const std::uint32_t image : queries.images)
        if (image >= set_.size()) throw std::invalid_argument("a query that is no training image");
    Method method = method_;
    if (options.k > 0) method.vote.k = options.k;
    const VotingRule& rule = method.vote;
    const std::int64_t n_query = queries.count(), others = set_.size() - (queries.leaves_out() ? 1 : 0);
    const bool device_vote = options.vote && plan_.stages.vote == StagePlace::device;
    const bool host_rerank = plan_.stages.rerank == StagePlace::host;
    const int voters = options.vote && !device_vote ? method.voters(others) : rule.k;
    const int found_k =
        host_rerank ? reranking_.candidates(voters, set_.size(), queries.leaves_out()) : voters;
    const Range searched = sharded_->searched(n_query), answered = sharded_->answered(n_query);
    const ProgressToken& token = options.token;

    Results results;
    Timeline& timeline = results.timeline;
    Neighbors found(answered.count, found_k);
    if (options.vote) results.votes.resize(at(answered.count));
    const BatchCallback on_batch = ranks_ == nullptr ? options.on_batch : BatchCallback();

    // Batches of the final neighbors go to the vote while the device searches others.
    Voting voting{training_, method, voters, plan_, threads_, on_batch, token, results};
    const BatchCallback vote_batch =
        options.vote ? BatchCallback([&](const ResultBatch& batch) { voting.add(batch); }) : on_batch;
    const TopKRequest wanted{.queries = features_of(queries.slice(searched.begin, searched.count),
                                                    searched.begin, timeline, token),
                             .k = found_k,
                             .vote = device_vote ? &rule : nullptr,
                             .on_batch = host_rerank ? BatchCallback() : vote_batch,
                             .meanwhile = [&] { touch(found, results); }};
    const TopKResult memory{found.rows, device_vote ? std::span(results.votes) : std::span<Vote>()};
    if (options.keep_features && plan_.stages.transform != StagePlace::device && ranks_ == nullptr)
        results.features = wanted.queries;
    results.plan = plan_;

    // Top-k, on the device with the stages that the plan gives it; merge.
    const Sharded::Searched own = sharded_->top_k(wanted, memory, n_query, timeline, token);
    results.plan.batch = own.batch;

    // Re-rank and vote on the host, unless the device has.
    if (host_rerank && answered.count > 0) {
        found = reranked(found, queries.slice(answered.begin, answered.count), voters, false, threads_,
                         timeline, token.waiting(n_query, n_query));
        if (vote_batch) vote_batch({0, found.rows});
    }
    voting.finish(timeline);
    results.neighbors = std::move(found);
    if (ranks_ != nullptr) {  // every rank gets all answers
        gather(n_query, options.vote, own.ms, token, results);
        if (options.on_batch)
            options.on_batch({0, results.neighbors.rows, results.votes, results.confidence_features});
    }
    if (results.neighbors.k > rule.k) {
        results.all_voters = std::move(results.neighbors);
        results.neighbors = results.all_voters.first(rule.k);
    }
    results.search_ms = ms_since(start);
    return results;
}

/// Every rank gets what all ranks have answered.
void Index::gather(std::int64_t n_query, bool has_votes, double ms, const ProgressToken& token,
                   Results& results) const {
    Timeline& timeline = results.timeline;
    const auto start = Clock::now();
    const auto gather_rows = [&](auto& rows, int length) {
        auto mine = std::move(rows);
        rows.resize(at(n_query * length));
        Incoming receive;
        for (int r = 0; r < ranks_->size(); ++r) {
            const Range share = range_of(n_query, ranks_->size(), r);
            receive.push_back(std::as_writable_bytes(
                std::span(rows).subspan(at(share.begin * length), at(share.count * length))));
        }
        ranks_->exchange(Outgoing(at(ranks_->size()), std::as_bytes(std::span(mine))), receive, token.stop);
    };
    results.neighbors.n_query = n_query;
    gather_rows(results.neighbors.rows, results.neighbors.k);
    if (has_votes) {
        gather_rows(results.votes, 1);
        gather_rows(results.confidence_features, 1);
    }
    timeline.add_since("exchange", start);
    timeline = gather_timeline(*ranks_, timeline, ms, token.stop);
}

std::vector<std::uint8_t> Index::labels_of(std::span<const std::uint32_t> images, const Neighbors& nearest,
                                           const ProgressToken& token) const {
    const int all = plan_.device.kind == Device::Kind::cpu ? plan_.threads : threads_;
    const int threads = images.size() > 1 ? all : 1;
    const int voters = std::min(method_.voters(nearest.k), nearest.k);
    Queries who;  // without rows: their descriptors are those of the training images
    who.images = images;
    who.rows.count = std::ssize(images);
    Timeline timeline;
    const Neighbors voting = method_.reranks()
                                 ? reranked(nearest, who, voters, true, threads, timeline, token.quiet())
                                 : nearest.first(voters);
    std::vector<std::uint8_t> labels;
    for (const Vote& vote :
         votes(voting, training_.labels, method_.vote, method_.neighbor_measure(), threads))
        labels.push_back(vote.label);
    return labels;
}

void require_others(int k, std::int64_t n) {
    if (n < 2) throw DataError("training set: has one row, which has no neighbor; expected at least two");
    if (const UnsupportedReason why = refuse_k(k, n - 1)) throw UsageError(*why);
}

Neighbors nearest_of(DeviceIndex& index, const Queries& queries, int k, Timeline& timeline,
                     const ProgressToken& token) {
    Neighbors found(queries.count(), k);
    index.top_k({.queries = queries, .k = k}, {found.rows}, timeline, token);
    return found;
}

std::unique_ptr<DeviceIndex> open_on_cpu(const Rows& train, std::int64_t n_query, int k,
                                         const Measure& measure, int threads) {
    const Measure real = measure_of(measure, train.type);
    const Resolved cpu = resolve_on_cpu({train.count, n_query, train.dim, k, real, train.type}, threads);
    Timeline timeline;
    return cpu.engine->open({train, {}}, real, cpu.plan, timeline);
}

Neighbors search_on_cpu(const Rows& train, const Queries& queries, int k, const Measure& measure,
                        const ProgressToken& token, int threads) {
    Timeline timeline;
    return nearest_of(*open_on_cpu(train, queries.count(), k, measure, threads), queries, k, timeline, token);
}

}  // namespace knn
