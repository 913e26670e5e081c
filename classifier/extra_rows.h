#pragma once
/// Rows that vote beside a training set, for pictures alone: forms of digits that the set has few of, and letters and signs, which
/// are no digit. They have a search of their own, so that the set, all that is fitted to it, and every answer without them stay
/// as they are.

#include <cstdint>
#include <memory>
#include <vector>

#include "classifier/index.h"
#include "classifier/leave_one_out.h"

namespace knn {

/// How many of the extra rows are candidates of a query. docs/classify.md has the figures.
inline constexpr int extra_candidates = 32;

class ExtraRows {
  public:
    /// Whether distances to other rows compare with those of a method: it orders by shifted pixels, votes by class-mean, and its
    /// transform is fitted to no set.
    static bool suit(const Method& method);
    /// Whether the search of `rows` needs nothing to be fitted.
    static bool are_fitted(const TrainingSet& rows, const Method& method);

    /// `rows`: labels as those of the index, or no_digit. `before`: if not null, extra rows that have joined already what this
    /// joins; its rows are the first. The index must outlive this. Throws as Index.
    ExtraRows(const Index& index, const TrainingSet& rows, const ProgressToken& token,
              const ExtraRows* before = nullptr);

    /// Lets the rows vote in what the index found for `queries` (images). `found.all_voters` then has the neighbors in both,
    /// extra row i as image n + i of a training set of n. A query to which no_digit is nearest keeps the vote of the digits
    /// alone. Returns for each query the nearest extra row that is no digit if no_digit has won, else -1.
    std::vector<std::int64_t> join(Results& found, const Rows& queries, const ProgressToken& token) const;

    /// The rows that are compared, those of the index before the extra ones.
    const ComparedRows& compared() const { return compared_; }

  private:
    const Index& index_;
    std::vector<std::uint8_t> labels_;  ///< of the training set, then of the extra rows
    std::uint32_t first_;               ///< of the rows that this joins
    std::unique_ptr<Index> extra_;
    ComparedRows compared_;
};

}  // namespace knn
