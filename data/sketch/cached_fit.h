#pragma once
/// Fitted sketches in the user's cache.

#include "data/sketch/sketch.h"

namespace knn {

/// fit_sketch; with `uses_cache` its result is kept, and found again by the SHA-256 of the rows that it was fitted to, so a set
/// under another name, features that were computed again, or a shard with the same images find it too.
Sketch cached_fit(const Rows& rows, std::int64_t columns, bool uses_cache, const ProgressToken& token = {});

}  // namespace knn
