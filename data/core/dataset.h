#pragma once
/// Labeled images, and the two sets that an evaluation needs.

#include <bitset>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
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

/// n images of rows × cols 8-bit pixels, 0 = background, and one label for each; or n other vectors, each as one row of cols elements.
struct LabeledImages {
    std::int64_t count = 0;
    int rows = 0, cols = 0;
    Bytes pixels;  ///< count × rows × cols elements
    Bytes labels;  ///< count, or more, of images that were not kept too; or none
    ElementType type = ElementType::uint8;
    bool are_images = true;

    /// Memory for so many 8-bit images and their labels.
    static LabeledImages sized(std::int64_t count, ImageShape shape,
                               std::pmr::memory_resource* memory = std::pmr::get_default_resource()) {
        return {count, shape.rows, shape.cols, Bytes(static_cast<std::size_t>(count * shape.dim()), memory),
                Bytes(static_cast<std::size_t>(count), memory)};
    }

    std::int64_t dim() const { return std::int64_t{rows} * cols; }
    Rows images() const { return {pixels.data(), count, dim(), type}; }
    ImageShape shape() const { return {rows, cols}; }
};

/// A training set and a test set with images of the same size.
struct Dataset {
    std::string name;    ///< "MNIST" if the checksums match, else the folder's name, or "synthetic digits"
    std::string source;  ///< where it came from, for people
    std::vector<std::filesystem::path> files;  ///< all that were read; empty for the built-in digits
    std::vector<std::filesystem::path> extra;  ///< images and labels that were added to train
    std::int64_t n_extra = 0;                  ///< the last training images, which they are
    bool synthetic = false;
    LabeledImages train, test;
    std::vector<std::uint8_t> labels;  ///< every label that occurs in either set, ascending: the classes
    std::vector<std::string> classes;  ///< their names, by label; empty: the labels are numbers
    bool named_vectors = false;        ///< the files are those of §train and §test, or empty
    std::string label_column;          ///< of a CSV, as the user named it

    bool are_images() const { return train.are_images && test.are_images; }
    std::string class_name(int label) const {
        return classes.empty() ? std::to_string(label) : classes[static_cast<std::size_t>(label)];
    }
};

/// Every label that occurs, ascending.
inline std::vector<std::uint8_t> occurring_labels(std::initializer_list<std::span<const std::uint8_t>> sets) {
    std::bitset<256> seen;
    for (const auto& set : sets)
        for (const std::uint8_t label : set)
            seen.set(label);
    std::vector<std::uint8_t> labels;
    for (std::size_t label = 0; label < seen.size(); ++label)
        if (seen[label]) labels.push_back(static_cast<std::uint8_t>(label));
    return labels;
}
inline std::vector<std::uint8_t> occurring_labels(const Dataset& data) {
    return occurring_labels({data.train.labels.span(), data.test.labels.span()});
}

}  // namespace knn
