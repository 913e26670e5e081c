namespace {

constexpr int lane_bytes = 64;

}  // namespace

#include "cpu/transform/lanes.h"

namespace knn::cpu {

const TransformKernel transform_avx512{"avx512", shear_rows, sum_histograms};

}  // namespace knn::cpu
