#pragma once
/// Leave-one-out: a sample of the training images, each classified by all the others; how unlike its class an image is, and whether
/// it is rejected for it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "classifier/index.h"
#include "data/transform/fitted.h"

namespace knn {

// Novelty score: how unlike the images of its class a query is. Distances to neighbors grow with the length of a
// stroke and with how much a class varies; a letter that looks like a digit but for one stroke is as near to it as
// many digits are to each other. Two things separate them better: the part that no mixture of the neighbors explains,
// and how localized it is.
//
// 1. The winner's nearest neighbors among those that voted, 32 at most: differences D_i = n_i − q of the rows that were
//    compared, in integers.
// 2. The mixture Σ x_i n_i, Σ x_i = 1, with the least ‖Σ x_i D_i‖² + λ Σ x_i², λ = 0.02 · mean ‖D_i‖²: x is proportional
//    to the solution of (G + λ I) x = 1, G_ij = D_i · D_j (local hyperplanes: Vincent and Bengio, 2001). Neighbors with
//    x_i <= 0 are left out and the others mixed again, until all x_i > 0: strokes are not taken away.
// 3. r = Σ x_i D_i; e = Σ r² in that window of 3/7 of the rows and columns where it is largest: 12 × 12 of 28 × 28 pixels,
//    3 × 3 of the 7 × 7 cells of `gradients`. At least 0.4 of all Σ r²: noise is unlike a digit everywhere.
// 4. log e plus, where re-ranking has a density, the mean log of its factors of the nearest four: √ of the distances that
//    are usual around them is divided out.
//
// In double precision in a fixed order. docs/rejection.md says how it was chosen.

/// Rows of bytes as they are compared, where their values lie on the image, their labels, and factors of density (empty:
/// none).
struct ComparedRows {
    Rows rows;
    FeatureGrid grid;  ///< of rows.dim values
    std::span<const std::uint8_t> labels;
    std::span<const std::uint32_t> density;
    /// Rows of images rows.count and on (extra_rows.h), whose labels follow the others'.
    Rows more = {};
    std::span<const std::uint32_t> density_of_more = {};

    const std::uint8_t* row(std::int64_t i) const {
        return i < rows.count ? rows.row(i) : more.row(i - rows.count);
    }
    std::uint32_t density_at(std::int64_t i) const {
        return i < rows.count ? density[static_cast<std::size_t>(i)]
                              : density_of_more[static_cast<std::size_t>(i - rows.count)];
    }
};

/// `query`: train.rows.dim bytes. `neighbors`: those that voted, in order, at least one with the label `winner`.
double novelty_score(const std::uint8_t* query, const ComparedRows& train,
                     std::span<const Neighbor> neighbors, std::uint8_t winner);

// The sample.

/// Sets with fewer images have no sample.
inline constexpr std::int64_t min_sampled_images = 200;

/// The training images of the sample: image ⌊i · n / m⌋ of n for each i < m, all or 4,999. That is a prime number, so that
/// no period in the order of the images meets the sample's: MNIST's even and odd images come from two groups of writers,
/// and one group makes 2.5 times as many errors as the other (raw, k = 5).
std::vector<std::uint32_t> strided_sample(std::int64_t n_train);

/// One image of the sample. Without gaps, as it is kept in files.
struct SampledAnswer {
    ConfidenceFeatures confidence_features;
    double novelty = 0;               ///< if it was asked for
    double distance = 0;              ///< mean_distance of its neighbors
    std::uint32_t nearest_label = 0;  ///< of the first neighbor
    std::uint32_t right = 0;          ///< whether the answer is, 1 or 0
};

static_assert(sizeof(SampledAnswer) == sizeof(ConfidenceFeatures) + 24);

/// Empty if there are too few training images, or not k others.
using LeaveOneOut = std::vector<SampledAnswer>;

class ExtraRows;

/// That of the index's set and method, with novelty if its rows are bytes: kept, or searched and kept. `extra`: if not null,
/// these rows vote too. Throws as leave_one_out.
LeaveOneOut fitted_sample(const Index& index, const ProgressToken& token, const ExtraRows* extra = nullptr);
/// The kept one; nothing if there is none. `with_drawn`: with the votes of drawn forms.
std::optional<LeaveOneOut> find_sample(const TrainingSet& set, const Method& method, bool with_drawn = false);

/// Throws UsageError if the method compares float64, of which no novelty score is known.
void require_novelty(const Method& method);

/// The rows that the index compares, with the density of its re-ranking; not always bytes.
ComparedRows compared_rows(const Index& index);

/// With novelty if `compared` is there: the rows that the index compares. Throws as Index::search.
LeaveOneOut leave_one_out(const Index& index, const ComparedRows* compared, const ProgressToken& token,
                          const ExtraRows* extra = nullptr);

// Rejects pictures that are not, or not clearly, a digit, at a given false-rejection rate.
//
// Two numbers say how unusual a digit is: its novelty, and how near another class is (the margin of
// ConfidenceFeatures, smaller is more unusual). Each becomes a share of the leave-one-out sample: of the training images that are
// at least as unusual. With the shares u and v, (log u)² + (log v)² is compared with the same of the sample. A digit is
// rejected if this share, a conformal p-value, is below the false-rejection rate. docs/rejection.md has the figures.

/// The default share of digits that may be lost: digits of new writers are rejected more often than those of the sample, whose
/// writers have other digits in the training set. docs/classify.md has the figures.
inline constexpr double usual_loss = 0.005;

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
