#pragma once

#include <cstdint>
#include <string>

#include "data/set/dataset.h"

namespace knn {

/// SHA-256 (hex) of the size, the pixels and the labels of the first `n` images: tells whether two reports are of one test
/// set, wherever its files are and however they are compressed.
std::string test_checksum(const LabeledImages& set, std::int64_t n);

}  // namespace knn
