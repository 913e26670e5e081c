#pragma once
/// How a test says that it cannot run here. CTest counts it as skipped; tools/test.sh lists the reasons.
///
///     if (!have_mnist()) return skip("MNIST was not found: set MNIST_KNN_DATA");

#include <string>

namespace knn::test {

/// Prints the line that CTest looks for.
void skip(const std::string& why);

/// The folders that some tests need, empty where they are not there.
std::string mnist_folder();   ///< $MNIST_KNN_DATA
std::string photos_folder();  ///< $MNIST_KNN_PHOTOS

}  // namespace knn::test
