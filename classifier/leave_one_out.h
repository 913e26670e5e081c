#pragma once
/// Leave-one-out: a sample of the training images, each classified by all the others.

#include <cstdint>
#include <optional>
#include <vector>

#include "classifier/index.h"
#include "classifier/unlikeness.h"

namespace knn {

/// Sets with fewer images have no sample.
inline constexpr std::int64_t min_sampled_images = 200;

/// The training images of the sample: image ⌊i · n / m⌋ of n for each i < m, all or 4,999. That is a prime number, so that
/// no period in the order of the images meets the sample's: MNIST's even and odd images come from two groups of writers,
/// and one group makes 2.8 times as many errors as the other (raw, k = 5).
std::vector<std::uint32_t> strided_sample(std::int64_t n_train);

/// One image of the sample. Without gaps, as it is kept in files.
struct SampledAnswer {
    Evidence evidence;
    double unlikeness = 0;            ///< if it was asked for
    double distance = 0;              ///< mean_distance of its neighbors
    std::uint32_t nearest_label = 0;  ///< of the first neighbor
    std::uint32_t right = 0;          ///< whether the answer is, 1 or 0
};

static_assert(sizeof(SampledAnswer) == sizeof(Evidence) + 24);

/// Empty if there are too few training images, or not k others.
using LeaveOneOut = std::vector<SampledAnswer>;

/// That of the index's set and method, with unlikeness: kept, or searched and kept. Throws as leave_one_out.
LeaveOneOut fitted_sample(const Index& index, const Watch& watch);
/// The kept one; nothing if there is none.
std::optional<LeaveOneOut> find_sample(const TrainingSet& set, const Method& method);

/// The rows that the index compares, with the density of its re-ranking.
ComparedRows compared_rows(const Index& index);

/// With unlikeness if `compared` is there: the rows that the index compares. Throws as Index::search.
LeaveOneOut leave_one_out(const Index& index, const ComparedRows* compared, const Watch& watch);

}  // namespace knn
