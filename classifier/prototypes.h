#pragma once
/// Makes a training set smaller: edited, condensed, or first edited and then condensed.

#include <cstdint>
#include <span>
#include <vector>

#include "classifier/index.h"
#include "data/core/dataset.h"
#include "data/core/names.h"

namespace knn {

/// Images of a training set, by index.
using Indices = std::vector<std::uint32_t>;

/// 0 .. n-1.
Indices all_indices(std::int64_t n);

/// Copies of these images and their labels, in the order of `images`.
LabeledImages copied(const Training& training, std::span<const std::uint32_t> images);

/// A training set whose subsets are searched among each other: what editing and condensing do. What the method fits on a
/// training set (the axes of `pca`, the range of `minmax`, the density of a re-ranking) is fitted once, on the whole set.
class SubsetSearch {
  public:
    /// Throws as Index.
    SubsetSearch(const TrainingSet& set, const Method& method, const Resolved& resolved,
                 const ProgressToken& token = {});

    std::int64_t size() const { return features_.count; }
    const Training& training() const { return index_.training(); }
    const Method& method() const { return index_.method(); }
    const Resolved& resolved() const { return resolved_; }
    /// What is compared.
    const Rows& features() const { return features_; }

    /// How many of the nearest among `n` images determine an answer: k, or the candidates of a re-ranking or of a vote
    /// that reads more.
    int depth(std::int64_t n) const;

    /// The k nearest of each of `queries` among `among`, by the search alone; both ascending. An image that is in both is
    /// its own neighbor unless `leave_out`; then all queries are in both. Throws as DeviceIndex::top_k.
    Neighbors nearest(std::span<const std::uint32_t> queries, std::span<const std::uint32_t> among, int k,
                      const ProgressToken& token, bool leave_out = false) const;

    /// The method's answer for each image if `nearest` are its nearest by the search, at least k each.
    std::vector<std::uint8_t> answers(std::span<const std::uint32_t> images, const Neighbors& nearest,
                                      const ProgressToken& token) const {
        return index_.labels_of(images, nearest, token);
    }

  private:
    Resolved resolved_;
    Index index_;  ///< of the whole set
    Rows features_;
};

// Hart's condensing (Hart 1968, "The condensed nearest neighbor rule"): a subset of a training set that classifies
// every training image as the whole set does.
//
// The answer of an image is that of the method with the image itself among the neighbors: what `evaluate` says of the
// training images as a test set. The kept set begins with the first k images (of `pca`: as many as it has components, if these are more). Then all images are visited in order of
// their indices, again and again. If the kept images give one another answer than the whole set does, the first image
// that is not yet kept among its nearest in the whole set is kept: for k = 1 the image itself, unless an equal one comes
// first, which is Hart's rule. Ends with the first pass that keeps nothing.
//
// If all neighbors that determine an image's answer are kept, they are its neighbors in the kept set too. So each
// visit makes progress, and at the end all answers agree.
//
// Up to here, what a method fits on its training set (`pca`, `minmax`, the density of a re-ranking), and the sizes of classes for
// the vote `class-mean`, are those of the whole set; a user of the kept set has its own. For such methods the kept set is opened as it will be read, all images are
// classified, and of each whose answer differs the next image is kept (in the end any, from index 0), until none
// differs.

struct Condensed {
    Indices kept;    ///< ascending
    int passes = 0;  ///< the last one keeps nothing
    int refits =
        0;  ///< how often the kept set was opened anew; 0 for a method that takes nothing else from its set
};

/// Images are visited in blocks: one search finds the nearest kept images of a block among those that were kept since its
/// last visit, and those that are kept on the way are compared with the block alone. Throws UsageError (k), and as
/// SubsetSearch.
Condensed condense(const SubsetSearch& set, const ProgressToken& token);

// Wilson's editing (Wilson 1972, "Asymptotic properties of nearest neighbor rules using edited data"; repeated: Tomek
// 1976): removes the training images that the others misclassify.
//
// Round r: each image that is left is classified among the others that are left; all whose answer is not their label are
// removed together; by `class-mean` with the sizes of the classes at first, until nothing is removed, then with those that are left.
// Ends with the first round that removes nothing. So what is left is classified without an error by
// leave-one-out, the result does not depend on any order of the images beyond that of equal neighbors, and no image
// comes back.

struct Edited {
    Indices kept;                       ///< ascending
    std::vector<std::int64_t> removed;  ///< images in each round but the last, which removes none
};

/// One search of the whole set gives each image more neighbors than it needs; only images that have lost too many of them
/// are searched again. Throws UsageError (k), DataError (fewer than k + 1 images would be left), and as SubsetSearch.
Edited edit(const SubsetSearch& set, const ProgressToken& token);

enum class PrototypeRule { edit, condense, both };
template <>
inline constexpr std::array name_list<PrototypeRule>{"edit", "condense", "both"};

struct Prototypes {
    PrototypeRule rule = PrototypeRule::both;
    Indices kept;      ///< ascending, of the whole set
    Edited edited;     ///< if `rule` edits
    Condensed passes;  ///< if `rule` condenses; its indices are those of the edited set
};

/// After editing, what a method fits on a training set is fitted on the edited one. Throws as `edit` and `condense`.
Prototypes select_prototypes(const TrainingSet& training, const Method& method, const Resolved& resolved,
                             PrototypeRule rule, const ProgressToken& token);

}  // namespace knn
