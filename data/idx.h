#pragma once
/// The IDX format of MNIST: magic 00 00 TYPE RANK, RANK big-endian 32-bit sizes, then the data; plain or
/// gzip, told apart by content, never by name. Only 8-bit unsigned images (rank 3) and labels (rank 1) are
/// read.

#include <cstdint>
#include <filesystem>
#include <memory_resource>

#include "data/dataset.h"

namespace knn {

/// The images of one file: count × rows × cols, read straight into memory from `memory`.
struct IdxImages {
    std::int64_t count = 0;
    int rows = 0, cols = 0;
    Bytes pixels;
};

/// Throw DataError, one line that names the file, what is wrong and what was expected.
/// Sizes are checked in 64 bits before anything is allocated.
IdxImages read_idx_images(const std::filesystem::path& file,
                          std::pmr::memory_resource* memory = std::pmr::get_default_resource());
Bytes read_idx_labels(const std::filesystem::path& file,
                      std::pmr::memory_resource* memory = std::pmr::get_default_resource());

/// Plain IDX, written beside its place and renamed into it. Throw DataError.
void write_idx_images(const std::filesystem::path& file, const LabeledImages& images);
void write_idx_labels(const std::filesystem::path& file, const LabeledImages& images);

}  // namespace knn
