#pragma once

#include <cstddef>

#include "data/core/problem.h"

namespace knn::gpu {

/// What a kernel or selector needs that needs no workspace.
inline std::size_t no_workspace(const Problem&) {
    return 0;
}

}  // namespace knn::gpu
