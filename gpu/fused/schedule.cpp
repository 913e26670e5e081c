#include "gpu/fused/schedule.h"

#include <cmath>
#include <numeric>

namespace knn::gpu {

std::int64_t tile_stride(std::int64_t n_tiles) {
    auto stride = static_cast<std::int64_t>(std::llround(0.6180339887498949 * static_cast<double>(n_tiles)));
    while (std::gcd(stride, n_tiles) != 1)
        ++stride;
    return stride;
}

}  // namespace knn::gpu
