#include "cpu/pack.h"

#include <algorithm>
#include <cstring>

namespace knn::cpu {

namespace {

std::int64_t group_bytes(const Kernel& kernel) {
    return kernel.form == QueryForm::pairs ? 2 * group_pixels : group_pixels;
}

/// The image's term of a distance; see kernel.h.
std::uint32_t image_term(const Kernel& kernel, PixelSums sums) {
    const bool shifted = kernel.form == QueryForm::shifted_bytes;
    if (kernel.arithmetic == Arithmetic::differences) return sums.plain;
    if (kernel.arithmetic == Arithmetic::products) return shifted ? 128 * sums.plain : 0;
    return shifted ? sums.squares - 256 * sums.plain : sums.squares;
}
std::uint32_t query_term(const Kernel& kernel, PixelSums sums) {
    return kernel.arithmetic == Arithmetic::squares ? sums.squares : sums.plain;
}

/// Calls put(group, its four bytes) for each of `groups` groups of a row; pixels beyond the end are 0.
template <class Put>
void for_groups(const std::uint8_t* row, std::int64_t dim, std::int64_t groups, const Put& put) {
    const std::int64_t whole = dim / group_pixels;
    std::uint32_t four = 0;
    for (std::int64_t g = 0; g < whole; ++g) {
        std::memcpy(&four, row + g * group_pixels, group_pixels);
        put(g, four);
    }
    for (std::int64_t g = whole; g < groups; ++g) {
        four = 0;
        if (g == whole)
            std::memcpy(&four, row + g * group_pixels, static_cast<std::size_t>(dim % group_pixels));
        put(g, four);
    }
}

}  // namespace

PixelSums sums_of(const std::uint8_t* row, std::int64_t dim) {
    PixelSums sums;
    for (std::int64_t p = 0; p < dim; ++p) {
        sums.plain += row[p];
        sums.squares += std::uint32_t{row[p]} * row[p];
    }
    return sums;
}

Panels::Panels(const Kernel& kernel, Rows rows)
    : kernel_(kernel),
      rows_(rows),
      groups_(groups_of(kernel, rows.dim)),
      count_(divide_up(rows.count, kernel.images)),
      pixels_(static_cast<std::size_t>(count_ * panel_bytes())),
      terms_(static_cast<std::size_t>(count_ * kernel.images)) {}

std::int64_t Panels::bytes(const Kernel& kernel, std::int64_t n_train, std::int64_t dim) {
    const std::int64_t images = round_up(n_train, kernel.images);
    return images * (groups_of(kernel, dim) * group_pixels + std::int64_t{sizeof(std::uint32_t)});
}

void Panels::fill(std::int64_t panel) {
    std::uint8_t* const pixels = pixels_.data() + panel * panel_bytes();
    std::uint32_t* const terms = terms_.data() + panel * kernel_.images;
    const std::int64_t first = panel * kernel_.images;
    const std::int64_t filled = std::min<std::int64_t>(kernel_.images, rows_.count - first);
    if (filled < kernel_.images) {
        std::memset(pixels, 0, static_cast<std::size_t>(panel_bytes()));
        std::fill_n(terms, kernel_.images, 0U);
    }
    const std::int64_t stride = kernel_.images * group_pixels;
    for (std::int64_t i = 0; i < filled; ++i) {
        const std::uint8_t* const row = rows_.row(first + i);
        std::uint8_t* const to = pixels + i * group_pixels;
        for_groups(row, rows_.dim, groups_, [&](std::int64_t group, std::uint32_t four) {
            std::memcpy(to + group * stride, &four, sizeof four);
        });
        terms[i] = image_term(kernel_, sums_of(row, rows_.dim));
    }
}

QueryBlock::QueryBlock(const Kernel& kernel, std::int64_t dim, std::int64_t largest)
    : kernel_(kernel),
      dim_(dim),
      groups_(groups_of(kernel, dim)),
      pixels_(static_cast<std::size_t>(round_up(largest, kernel.queries) * groups_ * group_bytes(kernel))),
      terms_(static_cast<std::size_t>(round_up(largest, kernel.queries))) {}

std::int64_t QueryBlock::bytes(const Kernel& kernel, std::int64_t dim, std::int64_t largest) {
    return round_up(largest, kernel.queries) *
           (groups_of(kernel, dim) * group_bytes(kernel) + std::int64_t{sizeof(std::uint32_t)});
}

void QueryBlock::fill(Rows rows) {
    const std::int64_t group = group_bytes(kernel_), strip = groups_ * kernel_.queries * group;
    strips_ = round_up(rows.count, kernel_.queries) / kernel_.queries;
    const std::int64_t n_lists = strips_ * kernel_.queries;
    std::memset(pixels_.data() + (strips_ - 1) * strip, 0, static_cast<std::size_t>(strip));
    std::fill_n(terms_.data(), n_lists, 0U);
    for (std::int64_t q = 0; q < rows.count; ++q)
        terms_[static_cast<std::size_t>(q)] =
            fill_query(rows.row(q), q % kernel_.queries, pixels_.data() + q / kernel_.queries * strip);
}

std::uint32_t QueryBlock::fill_query(const std::uint8_t* row, std::int64_t query, std::uint8_t* strip) const {
    const bool in_rows = kernel_.form == QueryForm::rows;
    const std::int64_t queries = kernel_.queries, group = group_bytes(kernel_);
    for_groups(row, dim_, groups_, [&](std::int64_t g, std::uint32_t four) {
        const std::int64_t place =
            in_rows ? (g / row_groups * queries + query) * row_groups + g % row_groups : g * queries + query;
        std::uint8_t* const to = strip + place * group;
        if (kernel_.form == QueryForm::shifted_bytes) four ^= 0x80808080U;  // p - 128 in two's complement
        if (kernel_.form != QueryForm::pairs) {
            std::memcpy(to, &four, sizeof four);
        } else {
            std::uint8_t pixels[group_pixels];
            std::memcpy(pixels, &four, sizeof four);
            const std::uint16_t pairs[group_pixels] = {pixels[0], pixels[2], pixels[1], pixels[3]};
            std::memcpy(to, pairs, sizeof pairs);
        }
    });
    return query_term(kernel_, sums_of(row, dim_));
}

}  // namespace knn::cpu
