#pragma once

#include <cstdint>
#include <string>

#include "data/core/device.h"

namespace knn {

/// Where a search runs and by what: may change its speed, never an answer. classifier/plan.h makes it.
struct Plan {
    std::string engine;
    Device device;
    std::string distance, select;  ///< the kernel and the selector that run; in a plan not yet settled empty: any
    std::int64_t batch = 0;        ///< queries at once; before a search 0: as many as memory allows
    int threads = 0;               ///< of the CPU; on a GPU 1
};

}  // namespace knn
