#pragma once
/// Wilson's editing (Wilson 1972, "Asymptotic properties of nearest neighbor rules using edited data"; repeated: Tomek
/// 1976): removes the training images that the others misclassify.
///
/// Round r: each image that is left is classified among the others that are left; all whose answer is not their label are
/// removed together. Ends with the first round that removes nothing. So what is left is classified without an error by
/// leave-one-out, the result does not depend on any order of the images beyond that of equal neighbors, and no image
/// comes back.

#include "classifier/subset_search.h"

namespace knn {

struct Edited {
    Indices kept;                       ///< ascending
    std::vector<std::int64_t> removed;  ///< images in each round but the last, which removes none
};

/// One search of the whole set gives each image more neighbors than it needs; only images that have lost too many of them
/// are searched again. Throws UsageError (k), DataError (fewer than k + 1 images would be left), and as SubsetSearch.
Edited edit(const SubsetSearch& set, const Watch& watch);

}  // namespace knn
