#pragma once

#include <string>

#include "gpu/engines/engines.h"
#include "tests/support/skip.h"

namespace knn::test {

/// Whether there is a GPU; says [skipped] and why where there is none.
inline bool have_gpu() {
    std::string why;
    if (!gpu::devices(&why).empty()) return true;
    skip("no GPU: " + why);
    return false;
}

}  // namespace knn::test
