#pragma once

#include "data/core/searcher.h"
#include "gpu/distance/distance.h"
#include "gpu/select/select.h"

namespace knn::gpu {

/// The pipeline `classic` on the current device with these strategies, which support the problem. Fills in
/// all of the result but its device and search_ms. Throws DeviceError, Interrupted.
SearchResult run_classic(const SearchRequest& request, const DistanceKernel& distance,
                         const Selector& selector, const Watch& watch);

}  // namespace knn::gpu
