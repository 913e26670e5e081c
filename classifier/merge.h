#pragma once
/// Neighbors found in parts of a training set.

#include <atomic>
#include <vector>

#include "classifier/shares.h"
#include "data/core/searcher.h"

namespace knn {

/// Fills the rows of a part that has fewer than k images: behind every neighbor, as no image has this index.
inline constexpr Neighbor no_neighbor{0xffffffff, 0xffffffff};

/// Part of a training set, with what was fitted on all of it.
Training slice(const Training& training, Share share);

/// What a search among no images finds.
Neighbors no_neighbors(std::int64_t n_query, int k);

/// The k nearest of each query within the images `part` of a training set, with their indices in that set; `searcher`
/// has these images alone, and `exclude` counts in the whole set. Rows end with `no_neighbor` where the part has too
/// few images.
Neighbors search_part(Searcher& searcher, Share part, const Rows& queries, int k, Exclude exclude,
                      int threads, Timeline& timeline, const Watch& watch);

/// The k nearest of each query in several lists, n_query × k each, in order, of different images. Throws
/// Interrupted.
Neighbors merged(std::vector<Neighbors> lists, int threads, const std::atomic<bool>* stop);

}  // namespace knn
