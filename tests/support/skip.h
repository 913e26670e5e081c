#pragma once
/// How a test says that it cannot run here: tools/test.sh lists the reasons. CTest goes by the exit code
/// alone (tests/support/main.cpp), so a test that says it and fails has failed.
///
///     if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");

#include <string>

namespace knn::test {

/// Prints the reason and notes that the running test case was skipped.
void skip(const std::string& why);

/// The test cases that said so.
std::size_t skipped_cases();

inline constexpr const char* no_opencv = "this build has no OpenCV";

/// The folders that some tests need, empty where they are not there.
std::string mnist_folder();   ///< $MNIST_KNN_DATA
std::string photos_folder();  ///< $MNIST_KNN_PHOTOS

}  // namespace knn::test
