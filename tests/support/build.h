#pragma once
/// What this build has, as CMake knows it: a test never asks the program that it judges.

namespace knn::test {

inline constexpr bool has_cuda = MNIST_KNN_HAS_CUDA;
inline constexpr bool has_opencv = MNIST_KNN_HAS_OPENCV;

}  // namespace knn::test
