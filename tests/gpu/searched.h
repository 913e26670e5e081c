#pragma once
/// The GPU engines, for tests.

#include <vector>

#include "tests/gpu/have_gpu.h"
#include "tests/support/search.h"

namespace knn::test {

inline const Engine &classic = *find_engine("classic"), &tensor = *find_engine("tensor");

/// Those that the first GPU supports.
inline std::vector<const Engine*> engines_here() {
    return capability() >= 80 ? std::vector{&classic, &tensor} : std::vector{&classic};
}

}  // namespace knn::test
