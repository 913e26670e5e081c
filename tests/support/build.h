#pragma once
/// What this build has, according to CMake: tests do not ask the program that they test.

namespace knn::test {

inline constexpr bool has_cuda = MNIST_KNN_HAS_CUDA;
inline constexpr bool has_mpi = MNIST_KNN_HAS_MPI;
inline constexpr bool has_opencv = MNIST_KNN_HAS_OPENCV;

}  // namespace knn::test
