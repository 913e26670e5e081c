#pragma once
/// MNIST itself, for the tests that measure on it.

#include "data/core/dataset.h"
#include "data/set/locate.h"
#include "tests/support/skip.h"

namespace knn::test {

/// The files in a folder.
inline DataLocation located(const std::string& folder) {
    DataOptions options;
    options.folder = folder;
    return locate(options);
}

inline Dataset mnist() {
    return load(located(mnist_folder()));
}

}  // namespace knn::test
