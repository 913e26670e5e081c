#pragma once
/// How probably answers are right, and how unusual they are, by the leave-one-out sample of an index.

#include <optional>
#include <string>

#include "classifier/confidence.h"
#include "classifier/extra_rows.h"
#include "classifier/index.h"
#include "classifier/leave_one_out.h"

namespace knn {

/// How unusual a query is.
struct NoveltyTest {
    double p_value = 1;  ///< share of training images that are as unusual (Rejection)
    std::string reason;  ///< of its rejection; empty: accepted
};

class AnswerScorer {
  public:
    /// `sample`: with novelty, of the index's set and method (fitted_sample). `extra`: if not null, the rows that vote beside the
    /// set, also in the sample. The index and they must outlive this.
    AnswerScorer(const Index& index, const LeaveOneOut& sample, const ExtraRows* extra = nullptr);

    const ExtraRows* extra() const { return extra_; }

    // Of query `query` of a search with votes. Thread-safe.

    /// That the answer is right.
    double probability(const Results& found, std::int64_t query) const;
    /// `pixels`: of the query; faster if the search kept features. `loss`: the share of right answers that may be rejected;
    /// none: nothing is.
    NoveltyTest test(const Results& found, std::int64_t query, const std::uint8_t* pixels,
                     std::optional<double> loss) const;

  private:
    const Index& index_;
    const ExtraRows* extra_;
    ComparedRows compared_;
    Confidence confidence_;
    Rejection rejection_;
};

}  // namespace knn
