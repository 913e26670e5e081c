#pragma once
/// Labeled images, and the two sets that an evaluation needs.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "data/core/rows.h"

namespace knn {

/// Bytes in memory from a resource of the caller's choice (pinned host memory if a GPU reads them).
/// Not initialized. Can be moved, not copied. The resource outlives it.
class Bytes {
  public:
    Bytes() = default;
    explicit Bytes(std::size_t size, std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : data_(size > 0 ? static_cast<std::uint8_t*>(memory->allocate(size, alignment)) : nullptr,
                Free{memory, size}) {}

    std::uint8_t* data() { return data_.get(); }
    const std::uint8_t* data() const { return data_.get(); }
    std::size_t size() const { return data_ ? data_.get_deleter().size : 0; }
    std::span<const std::uint8_t> span() const { return {data(), size()}; }

  private:
    static constexpr std::size_t alignment = 64;  // a cache line; vector loads of whole lines stay inside one

    struct Free {
        std::pmr::memory_resource* memory;
        std::size_t size;
        void operator()(std::uint8_t* data) const { memory->deallocate(data, size, alignment); }
    };
    std::unique_ptr<std::uint8_t, Free> data_;
};

/// Host memory for a data set. This one is plain; gpu/engines/engines.h makes memory that a GPU reads at full speed.
class HostMemory {
  public:
    virtual ~HostMemory() = default;
    virtual std::pmr::memory_resource* resource() { return std::pmr::new_delete_resource(); }
    /// Pins all that has been handed out. Throws DeviceError.
    virtual void pin() {}
};

/// n images of rows × cols 8-bit pixels, 0 = background, and one label for each.
struct LabeledImages {
    std::int64_t count = 0;
    int rows = 0, cols = 0;
    Bytes pixels;  ///< count × rows × cols
    Bytes labels;  ///< count, or more: also those of images that were not kept

    std::int64_t dim() const { return std::int64_t{rows} * cols; }
    Rows images() const { return {pixels.data(), count, dim()}; }
    ImageShape shape() const { return {rows, cols}; }
};

/// A training set and a test set with images of the same size.
struct Dataset {
    std::string name;    ///< "MNIST" if the checksums match, else the folder's name, or "synthetic digits"
    std::string source;  ///< where it came from, for people
    std::vector<std::filesystem::path> files;  ///< the four that were read; empty for the built-in digits
    std::vector<std::filesystem::path>
        extra;                 ///< images and labels that were added to the training set, or none
    std::int64_t n_extra = 0;  ///< the last training images, which they are
    bool synthetic = false;
    LabeledImages train, test;
    std::vector<std::uint8_t> labels;  ///< every label that occurs in either set, ascending: the classes
};

}  // namespace knn
