#pragma once
/// Sets of rows that are hard for bounds of distances.

#include <string>
#include <vector>

#include "tests/support/oracle.h"

namespace knn::test {

struct NamedRows {
    std::string name;
    Rows rows;
};

/// Sets that are hard for a bound or for what fits its axes: equal, distant, random, constant, few, short and long rows. times:
/// so many times as many rows, but of the largest set.
std::vector<NamedRows> hostile_sets(std::int64_t times = 1);

}  // namespace knn::test
