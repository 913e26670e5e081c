#include "classifier/extra_rows.h"

#include <algorithm>

#include "classifier/host.h"
#include "classifier/vote.h"
#include "data/synthetic/drawn_forms.h"

namespace knn {

namespace {

/// The search among the extra rows: fewer candidates than among the others, all of which are neighbors.
Method search_of(const Method& method, std::int64_t rows) {
    Method search = method;
    search.rerank.candidates =
        static_cast<int>(std::clamp<std::int64_t>(rows, min_candidates, extra_candidates));
    search.vote = {.k = static_cast<int>(std::min<std::int64_t>(rows, extra_candidates))};
    return search;
}

}  // namespace

bool ExtraRows::suit(const Method& method) {
    return method.rerank.has_descriptors() && method.vote.votes == VoteKind::class_mean &&
           !method.transform.is_fitted();
}

bool ExtraRows::are_fitted(const TrainingSet& rows, const Method& method) {
    return is_fitted(rows, search_of(method, rows.size()));
}

ExtraRows::ExtraRows(const Index& index, const TrainingSet& rows, const ProgressToken& token,
                     const ExtraRows* before)
    : index_(index), compared_(compared_rows(index)) {
    const Method search = search_of(index.method(), rows.size());
    extra_ = std::make_unique<Index>(
        rows, search, resolve_on_cpu(search.problem(rows.view(), index.set().size()), available_threads()),
        token);
    const auto own = index.training().labels.first(static_cast<std::size_t>(index.set().size()));
    labels_ = before != nullptr ? before->labels_ : std::vector<std::uint8_t>(own.begin(), own.end());
    first_ = static_cast<std::uint32_t>(labels_.size());
    labels_.insert(labels_.end(), rows.labels().begin(), rows.labels().end());
    const ComparedRows more = compared_rows(*extra_);
    compared_.labels = labels_;
    compared_.more = more.rows;
    compared_.density_of_more = more.density;
}

std::vector<std::int64_t> ExtraRows::join(Results& found, const Rows& queries,
                                          const ProgressToken& token) const {
    const Neighbors near = extra_->search(queries, {.vote = false, .token = token}).neighbors;
    const auto own = static_cast<std::uint32_t>(index_.set().size());
    const int before = static_cast<int>(found.voters(0).size());
    Neighbors all(queries.count, before + near.k);
    for (std::int64_t q = 0; q < queries.count; ++q) {
        const auto to = all.row(q);
        const auto end = std::ranges::copy(found.voters(q), to.begin()).out;
        std::ranges::transform(near.row(q), end, [&](Neighbor one) {
            return Neighbor{one.distance, one.index + first_};
        });
        std::inplace_merge(to.begin(), end, to.end());
    }
    const Method& method = index_.method();
    const VotingRule& rule = method.vote;
    const Measure measure = method.neighbor_measure();
    const int threads = available_threads();
    vote_rows(all.rows, all.k, labels_, rule, measure, threads, found.votes);
    confidence_features_of(all.rows, all.k, labels_, found.votes, rule, measure, threads,
                           found.confidence_features);
    std::vector<std::int64_t> no_digits(found.votes.size(), -1);
    for (std::int64_t q = 0; q < queries.count; ++q) {
        const auto at = static_cast<std::size_t>(q);
        Vote& vote = found.votes[at];
        if (vote.label != no_digit) continue;
        const auto row = all.row(q);
        const auto is_no_digit = [&](const Neighbor& one) { return labels_[one.index] == no_digit; };
        no_digits[at] = std::int64_t{std::ranges::find_if(row, is_no_digit)->index} - own;
        std::vector<Neighbor> digits;
        std::ranges::remove_copy_if(row, std::back_inserter(digits), is_no_digit);
        vote_rows(digits, static_cast<int>(digits.size()), labels_, rule, measure, 1, {&vote, 1});
        found.confidence_features[at] = confidence_features(row, labels_, vote, rule, measure);
    }
    found.all_voters = std::move(all);
    return no_digits;
}

}  // namespace knn
