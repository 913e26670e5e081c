#pragma once
/// Statistics of repeated runs.

#include <vector>

namespace knn {

/// Median, minimum and maximum.
struct Spread {
    double median = 0, low = 0, high = 0;
    int runs = 0;
};

/// For an even number of runs the median is the mean of the two in the middle; for none all are 0.
Spread spread_of(std::vector<double> values);

}  // namespace knn
