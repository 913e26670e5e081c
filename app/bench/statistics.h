#pragma once
/// What repeated runs say.

#include <vector>

namespace knn {

/// The middle of some runs and how far they spread.
struct Spread {
    double median = 0, low = 0, high = 0;
    int runs = 0;
};

/// Of an even number of runs the median is the mean of the two in the middle; of none all is 0.
Spread spread_of(std::vector<double> values);

}  // namespace knn
