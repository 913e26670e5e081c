#pragma once
/// Distances of found neighbors, as exact as their rows allow.

#include <vector>

#include "data/core/exact_distance.h"
#include "data/core/neighbors.h"
#include "data/core/progress_token.h"

namespace knn {

/// The distances that users see, n_query × k: of real rows by exact_distance, in double precision; of bytes by distance_of, which
/// is exact for l2 and l1. Where a row of neighbors ends with no_neighbor, infinity. Throws Interrupted.
std::vector<double> exact_distances(const Rows& train, const Rows& queries, const Neighbors& neighbors,
                                    const Measure& measure, int threads, const ProgressToken& token = {});

}  // namespace knn
