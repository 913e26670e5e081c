#include "classifier/classifier.h"

#include "classifier/open_search.h"
#include "classifier/rank_search.h"
#include "classifier/spread_fit.h"
#include "classifier/vote.h"
#include "cpu/rerank/rerank.h"
#include "cpu/rerank/searcher.h"
#include "cpu/search.h"
#include "cpu/transform/transform.h"
#include "data/core/clock.h"
#include "data/rerank/density.h"

namespace knn {

Classifier::Classifier(const Training& training, const Method& method, const Resolved& resolved,
                       const Watch& watch)
    : training_(training), method_(method) {
    const auto start = Clock::now();
    if (!method.transform.is_raw() && training.transform == nullptr) {
        fitted_ = std::make_unique<FittedTransform>(
            cpu::fit(method.transform, training.rows, training.shape, 0, watch.stop));
        training_.transform = fitted_.get();
        opening_.add({.name = "fit", .launches = 1, .total_ms = ms_since(start), .kind = StageKind::host});
    }
    searcher_ = open_search(training_, method_.measure, resolved, opening_);
    if (method.reranks()) {
        if (training.reranking == nullptr) fit_reranking(resolved, watch);
        searcher_ = reranked(std::move(searcher_), *training_.reranking);
    }
    open_ms_ = ms_since(start);
}

/// On the searcher's device if it can, else on the host.
std::unique_ptr<Searcher> Classifier::reranked(std::unique_ptr<Searcher> searcher,
                                               const Reranking& reranking) {
    if (reranking.rerank.has_descriptors() && searcher->rerank_by(reranking, opening_)) return searcher;
    Training training = training_;
    training.reranking = &reranking;
    const auto around = [&](std::unique_ptr<Searcher> inner) -> std::unique_ptr<Searcher> {
        return std::make_unique<cpu::RerankedSearcher>(training, std::move(inner), cpu::available_threads());
    };
    auto* ranks = dynamic_cast<RankSearcher*>(searcher.get());
    if (ranks != nullptr && ranks->wrap(around)) return searcher;
    return around(std::move(searcher));
}

void Classifier::fit_reranking(const Resolved& resolved, const Watch& watch) {
    const auto start = Clock::now();
    reranking_ = std::make_unique<Reranking>(
        Reranking{.rerank = method_.rerank, .train = {}, .density = {}, .spread = {}});
    if (method_.rerank.has_descriptors())
        fit_density(watch);
    else
        reranking_->spread = fitted_spread(training_, method_, resolved, opening_, watch);
    training_.reranking = reranking_.get();
    opening_.add({.name = "fit", .launches = 1, .total_ms = ms_since(start), .kind = StageKind::host});
}

/// The density of the training set is that of a search without density, each image among all others.
void Classifier::fit_density(const Watch& watch) {
    const Rows& train = training_.rows;
    Reranking first = *reranking_;
    first.rerank.candidates = density_candidates;
    const bool on_device = searcher_->rerank_by(first, opening_);
    if (!on_device) reranking_->train = cpu::describe(method_.rerank, train, training_.shape, 0, watch.stop);
    if (method_.rerank.density && train.count > 1) {
        const auto k = static_cast<int>(std::min<std::int64_t>(density_neighbors, train.count - 1));
        const int found = on_device ? k : first.candidates(k, train.count, true);
        Neighbors nearest = searcher_->search(train, found, Exclude{.first = 0}, opening_, watch);
        if (!on_device)
            nearest = cpu::rerank(method_.rerank, nearest, reranking_->train, reranking_->train, {}, k, 0,
                                  watch.quiet());
        reranking_->density = density_factors(nearest);
    }
}

Classified Classifier::classify(const Rows& images, const Watch& watch, Exclude exclude) {
    const auto start = Clock::now();
    Classified result;
    const VotingRule& rule = method_.vote;
    if (searcher_->votes(rule)) {
        Answers answers = searcher_->search_and_vote(images, rule, exclude, result.timeline, watch);
        result.neighbors = std::move(answers.neighbors);
        result.votes = std::move(answers.votes);
        result.plan = searcher_->plan();
    } else {
        const int voters = method_.voters(training_.rows.count - (exclude.any() ? 1 : 0));
        result.neighbors = searcher_->search(images, voters, exclude, result.timeline, watch);
        result.plan = searcher_->plan();
        const bool on_cpu = result.plan.device.kind == Device::Kind::cpu;
        const auto voting = Clock::now();
        result.votes = votes(result.neighbors, training_.labels, rule, method_.neighbor_measure(),
                             on_cpu ? result.plan.threads : cpu::available_threads());
        result.timeline.add({.name = "vote",
                             .launches = 1,
                             .total_ms = ms_since(voting),
                             .kind = on_cpu ? StageKind::kernel : StageKind::host});
    }
    // On all cores, also where the search ran on a GPU.
    result.evidence = all_evidence(result.neighbors, training_.labels, result.votes, rule,
                                   method_.neighbor_measure(), cpu::available_threads());
    if (result.neighbors.k > rule.k) {
        result.all_voters = std::move(result.neighbors);
        result.neighbors = result.all_voters.first(rule.k);
    }
    result.search_ms = ms_since(start);
    return result;
}

Neighbors Classifier::search(const Rows& images, Timeline& timeline, const Watch& watch, Exclude exclude) {
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
