#include "data/core/rows.h"

#include <numeric>

namespace knn {

namespace {

bool are_consecutive(std::span<const std::uint32_t> images) {
    for (std::size_t i = 1; i < images.size(); ++i)
        if (images[i] != images[0] + i) return false;
    return true;
}

}  // namespace

Queries Queries::all_of(const Rows& train) {
    return some_of(train, 0, train.count);
}

Queries Queries::some_of(const Rows& train, std::int64_t first, std::int64_t n) {
    std::vector<std::uint32_t> images(static_cast<std::size_t>(n));
    std::iota(images.begin(), images.end(), static_cast<std::uint32_t>(first));
    return some_of(train, std::move(images));
}

Queries Queries::some_of(const Rows& train, std::vector<std::uint32_t> images) {
    const auto owned = std::make_shared<const std::vector<std::uint32_t>>(std::move(images));
    Queries some;
    some.images = *owned;
    some.owner = owned;
    some.is_training_set = std::ssize(some.images) == train.count && are_consecutive(some.images);
    return some.as_rows_of(train);
}

Queries Queries::as_rows_of(const Rows& train) const {
    Queries same = *this;
    const std::int64_t n = std::ssize(images);
    if (n == 0 || are_consecutive(images)) {
        same.rows = train.slice(n == 0 ? 0 : images[0], n);
        return same;
    }
    struct Gathered {
        std::vector<std::uint8_t> pixels;
        std::shared_ptr<const void> before;
    };
    const auto copy = std::make_shared<Gathered>(Gathered{gathered(train, images), owner});
    same.rows = {copy->pixels.data(), n, train.dim, train.type};
    same.owner = copy;
    return same;
}

Queries Queries::slice(std::int64_t begin, std::int64_t n) const {
    Queries some = *this;
    some.rows = rows.slice(begin, n);
    if (leaves_out())
        some.images = images.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(n));
    some.is_training_set = is_training_set && n == count();
    return some;
}

std::vector<std::uint8_t> gathered(const Rows& rows, std::span<const std::uint32_t> images) {
    std::vector<std::uint8_t> pixels;
    pixels.reserve(images.size() * static_cast<std::size_t>(rows.row_bytes()));
    for (const std::uint32_t image : images)
        pixels.insert(pixels.end(), rows.row(image), rows.row(image) + rows.row_bytes());
    return pixels;
}

}  // namespace knn
