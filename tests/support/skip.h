#pragma once
/// What this build has, according to CMake, and tests that cannot run here: tools/test.sh lists the reasons. CTest checks only the exit code
/// (tests/support/main.cpp), so a test that skips and fails has failed.
///
///     if (mnist_folder().empty()) return skip(no_mnist);

#include <string>

namespace knn::test {

inline constexpr bool has_cuda = MNIST_KNN_HAS_CUDA;
inline constexpr bool has_mpi = MNIST_KNN_HAS_MPI;
inline constexpr bool has_opencv = MNIST_KNN_HAS_OPENCV;
/// Sanitizers make code ten times slower: batteries try fewer combinations of what others try alone.
inline constexpr bool has_sanitizer = MNIST_KNN_HAS_SANITIZER;

/// Of the combinations of a battery, all run; with a sanitizer every third, in the order of its loops.
class EveryThird {
  public:
    bool runs() { return !has_sanitizer || next_++ % 3 == 0; }

  private:
    int next_ = 0;
};

/// Prints the reason and notes that the running test case was skipped.
void skip(const std::string& why);

/// The skipped test cases.
std::size_t skipped_cases();

inline constexpr const char* no_opencv = "this build has no OpenCV";
inline constexpr const char* no_mnist = "MNIST was not found: set MNIST_KNN_DATA";

/// The folders that some tests need, empty where they are not there.
std::string mnist_folder();          ///< $MNIST_KNN_DATA
std::string photos_folder();         ///< $MNIST_KNN_PHOTOS
std::string seeds_folder();          ///< $MNIST_KNN_SEEDS: the texts of the five reports, named 000* to 004*
std::string pictures_folder();       ///< $MNIST_KNN_PICTURES: labels.csv, nondigits.csv, pages.csv
std::string more_pictures_folder();  ///< $MNIST_KNN_PICTURES2: the same of other people

}  // namespace knn::test
