#pragma once
/// Rejects pictures that are not, or not clearly, a digit, at a given false-rejection rate.
///
/// Two numbers say how unusual a digit is: its novelty (leave_one_out.h), and how near another class is (the margin of
/// ConfidenceFeatures, smaller is more unusual). Each becomes a share of the leave-one-out sample: of the training images that are
/// at least as unusual. With the shares u and v, (log u)² + (log v)² is compared with the same of the sample. A digit is
/// rejected if this share, a conformal p-value, is below the false-rejection rate. docs/rejection.md has the figures.

#include <string>
#include <vector>

#include "classifier/leave_one_out.h"

namespace knn {

/// The default share of digits that may be lost, a little below 1 %: digits of new writers are rejected more often than
/// those of the sample, whose writers have other digits in the training set.
inline constexpr double usual_loss = 0.008;

class Rejection {
  public:
    /// `sample` with novelty. Rejects nothing if it is empty.
    explicit Rejection(const LeaveOneOut& sample);

    /// The share of the sample's images that are at least as unusual; 1 if the sample is empty.
    double p_value(const ConfidenceFeatures& confidence_features, double novelty) const;

    /// Why a digit is rejected if the share `loss` may be, for people; empty if it is accepted.
    std::string reason(const ConfidenceFeatures& confidence_features, double novelty, double loss) const;

  private:
    double unusual(const ConfidenceFeatures& confidence_features, double novelty) const;

    std::vector<double> unlike_, nearness_, unusual_;  ///< ascending
};

}  // namespace knn
