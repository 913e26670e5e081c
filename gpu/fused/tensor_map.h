#pragma once
/// Descriptions of arrays for bulk tensor copies (compute capability 9.0).

#include <cuda.h>
#include <cuda_runtime.h>

#include "gpu/runtime/views.h"

namespace knn::gpu {

inline constexpr int map_cols = 128;

/// A tensor map of 8-bit rows in boxes of map_cols bytes × `box_rows` rows with the 128-byte swizzle, zero beyond `cols` and
/// the last row.
CUtensorMap tensor_map(const ByteRows& rows, int box_rows);

}  // namespace knn::gpu
