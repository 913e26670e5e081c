#include "classifier/answer_scorer.h"

#include "classifier/host.h"

namespace knn {

AnswerScorer::AnswerScorer(const Index& index, const LeaveOneOut& sample, const ExtraRows* extra)
    : index_(index),
      extra_(extra),
      compared_(extra != nullptr ? extra->compared() : compared_rows(index)),
      confidence_(sample),
      rejection_(sample) {}

double AnswerScorer::probability(const Results& found, std::int64_t query) const {
    return confidence_.probability(found.confidence_features[static_cast<std::size_t>(query)]);
}

NoveltyTest AnswerScorer::test(const Results& found, std::int64_t query, const std::uint8_t* pixels,
                               std::optional<double> loss) const {
    const auto at = static_cast<std::size_t>(query);
    const bool has_features = found.features.count() > 0;
    std::vector<std::uint8_t> made;
    if (const FittedTransform* transform = index_.training().transform; !has_features && transform != nullptr)
        made = features(*transform, {pixels, 1, index_.set().images().dim}, 1);
    const std::uint8_t* row = has_features   ? found.features.rows.row(query)
                              : made.empty() ? pixels
                                             : made.data();
    const ConfidenceFeatures& confidence_features = found.confidence_features[at];
    const double unlike = novelty_score(row, compared_, found.voters(query), found.votes[at].label);
    NoveltyTest test{rejection_.p_value(confidence_features, unlike), ""};
    if (loss) test.reason = rejection_.reason(confidence_features, unlike, *loss);
    return test;
}

}  // namespace knn
