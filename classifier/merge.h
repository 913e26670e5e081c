#pragma once
/// Neighbors found in parts of a training set.

#include <atomic>
#include <span>
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

/// Copies rows of `k` neighbors, and their votes if there are any, to the queries of `to` from `begin` on; returns where
/// they are.
FoundRows copy_rows(const FoundRows& rows, int k, Answers& to, std::int64_t begin);

/// The k nearest of each query within the images `part` of a training set, with their indices in that set; `searcher`
/// has these images alone, and `exclude` counts in the whole set. Rows end with `no_neighbor` where the part has too
/// few images. `tell` and `found` as for Searcher::search_and_tell; rows are told of in ascending order if the searcher
/// does so.
void search_part(Searcher& searcher, Share part, const Rows& queries, int k, Exclude exclude,
                 Timeline& timeline, const Watch& watch, const Tell& tell, Answers& found);

/// `best` has the k nearest of each query in the images before `part`; makes it the k nearest in these and the part, on
/// the device if the searcher can, else by a merge on the host. The rest as for search_part.
void improve_by_part(Searcher& searcher, Share part, const Rows& queries, int k, Exclude exclude, int threads,
                     Timeline& timeline, const Watch& watch, const Tell& tell, Neighbors& best);

/// The k nearest of each query in several lists, n_query × k each, in order, of different images. Throws
/// Interrupted.
Neighbors merged(std::vector<Neighbors> lists, int threads, const std::atomic<bool>* stop);

/// The same for `count` queries; lists[i]: the first of their rows in list i. The result takes the place of list 0.
void merge_into_first(std::span<Neighbor* const> lists, std::int64_t count, int k, int threads,
                      const std::atomic<bool>* stop);

}  // namespace knn
