namespace {

constexpr int lane_bytes = 32;

}  // namespace

#include "cpu/transform/lanes.h"

namespace knn::cpu {

const TransformKernel transform_avx2{"avx2", shear_rows, sum_histograms};

}  // namespace knn::cpu
