#pragma once

#include <cstdint>
#include <vector>

#include "classifier/method.h"
#include "classifier/plan.h"

namespace knn {

/// spread_terms (data/rerank/spread.h) of the training images: one search of each class among its own images, by the
/// plan's engine. training.transform: that of the method, fitted. Adds the stages of the searches to `timeline`. Throws as
/// Index.
std::vector<std::int64_t> fitted_spread(const Training& training, const Method& method,
                                        const Resolved& resolved, Timeline& timeline, const Watch& watch);

}  // namespace knn
