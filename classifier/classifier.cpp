#include "classifier/classifier.h"

#include "classifier/job_queue.h"
#include "classifier/open_search.h"
#include "classifier/rank_search.h"
#include "classifier/spread_fit.h"
#include "classifier/vote.h"
#include "cpu/rerank/rerank.h"
#include "cpu/rerank/searcher.h"
#include "cpu/search.h"
#include "data/core/clock.h"
#include "data/rerank/density.h"

namespace knn {

Classifier::Classifier(const TrainingSet& set, const Method& method, const Resolved& resolved,
                       const Watch& watch)
    : set_(set), training_(set.view()), method_(method), threads_(cpu::available_threads()) {
    const auto start = Clock::now();
    if (!method.transform.is_raw()) take_features(resolved, watch);
    searcher_ = open_search(training_, method_.measure, resolved, opening_);
    if (method.reranks()) {
        fit_reranking(resolved, watch);
        searcher_ = reranked(std::move(searcher_));
    }
    open_ms_ = ms_since(start);
}

/// A GPU makes features faster than they are read, and a rank only those of its own images.
void Classifier::take_features(const Resolved& resolved, const Watch& watch) {
    const TransformSpec& spec = method_.transform;
    if (resolved.engine->on_gpu || resolved.ranks != nullptr) {
        training_.transform = &set_.transform(spec, 0, watch.stop, opening_);
        return;
    }
    const Features& features = set_.features(spec, resolved.plan.threads, watch.stop, opening_);
    training_.transform = &features.transform;
    training_.features = features.rows;
}

/// On the searcher's device if it can, else on the host.
std::unique_ptr<Searcher> Classifier::reranked(std::unique_ptr<Searcher> searcher) {
    if (method_.rerank.has_descriptors() && searcher->rerank_by(reranking_, opening_)) return searcher;
    reranks_on_host_ = true;
    const auto around = [&](std::unique_ptr<Searcher> inner) -> std::unique_ptr<Searcher> {
        return std::make_unique<cpu::RerankedSearcher>(training_, std::move(inner), threads_);
    };
    auto* ranks = dynamic_cast<RankSearcher*>(searcher.get());
    if (ranks != nullptr && ranks->wrap(around)) return searcher;
    return around(std::move(searcher));
}

void Classifier::fit_reranking(const Resolved& resolved, const Watch& watch) {
    const auto start = Clock::now();
    reranking_.rerank = method_.rerank;
    training_.reranking = &reranking_;
    if (is_fitted(set_, method_)) {
        reranking_.density = set_.find<std::uint32_t>(Fitted::density, method_, set_.size());
        reranking_.spread = set_.find<std::int64_t>(Fitted::spread, method_, set_.size());
        return;
    }
    if (method_.rerank.has_descriptors())
        reranking_.density = set_.keep<std::uint32_t>(Fitted::density, method_, fitted_density(watch));
    else
        reranking_.spread = set_.keep<std::int64_t>(
            Fitted::spread, method_, fitted_spread(training_, method_, resolved, opening_, watch));
    opening_.add({.name = "fit", .launches = 1, .total_ms = ms_since(start), .kind = StageKind::host});
}

/// The density of the training set is that of a search without density, each image among all others.
std::vector<std::uint32_t> Classifier::fitted_density(const Watch& watch) {
    const Rows& train = training_.rows;
    Reranking first{.rerank = method_.rerank};
    first.rerank.candidates = density_candidates;
    const bool on_device = searcher_->rerank_by(first, opening_);
    const auto k = static_cast<int>(std::min<std::int64_t>(density_neighbors, train.count - 1));
    const int found = on_device ? k : first.candidates(k, train.count, true);
    Neighbors nearest = searcher_->search(train, found, Exclude{.first = 0}, opening_, watch);
    if (!on_device) {
        reranking_.train = set_.descriptors(method_.rerank, 0, watch.stop, false);
        nearest = cpu::rerank(nearest, reranking_.train, reranking_.train, {}, k, 0, watch.quiet());
    }
    return density_factors(nearest);
}

/// Takes the descriptors of all images where more than these would be candidates. Those of a leave-one-out are not kept:
/// what it fits is.
void Classifier::describe(std::int64_t n_query, int k, bool keep, const Watch& watch) {
    if (!reranks_on_host_ || !method_.rerank.has_descriptors() || reranking_.train.count() > 0) return;
    if (n_query * reranking_.candidates(k, set_.size(), false) >= set_.size())
        reranking_.train = set_.descriptors(method_.rerank, threads_, watch.stop, keep);
}

bool is_fitted(const TrainingSet& set, const Method& method) {
    if (!method.reranks()) return true;
    const std::int64_t n = set.size();
    if (!method.rerank.has_descriptors()) return !set.find<std::int64_t>(Fitted::spread, method, n).empty();
    const bool has_density = method.rerank.density && n > 1;
    return !has_density || !set.find<std::uint32_t>(Fitted::density, method, n).empty();
}

namespace {

/// What the host computes of rows that a search has told of: votes, unless the device has voted, and evidence. In the
/// order in which they are told, while the device searches others.
class Judging {
  public:
    /// threads: of the host.
    Judging(const Training& training, const Method& method, std::int64_t n_query, int voters,
            const Plan& plan, int threads)
        : training_(training),
          method_(method),
          n_query_(static_cast<std::size_t>(n_query)),
          voters_(voters),
          on_cpu_(plan.device.kind == Device::Kind::cpu),
          threads_(threads),
          vote_threads_(on_cpu_ ? plan.threads : threads) {}

    void add(const FoundRows& found) {
        // Nothing else is searched meanwhile: a thread would only cost time.
        if (found.neighbors.size() == n_query_ * static_cast<std::size_t>(voters_)) return judge(found);
        jobs_.add([this, found] { judge(found); });
    }

    /// After the search.
    void finish(std::vector<Vote> device_votes, Classified& result) {
        jobs_.finish();
        result.votes = device_votes.empty() ? std::move(votes_) : std::move(device_votes);
        result.evidence = std::move(evidence_);
        if (stage_.launches > 0) result.timeline.add(stage_);
    }

  private:
    void judge(const FoundRows& found) {
        const VotingRule& rule = method_.vote;
        const Measure measure = method_.neighbor_measure();
        const auto begin = static_cast<std::size_t>(found.begin);
        const std::size_t count = found.neighbors.size() / static_cast<std::size_t>(voters_);
        std::span<const Vote> votes = found.votes;
        if (votes.empty()) {
            const auto start = Clock::now();
            votes_.resize(n_query_);
            const auto here = std::span(votes_).subspan(begin, count);
            vote_rows(found.neighbors, voters_, training_.labels, rule, measure, vote_threads_, here);
            stage_.launches = 1;
            stage_.total_ms += ms_since(start);
            votes = here;
        }
        evidence_.resize(n_query_);
        evidence_of_rows(found.neighbors, voters_, training_.labels, votes, rule, measure, threads_,
                         std::span(evidence_).subspan(begin, count));
    }

    const Training& training_;
    const Method& method_;
    std::size_t n_query_;
    int voters_;
    bool on_cpu_;
    int threads_, vote_threads_;
    std::vector<Vote> votes_;
    std::vector<Evidence> evidence_;
    Stage stage_{.name = "vote", .kind = on_cpu_ ? StageKind::kernel : StageKind::host};
    JobQueue jobs_;
};

}  // namespace

Classified Classifier::classify(const Rows& images, const Watch& watch, Exclude exclude) {
    const auto start = Clock::now();
    Classified result;
    const VotingRule& rule = method_.vote;
    const bool device_votes = searcher_->votes(rule);
    const int voters = device_votes ? rule.k : method_.voters(training_.rows.count - (exclude.any() ? 1 : 0));
    describe(images.count, voters, !exclude.any(), watch);
    Answers answers;
    Judging judging(training_, method_, images.count, voters, searcher_->plan(), threads_);
    searcher_->search_and_tell(
        images, voters, device_votes ? &rule : nullptr, exclude, result.timeline, watch,
        [&](const FoundRows& found) { judging.add(found); }, answers);
    judging.finish(std::move(answers.votes), result);
    result.neighbors = std::move(answers.neighbors);
    result.plan = searcher_->plan();
    if (result.neighbors.k > rule.k) {
        result.all_voters = std::move(result.neighbors);
        result.neighbors = result.all_voters.first(rule.k);
    }
    result.search_ms = ms_since(start);
    return result;
}

Neighbors Classifier::search(const Rows& images, Timeline& timeline, const Watch& watch, Exclude exclude) {
    describe(images.count, method_.vote.k, !exclude.any(), watch);
    return searcher_->search(images, method_.vote.k, exclude, timeline, watch);
}

Neighbors search_on_cpu(const Rows& train, const Rows& queries, int k, const Measure& measure,
                        Exclude exclude, const Watch& watch, int threads) {
    const Engine& engine = *find_engine("cpu");
    Plan plan{.engine = engine.name, .device = cpu_device(), .threads = threads};
    if (const Refusal why = engine.settle({train.count, queries.count, train.dim, k, measure}, plan))
        throw UsageError(*why);
    Timeline timeline;
    return engine.open({train, {}}, measure, plan, timeline)->search(queries, k, exclude, timeline, watch);
}

}  // namespace knn
