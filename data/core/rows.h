#pragma once
/// Images or other vectors as rows, and the input of a search.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/core/element_type.h"

namespace knn {

/// The size of images, in pixels.
struct ImageShape {
    int rows = 0, cols = 0;

    std::int64_t dim() const { return std::int64_t{rows} * cols; }
    std::string text() const { return std::to_string(rows) + "x" + std::to_string(cols); }
    friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// Rows of elements of one type: count × dim, without padding. Does not own them.
struct Rows {
    const std::uint8_t* pixels = nullptr;  ///< the bytes of all elements
    std::int64_t count = 0;
    std::int64_t dim = 0;  ///< elements of a row
    ElementType type = ElementType::uint8;

    bool are_bytes() const { return type == ElementType::uint8; }
    std::int64_t row_bytes() const { return dim * size_of(type); }
    std::int64_t bytes() const { return count * row_bytes(); }
    const std::uint8_t* row(std::int64_t i) const { return pixels + i * row_bytes(); }
    Rows first(std::int64_t n) const { return {pixels, n < count ? n : count, dim, type}; }
    Rows slice(std::int64_t begin, std::int64_t n) const { return {row(begin), n, dim, type}; }
};

/// Images to search for: any images, or images of the training set, each of which is then not its own neighbor
/// (leave-one-out). A copy refers to the same images.
struct Queries {
    Rows rows = {};
    std::span<const std::uint32_t> images = {};  ///< the training image that each query is; empty: any images
    bool is_training_set = false;  ///< query i is training image i: of each distance both ends are queries
    std::shared_ptr<const void> owner = nullptr;  ///< of the memory, unless it outlives this

    Queries() = default;
    /*implicit*/ Queries(const Rows& any) : rows(any) {}

    /// Each image of a training set among all others.
    static Queries all_of(const Rows& train);
    /// The same for its images first .. first + n - 1.
    static Queries some_of(const Rows& train, std::int64_t first, std::int64_t n);
    /// The same for these images, which are copied unless they are consecutive.
    static Queries some_of(const Rows& train, std::vector<std::uint32_t> images);

    std::int64_t count() const { return rows.count; }
    bool leaves_out() const { return !images.empty(); }
    Queries slice(std::int64_t begin, std::int64_t n) const;
    /// The same queries as rows of `train`, which has a row for each training image; only if leaves_out().
    Queries as_rows_of(const Rows& train) const;
};

/// The bytes of the rows of these images, one after another.
std::vector<std::uint8_t> gathered(const Rows& rows, std::span<const std::uint32_t> images);

}  // namespace knn
