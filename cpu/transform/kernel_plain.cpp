namespace {

constexpr int lane_bytes = 16;

}  // namespace

#include "cpu/transform/lanes.h"

namespace knn::cpu {

const TransformKernel transform_plain{"plain", shear_rows, sum_histograms};

}  // namespace knn::cpu
