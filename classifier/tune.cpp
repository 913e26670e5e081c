#include "classifier/tune.h"

#include <algorithm>
#include <array>
#include <bit>

#include "classifier/graph.h"
#include "classifier/running_votes.h"
#include "classifier/vote.h"
#include "cpu/host/host.h"
#include "cpu/host/threads.h"
#include "data/core/clock.h"

namespace knn {

namespace {

constexpr std::int64_t word_bits = 64;
/// Images that are searched before their votes are counted: a re-ranker shows no progress of its own.
constexpr std::int64_t reranked_part = 4096;

std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

std::int64_t words_for(std::int64_t images) {
    return (images + word_bits - 1) / word_bits;
}

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

template <class Enum>
bool wants(const std::optional<Enum>& wish, Enum value) {
    return !wish || *wish == value;
}

}  // namespace

std::vector<VoteKind> vote_kinds(const VoteRange& range, const Method& method) {
    std::vector<VoteKind> kinds;
    const bool integers = is_integral(method.neighbor_measure().metric);
    for (const Votes votes : {Votes::majority, Votes::class_mean})
        for (const Weights weights : {Weights::uniform, Weights::distance})
            for (const Tie tie : {Tie::smallest, Tie::nearest}) {
                const bool weighs = votes == Votes::majority;
                const bool suits =
                    weighs ? wants(range.weights, weights) : integers && weights == Weights::uniform;
                if (suits && wants(range.votes, votes) && wants(range.tie, tie))
                    kinds.push_back({votes, weights, tie});
            }
    return kinds;
}

int tuned_neighbors(const VoteRange& range, const Method& method, std::int64_t n_train) {
    int most = 1;
    for (const VoteKind& kind : vote_kinds(range, method)) {
        Method tried = method;
        tried.vote = kind.rule(range.high);
        most = std::max(most, tried.voters(n_train - 1));
    }
    return most;
}

TunedSearch::TunedSearch(const Method& method, const VoteRange& range, std::int64_t n_train)
    : base_(method), searched_(method), range_(range), kinds_(vote_kinds(range, method)) {
    searched_.vote = VotingRule{.k = tuned_neighbors(range, method, n_train)};
    const std::size_t each = at(range.high - range.low + 1);
    wrong_.assign(kinds_.size() * each, WrongImages(at(words_for(n_train))));
}

Method TunedSearch::method(std::size_t i) const {
    const std::size_t each = at(range_.high - range_.low + 1);
    Method method = base_;
    method.vote = kinds_[i / each].rule(range_.low + static_cast<int>(i % each));
    return method;
}

/// The votes of one query after another; one object for each thread.
class TunedSearch::Votes {
  public:
    Votes(const TunedSearch& search, std::span<const std::uint8_t> labels)
        : search_(search), labels_(labels), mean_(search.searched_.vote.k, class_sizes(labels)) {}

    /// Calls wrong(i) for each configuration whose label for this query is not `truth`.
    template <class Wrong>
    void judge(std::span<const Neighbor> neighbors, std::uint8_t truth, const Wrong& wrong) {
        first_.fill(UINT32_MAX);
        for (std::uint32_t rank = 0; rank < neighbors.size(); ++rank) {
            std::uint32_t& known = first_[labels_[neighbors[rank].index]];
            known = std::min(known, rank);
        }
        const int low = search_.range_.low, each = search_.range_.high - low + 1;
        for (std::size_t i = 0; i < search_.kinds_.size(); ++i) {
            const auto report = [&](int k, std::uint8_t label) {
                if (label != truth) wrong(i * at(each) + at(k - low));
            };
            const VoteKind& kind = search_.kinds_[i];
            if (kind.votes == knn::Votes::majority)
                majority(neighbors, kind, report);
            else
                class_mean(neighbors, kind, report);
        }
    }

  private:
    template <class Report>
    void majority(std::span<const Neighbor> neighbors, const VoteKind& kind, const Report& report) {
        const Measure measure = search_.base_.neighbor_measure();
        const bool zeros_alone = neighbors.front().distance == 0;
        RunningMajority running;
        for (int k = 1; k <= search_.range_.high; ++k) {
            const Neighbor& last = neighbors[at(k - 1)];
            running.add(labels_[last.index], vote_weight(last.distance, zeros_alone, kind.weights, measure),
                        first_);
            if (k >= search_.range_.low) report(k, running.winner(kind.tie));
        }
    }

    /// Every j up to the number of candidates reads all of them, a larger one the nearest j (Method::voters).
    template <class Report>
    void class_mean(std::span<const Neighbor> neighbors, const VoteKind& kind, const Report& report) {
        mean_.clear();
        const int candidates = std::min(search_.base_.rerank.candidates, static_cast<int>(neighbors.size()));
        int added = 0;
        for (int j = search_.range_.low; j <= search_.range_.high; ++j) {
            for (; added < std::max(j, candidates); ++added)
                mean_.add(labels_[neighbors[at(added)].index], neighbors[at(added)].distance, first_);
            report(j, mean_.winner(j, kind.tie, first_));
        }
    }

    const TunedSearch& search_;
    std::span<const std::uint8_t> labels_;
    FirstRanks first_{};
    RunningMean mean_;
};

void TunedSearch::count(const Neighbors& part, std::int64_t first, std::span<const std::uint8_t> labels,
                        int threads, const Watch& watch) {
    // Pieces of whole words: no two threads write the same one.
    cpu::for_rows(part.n_query, 4 * word_bits, threads, watch.stop,
                  [&](std::int64_t begin, std::int64_t end) {
                      Votes votes(*this, labels);
                      for (std::int64_t q = begin; q < end; ++q) {
                          const std::int64_t image = first + q;
                          const std::uint64_t bit = std::uint64_t{1} << (image % word_bits);
                          votes.judge(part.row(q), labels[at(image)],
                                      [&](std::size_t i) { wrong_[i][at(image / word_bits)] |= bit; });
                      }
                  });
}

Plan TunedSearch::run(const Index& index, Timeline& timeline, const Watch& watch) {
    const Rows& points = index.training().rows;
    const std::span<const std::uint8_t> labels = index.training().labels;
    const std::int64_t fitting =
        searched_.reranks() ? reranked_part : points_of_part(points, searched_.vote.k);
    const std::int64_t most = words_for(fitting) * word_bits;
    const int threads = cpu::available_threads();
    Plan plan = index.plan();
    for (std::int64_t first = 0; first < points.count; first += most) {
        const Watch part = watch.part(first, points.count);
        const std::int64_t n = std::min(most, points.count - first);
        const Results found =
            index.search(Queries::some_of(points, first, n), {.vote = false, .watch = part});
        timeline.add(found.timeline);
        const auto voting = Clock::now();
        count(found.neighbors, first, labels, threads, watch);
        timeline.add({.name = "vote", .launches = 1, .total_ms = ms_since(voting), .kind = StageKind::host});
        plan = found.plan;
    }
    return plan;
}

std::vector<Configuration> ranked(std::span<const TunedSearch> searches, std::int64_t n_train) {
    struct Entry {
        Configuration configuration;
        const WrongImages* wrong;
    };
    std::vector<Entry> all;
    for (std::size_t s = 0; s < searches.size(); ++s)
        for (std::size_t i = 0; i < searches[s].size(); ++i) {
            const WrongImages& wrong = searches[s].wrong(i);
            const std::int64_t errors = count_of(wrong);
            all.push_back({{.method = searches[s].method(i),
                            .search = s,
                            .errors = errors,
                            .share = wilson_interval(errors, n_train)},
                           &wrong});
        }
    std::stable_sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
        return a.configuration.errors < b.configuration.errors;
    });
    std::vector<Configuration> sorted;
    for (const Entry& entry : all) {
        Configuration& one = sorted.emplace_back(entry.configuration);
        one.p_value = p_against(*all.front().wrong, *entry.wrong);
        one.as_good_as_best = one.p_value >= significance;
    }
    return sorted;
}

std::vector<std::uint8_t> lonely_labels(std::span<const std::uint8_t> labels) {
    std::array<std::int64_t, 256> counts{};
    for (const std::uint8_t label : labels)
        ++counts[label];
    std::vector<std::uint8_t> lonely;
    for (std::size_t label = 0; label < counts.size(); ++label)
        if (counts[label] == 1) lonely.push_back(static_cast<std::uint8_t>(label));
    return lonely;
}

}  // namespace knn
