#pragma once
/// The probability that an answer is right: a logistic regression on its ConfidenceFeatures, fitted to answers of which it is known
/// whether they are right.
///
///   z = w0 + Σ w_f (x_f − mean_f) / deviation_f      p = 1 / (1 + exp(−z))
///
/// over five numbers: share; distance; margin, with one weight where another class is among the neighbors and one where
/// none is; alone. The weights maximize the likelihood with a normal prior of deviation 1 on each weight but w0 and one
/// answer more in the middle of all, half right and half wrong, so that they are finite where all answers are right.
/// Newton's method, in double precision in a fixed order, with steps halved until the likelihood grows. More of the share and of the
/// margin, and less distance, cannot make an answer less probable: the input whose weight has the other sign, the largest first, is left
/// out, and the rest fitted again.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "classifier/leave_one_out.h"

namespace knn {

// Calibration: of answers with a confidence of 90 %, nine in ten should be right.

/// Answers whose confidences lie in one of 15 intervals of equal width.
struct CalibrationBin {
    double low = 0, high = 0;  ///< low <= confidence < high; the last one includes 1
    std::int64_t count = 0;
    double confidence = 0, accuracy = 0;  ///< means; 0 if there are no answers
};

struct Calibration {
    /// Σ count · |accuracy − confidence| / all answers; 0 if there are none.
    double expected_calibration_error = 0;
    std::vector<CalibrationBin> bins;
};

/// `right`: 1 or 0 for each answer.
Calibration calibration(std::span<const double> confidences, std::span<const std::uint8_t> right);

class Confidence {
  public:
    static constexpr std::size_t n_inputs = 5;
    using Inputs = std::array<double, n_inputs + 1>;  ///< the first belongs to w0 and is 1
    struct Weights {
        Inputs means{}, deviations{}, weights{};
    };

    /// Without a sample there is no fit, and the probability is the winner's share of the votes.
    explicit Confidence(const LeaveOneOut& sample);
    /// Of an earlier fit.
    explicit Confidence(const Weights& fit) : fitted_(true), fit_(fit) {}

    /// In steps of 1e-6, which hide the last bits of exp and log, other with each C library; 1e-6 to 1 - 1e-6 if fitted.
    double probability(const ConfidenceFeatures& answer) const;

    bool fitted() const { return fitted_; }
    const Weights& weights() const { return fit_; }

  private:
    Inputs scaled(const ConfidenceFeatures& answer) const;

    bool fitted_ = false;
    Weights fit_;
};

/// That of the classifier's set and method: kept, or fitted by leave-one-out and kept. Throws as leave_one_out.
Confidence fitted_confidence(const Index& index, const ProgressToken& token);

/// How unusual a query is.
struct NoveltyTest {
    double p_value = 1;  ///< share of training images that are as unusual (Rejection)
    std::string reason;  ///< of its rejection; empty: accepted
};

/// How probably answers are right, and how unusual they are, by the leave-one-out sample of an index.
class AnswerScorer {
  public:
    /// `sample`: with novelty, of the index's set and method (fitted_sample). `extra`: if not null, the rows that vote beside the
    /// set, also in the sample. The index and they must outlive this.
    AnswerScorer(const Index& index, const LeaveOneOut& sample, const ExtraRows* extra = nullptr);

    const ExtraRows* extra() const { return extra_; }

    // Of query `query` of a search with votes. Thread-safe.

    /// That the answer is right.
    double probability(const Results& found, std::int64_t query) const;
    /// Only if the index compares bytes. `pixels`: of the query; faster if the search kept features. `loss`: the share of right
    /// answers that may be rejected; none: nothing is.
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
