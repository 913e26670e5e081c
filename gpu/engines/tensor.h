#pragma once

#include "data/core/searcher.h"

namespace knn::gpu {

/// The engine `tensor` on the current device: upload → arrange → prepare → sample → search → merge → scan →
/// vote → download. Fills in all of the result but its device and search_ms. Throws DeviceError, UsageError
/// (refused), Interrupted.
SearchResult run_tensor(const SearchRequest& request, const Watch& watch);

}  // namespace knn::gpu
