#pragma once
/// Subsets of a training set that are searched among each other: what editing and condensing do. What the method fits on a
/// training set (the axes of `pca`, the density of a re-ranking) is fitted once, on the whole set.

#include <cstdint>
#include <span>
#include <vector>

#include "classifier/index.h"
#include "data/core/dataset.h"

namespace knn {

/// Images of a training set, by index.
using Indices = std::vector<std::uint32_t>;

/// 0 .. n-1.
Indices all_indices(std::int64_t n);

/// Copies of these images and their labels, in the order of `images`.
LabeledImages copied(const Training& training, std::span<const std::uint32_t> images);

/// Throws UsageError unless each of n images has k others, DataError where one image has none.
void require_others(int k, std::int64_t n);

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
    std::vector<std::uint8_t> answers(std::span<const std::uint32_t> images, const Neighbors& nearest) const {
        return index_.labels_of(images, nearest, images.size() > 1 ? 0 : 1);
    }

  private:
    Resolved resolved_;
    Index index_;  ///< of the whole set
    Rows features_;
};

}  // namespace knn
