#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/core/device.h"
#include "data/core/names.h"

namespace knn {

/// How several devices or processes share a search: each has the whole training set and some of the queries, or a
/// part of the training set and all queries.
enum class SpreadBy { automatic, queries, training };
template <>
struct Names<SpreadBy> {
    static constexpr std::array list{"auto", "queries", "training"};
};

/// Where a stage of a method runs; none: the method has no such stage.
enum class StagePlace { none, device, host };
struct Stages {
    StagePlace transform = StagePlace::none, rerank = StagePlace::none, vote = StagePlace::none;
};

/// Where and how a search runs: affects its speed, never an answer. classifier/plan.h makes it.
struct Plan {
    std::string engine = {};
    Device device = {};
    std::string distance = {}, select = {};  ///< kernel and selector; empty (any) until the plan is settled
    std::int64_t batch = 0;                  ///< queries at once; 0 before a search: as many as memory allows
    int threads = 0;                         ///< of the CPU; on a GPU 1
    std::vector<Device> devices = {};        ///< all, `device` first, if more than one searches
    SpreadBy spread = SpreadBy::automatic;   ///< among devices and ranks; settled if there are several
    std::int64_t memory = 0;                 ///< most bytes of training images on a device; 0: no limit
    int ranks = 1;                           ///< processes that search together
    Stages stages = {};                      ///< of the method, once there is one

    /// A search that follows at once: an engine may allocate its memory while it opens. n_query: 0: not known.
    struct Expected {
        std::int64_t n_query = 0;
        int k = 0;
        bool has_known = false;
    };
    Expected expected = {};
};

}  // namespace knn
