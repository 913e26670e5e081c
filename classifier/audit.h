#pragma once
/// Labels that their neighbors contradict.
///
/// The evidence against the label y of an image, from its nearest neighbors in the training set (of a training image:
/// among all others) in the order of the method:
///
///   S[c]      the mean distance of the nearest j neighbors of class c, j = the method's k; for those that the list lacks,
///             the distance of the last neighbor in it
///   evidence  log((S[y] + t) / (min over c != y of S[c] + t)): negative if the label's own class is nearest
///   t         a hundredth of the mean of min over c of S[c] over the training set, so that equal images divide nothing by 0
///
/// A probability is made of it by a logistic function with one parameter, fitted by leave-one-out on the training set
/// alone:
///
///   P(the label is wrong) = 1 / (1 + exp(-slope · evidence))
///
/// slope maximizes the likelihood of the training labels, where each image is a choice between its label and the best
/// other class. One more image, contradicted by the mean size of the evidence, keeps it finite where no label is
/// contradicted; it is at least 0. With equal evidence for both classes the probability is 1/2.

#include "classifier/index.h"

namespace knn {

/// The neighbors from which the means are taken, at least; a re-ranker has its candidates.
inline constexpr int audit_neighbors = 100;

/// The method with as many neighbors as an audit reads, of `n_train` images. Throws as require_others.
Method audit_method(const Method& method, std::int64_t n_train);

struct Suspicion {
    std::int64_t index = 0;
    std::uint8_t label = 0;
    std::uint8_t suggested = 0;  ///< the class with the smallest mean; the label itself if none is smaller
    double evidence = 0, probability = 0;
};

struct Audit {
    std::vector<Suspicion> images;  ///< the most suspicious first, then by index
    Neighbors neighbors;            ///< of each image, by its index
    int each = 0;                   ///< j
    double slope = 0;
    double search_ms = 0;
    Plan plan;
};

/// Audits the training set of `classifier`, of two classes or more, opened for `audit_method(method, ...)`, by leave-one-out;
/// or, if `test` has images, audits those by the training set. Throws as Index::search.
Audit audit(const Index& index, const Method& method, const Rows& test,
            std::span<const std::uint8_t> test_labels, const ProgressToken& token);

/// Changes `n` of the labels to other labels that occur, at places that `seed` chooses: the same on every machine.
/// Returns the places, ascending. Throws UsageError (more than there are, one class).
std::vector<std::int64_t> plant_wrong_labels(std::span<std::uint8_t> labels, std::int64_t n,
                                             std::uint64_t seed);

}  // namespace knn
