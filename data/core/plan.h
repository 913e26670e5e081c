#pragma once

#include <cstdint>
#include <string>

#include "data/core/device.h"

namespace knn {

/// Where and how a search runs: affects its speed, never an answer. classifier/plan.h makes it.
struct Plan {
    std::string engine = {};
    Device device = {};
    std::string distance = {}, select = {};  ///< kernel and selector; empty (any) until the plan is settled
    std::int64_t batch = 0;                  ///< queries at once; 0 before a search: as many as memory allows
    int threads = 0;                         ///< of the CPU; on a GPU 1
};

}  // namespace knn
