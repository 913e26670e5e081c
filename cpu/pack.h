#pragma once
/// Images in the layouts that kernels read (see kernel.h).

#include <cstdint>

#include "cpu/kernels/kernel.h"
#include "data/core/neighbors.h"
#include "data/core/round_up.h"
#include "data/core/rows.h"

namespace knn::cpu {

/// Σp and Σp² over the pixels of an image; the largest, 66,051 · 255², fits.
struct PixelSums {
    std::uint32_t plain = 0, squares = 0;
};
PixelSums sums_of(const std::uint8_t* row, std::int64_t dim);

/// Number of pixel groups per image; the last group and the last row are padded with 0.
constexpr std::int64_t groups_of(const Kernel& kernel, std::int64_t dim) {
    const std::int64_t groups = divide_up(dim, group_pixels);
    return kernel.form == QueryForm::rows ? round_up(groups, row_groups) : groups;
}

/// Training images in panels. The last panel and the last group are padded with 0.
class Panels {
  public:
    /// Allocates, without filling; throws std::bad_alloc.
    Panels(const Kernel& kernel, Rows rows);

    /// Bytes that the constructor allocates for this problem.
    static std::int64_t bytes(const Kernel& kernel, std::int64_t n_train, std::int64_t dim);

    /// Packs one panel; different threads may pack different panels concurrently.
    void fill(std::int64_t panel);

    std::int64_t count() const { return count_; }
    std::int64_t groups() const { return groups_; }
    std::int64_t panel_bytes() const { return groups_ * kernel_.images * group_pixels; }
    const std::uint8_t* pixels(std::int64_t panel) const { return pixels_.data() + panel * panel_bytes(); }
    const std::uint32_t* terms(std::int64_t panel) const { return terms_.data() + panel * kernel_.images; }

  private:
    const Kernel& kernel_;
    Rows rows_;
    std::int64_t groups_, count_;
    Uninitialized<std::uint8_t> pixels_;  ///< count × groups × images × 4
    Uninitialized<std::uint32_t> terms_;  ///< count × images
};

/// A block of queries in strips, owned and reused by one thread.
class QueryBlock {
  public:
    /// Allocates for `largest` queries; throws std::bad_alloc.
    QueryBlock(const Kernel& kernel, std::int64_t dim, std::int64_t largest);

    static std::int64_t bytes(const Kernel& kernel, std::int64_t dim, std::int64_t largest);

    /// Packs all of `rows`. The last strip is padded with 0.
    void fill(Rows rows);

    std::int64_t strips() const { return strips_; }
    const std::uint8_t* pixels() const { return pixels_.data(); }
    const std::uint32_t* terms() const { return terms_.data(); }

  private:
    std::uint32_t fill_query(const std::uint8_t* row, std::int64_t query, std::uint8_t* strip) const;

    const Kernel& kernel_;
    std::int64_t dim_, groups_, strips_ = 0;
    Uninitialized<std::uint8_t> pixels_;  ///< see Pass::block
    Uninitialized<std::uint32_t> terms_;  ///< strips × queries
};

}  // namespace knn::cpu
