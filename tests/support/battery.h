#pragma once
/// The battery of problems that every engine, distance kernel and selector must answer like the oracle.

#include "tests/support/oracle.h"
#include "tests/support/search.h"
#include "tests/support/test.h"

namespace knn::test {

/// One problem: train n_train × dim, query n_query × dim, 1 <= k <= n_train.
struct Case {
    std::string name;  ///< why it is there
    Rows train, query;
    int k = 1;
};

/// Sizes 1, k, k±1, 31..33, 1023..1025, powers of two and not; all-equal, sorted, reversed, duplicates; dim
/// 1, 3, 4, 17, 784, 1024 and their neighbors; the largest sums. Made once. The oracle needs seconds for all.
const std::vector<Case>& battery();

/// Fewer problems, for metrics other than l2: sizes at which kernels break, and images that are blank,
/// constant, equal, multiples or negatives of each other, or nearly constant.
const std::vector<Case>& metric_battery();

/// All metrics but l2, lp with several exponents.
const std::vector<Measure>& other_measures();

/// Runs the battery and CHECKs neighbors and votes against the oracle's, bit for bit. Each case runs with the
/// engine's own batch and with a random one; weights and ties change from case to case. `search` gets
/// requests with k, weights, tie and batch filled in, and adds what it likes (threads, strategy names). A
/// case that `refuse` (may be empty) refuses is not run, and a message says why; not all may be refused. Then
/// the same with the metric battery for each of `measures`: those that the engine must have.
void check_engine(const std::string& name, const std::function<Results(const Request&)>& search,
                  const std::function<UnsupportedReason(const Request&)>& refuse = {},
                  const std::vector<Measure>& measures = other_measures());

/// CHECKs that a search with a transform finds what the oracle finds among the oracle's features: several lists of
/// transforms, every metric, k from 1 to 1024, with and without Exclude, and with features that are there already.
/// `search` as above; returns the number of searches.
int check_transforms(const std::function<Results(const Request&)>& search);

}  // namespace knn::test
