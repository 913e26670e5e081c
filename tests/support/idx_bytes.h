#pragma once
/// Handmade IDX files, valid and invalid.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/core/dataset.h"
#include "tests/support/temp_folder.h"

namespace knn::test {

/// Magic 00 00 `type` RANK and the sizes, big-endian.
std::string idx_header(std::uint8_t type, const std::vector<std::uint32_t>& sizes);

/// `n` bytes that differ from each other in a pattern.
std::string pattern(std::size_t n);

inline std::string text_of(const Bytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Right files: pixels and labels are pattern().
std::string idx_images(std::uint32_t count, std::uint32_t rows, std::uint32_t cols);
std::string idx_labels(std::uint32_t count);

/// One gzip member; `level` 0 stores, 9 compresses most.
std::string gzip(std::string_view content, int level = 6);

/// A reader for ByteSource, which gives `content` in pieces of `piece` bytes.
std::function<std::size_t(std::span<std::uint8_t>)> in_pieces(std::string content, std::size_t piece);

/// The four files of a small data set under MNIST's names: 12 training and 5 test images of 4×3.
void write_small_dataset(const TempFolder& folder, std::string_view subfolder = ".");

}  // namespace knn::test
