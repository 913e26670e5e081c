#pragma once
/// Hart's condensing (Hart 1968, "The condensed nearest neighbor rule"): a subset of a training set that classifies
/// every training image as the whole set does.
///
/// The answer of an image is that of the method with the image itself among the neighbors: what `evaluate` says of the
/// training images as a test set. The kept set begins with the first k images (of `pca`: as many as it has components, if these are more). Then all images are visited in order of
/// their indices, again and again. If the kept images give one another answer than the whole set does, the first image
/// that is not yet kept among its nearest in the whole set is kept: for k = 1 the image itself, unless an equal one comes
/// first, which is Hart's rule. Ends with the first pass that keeps nothing.
///
/// If all neighbors that determine an image's answer are kept, they are its neighbors in the kept set too. So each
/// visit makes progress, and at the end all answers agree.
///
/// Up to here, what a method fits on its training set (`pca`, the density of a re-ranking) is fitted on the whole set;
/// a user of the kept set fits it on that. For such methods the kept set is opened as it will be read, all images are
/// classified, and of each whose answer differs the next image is kept (in the end any, from index 0), until none
/// differs.

#include "classifier/subset_search.h"

namespace knn {

struct Condensed {
    Indices kept;    ///< ascending
    int passes = 0;  ///< the last one keeps nothing
    int refits = 0;  ///< how often the kept set was opened anew; 0 for a method that fits nothing
};

/// Images are visited in blocks: one search finds the nearest kept images of a block among those that were kept since its
/// last visit, and those that are kept on the way are compared with the block alone. Throws UsageError (k), and as
/// SubsetSearch.
Condensed condense(const SubsetSearch& set, const Watch& watch);

}  // namespace knn
