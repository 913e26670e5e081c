#include "classifier/tune.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "classifier/graph.h"
#include "classifier/vote.h"
#include "cpu/host/host.h"
#include "cpu/host/threads.h"
#include "data/core/clock.h"
#include "data/core/round_up.h"

namespace knn {

namespace {

constexpr std::int64_t word_bits = 64;
/// Images that are searched before their votes are counted: a re-ranker shows no progress of its own.
constexpr std::int64_t reranked_part = 4096;

std::int64_t count_of(const WrongImages& wrong) {
    std::int64_t count = 0;
    for (const std::uint64_t word : wrong)
        count += std::popcount(word);
    return count;
}

double p_against(const WrongImages& best, const WrongImages& other) {
    std::int64_t only_best = 0, only_other = 0;
    for (std::size_t i = 0; i < best.size(); ++i) {
        only_best += std::popcount(other[i] & ~best[i]);
        only_other += std::popcount(best[i] & ~other[i]);
    }
    return mcnemar_p(only_best, only_other);
}

/// Majority votes in one pass: calls report(k, label) for each k up to `high`. Sums only grow, so the classes with the
/// largest sum change with the class that was added alone.
template <class Report>
void for_majorities(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels,
                    const VotingRule& kind, const Measure& measure, int high, const Report& report) {
    const std::uint32_t closest = neighbors.front().distance;
    std::array<double, 256> sums{};
    std::array<int, 256> first{};  // k, by label with a sum
    double largest = 0;
    std::uint8_t smallest = 0, nearest = 0;  // of the classes with the largest
    for (int k = 1; k <= high; ++k) {
        const Neighbor& last = neighbors[at(k - 1)];
        const std::uint8_t label = labels[last.index];
        if (sums[label] == 0) first[label] = k;
        const double sum = sums[label] += vote_weight(last.distance, closest, kind.weights, measure);
        if (sum > largest) {
            largest = sum;
            smallest = nearest = label;
        } else if (sum == largest) {
            smallest = std::min(smallest, label);
            if (first[label] < first[nearest]) nearest = label;
        }
        report(k, kind.tie == Tie::smallest ? smallest : nearest);
    }
}

/// The same for each k from `low`. Up to the number of candidates it reads all of them, a larger one the nearest k
/// (Method::voters).
template <class Report>
void for_means(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, Tie tie,
               int candidates, int low, int high, ClassMeans& means, const Report& report) {
    means.clear();
    std::size_t added = 0;
    for (int k = low; k <= high; ++k) {
        const std::size_t read = std::max(at(k), std::min(at(candidates), neighbors.size()));
        for (; added < read; ++added)
            means.add(labels[neighbors[added].index], neighbors[added].distance);
        report(k, means.label(k, tie));
    }
}

}  // namespace

std::vector<int> all_k(int low, int high) {
    std::vector<int> all(at(high - low + 1));
    std::iota(all.begin(), all.end(), low);
    return all;
}

std::vector<VotingRule> vote_kinds(const VoteRange& range, const Method& method) {
    std::vector<VotingRule> kinds;
    const bool integers = is_integral(method.neighbor_measure());
    for (const VoteKind votes : {VoteKind::majority, VoteKind::class_mean})
        for (const Weights weights : {Weights::uniform, Weights::distance})
            for (const Tie tie : {Tie::smallest, Tie::nearest}) {
                const bool weighs = votes == VoteKind::majority;
                const bool suits = weighs ? range.weights.value_or(weights) == weights
                                          : integers && weights == Weights::uniform;
                if (suits && range.votes.value_or(votes) == votes && range.tie.value_or(tie) == tie)
                    kinds.push_back({.weights = weights, .tie = tie, .votes = votes});
            }
    return kinds;
}

TunedSearch::TunedSearch(const Method& method, const VoteRange& range, std::int64_t n_train)
    : searched_(method), range_(range) {
    int most = 1;  // neighbors that a vote reads
    Method tried = method;
    for (const VotingRule& kind : vote_kinds(range, method)) {
        tried.vote = kind;
        for (const int k : range.k) {
            tried.vote.k = k;
            configurations_.push_back({.method = tried, .wrong = {}});
            most = std::max(most, tried.voters(n_train - 1));
        }
    }
    searched_.vote = VotingRule{.k = most};
}

void TunedSearch::count(const Neighbors& part, std::int64_t first, std::span<const std::uint8_t> labels,
                        int threads, const ProgressToken& token) {
    const int low = range_.k.front(), high = range_.k.back();
    constexpr std::ptrdiff_t none = -1;
    std::vector<std::ptrdiff_t> place(at(high + 1), none);  // of a k in the range
    for (std::size_t i = 0; i < range_.k.size(); ++i)
        place[at(range_.k[i])] = std::ptrdiff_t(i);
    const ClassSizes sizes = class_sizes(labels);
    // Pieces of whole words: no two threads write the same one.
    cpu::for_rows(
        part.n_query, 4 * word_bits, threads, token.stop, [&](std::int64_t begin, std::int64_t end) {
            ClassMeans means(sizes);
            for (std::int64_t q = begin; q < end && !token.stopped(); ++q) {
                const std::int64_t image = first + q;
                const std::uint64_t bit = std::uint64_t{1} << (image % word_bits);
                for (auto of_kind = configurations_.begin(); of_kind != configurations_.end();
                     of_kind += std::ssize(range_.k)) {
                    const VotingRule& kind = of_kind->method.vote;
                    const auto report = [&](int k, std::uint8_t label) {
                        const std::ptrdiff_t one = place[at(k)];
                        if (one != none && label != labels[at(image)])
                            of_kind[one].wrong[at(image / word_bits)] |= bit;
                    };
                    if (kind.votes == VoteKind::majority)
                        for_majorities(part.row(q), labels, kind, searched_.neighbor_measure(), high, report);
                    else
                        for_means(part.row(q), labels, kind.tie, searched_.rerank.candidates, low, high,
                                  means, report);
                }
            }
        });
}

Plan TunedSearch::run(const Index& index, Timeline& timeline, const ProgressToken& token) {
    const Training& training = index.training();
    for (Configuration& one : configurations_) {  // all k of MNIST: 0.7 GB
        token.throw_if_stopped();
        one.wrong.assign(at(divide_up(training.rows.count, word_bits)), 0);
    }
    const std::int64_t fitting =
        searched_.reranks() ? reranked_part : points_of_part(training.rows, searched_.vote.k);
    const auto take = [&](std::int64_t first, const Neighbors& part) {
        const auto start = Clock::now();
        count(part, first, training.labels, cpu::available_threads(), token);
        timeline.add_since("vote", start);
    };
    return search_graph(index, timeline, token, take, round_up(fitting, word_bits)).plan;
}

std::vector<Configuration> ranked(std::vector<TunedSearch> searches, std::int64_t n_train,
                                  const ProgressToken& token) {
    std::vector<Configuration> all;
    for (std::size_t search = 0; search < searches.size(); ++search)
        for (Configuration& one : searches[search].take()) {
            token.throw_if_stopped();
            Configuration& added = all.emplace_back(std::move(one));
            added.search = search;
            added.errors = count_of(added.wrong);
            added.share = wilson_interval(added.errors, n_train);
        }
    std::ranges::stable_sort(all, {}, &Configuration::errors);
    for (Configuration& one : all) {
        token.throw_if_stopped();
        one.p_value = p_against(all.front().wrong, one.wrong);
        one.as_good_as_best = one.p_value >= significance;
    }
    return all;
}

std::vector<std::uint8_t> lonely_labels(std::span<const std::uint8_t> labels) {
    const ClassSizes counts = class_sizes(labels);
    std::vector<std::uint8_t> lonely;
    for (std::size_t label = 0; label < counts.size(); ++label)
        if (counts[label] == 1) lonely.push_back(static_cast<std::uint8_t>(label));
    return lonely;
}

}  // namespace knn
