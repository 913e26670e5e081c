#pragma once
/// MNIST itself, for the tests that measure on it.

#include "data/core/dataset.h"
#include "data/set/locate.h"
#include "tests/support/skip.h"

namespace knn::test {

inline Dataset mnist() {
    DataOptions options;
    options.folder = mnist_folder();
    return load(locate(options));
}

}  // namespace knn::test
