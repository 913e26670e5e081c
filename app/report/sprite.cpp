#include "app/report/sprite.h"

#include <algorithm>
#include <cstddef>

#include "app/report/png.h"
#include "data/core/round_up.h"

namespace knn {

std::int64_t Sprite::tile(const LabeledImages& images, std::int64_t index) {
    const std::uint8_t* first = images.images().row(index);
    const auto [place, fresh] = numbers_.try_emplace(first, std::ssize(tiles_));
    if (fresh) tiles_.push_back(first);
    return place->second;
}

int Sprite::columns() const {
    return std::clamp(2048 / std::max(cols_, 1), 1, 64);
}

std::vector<std::uint8_t> Sprite::png() const {
    const auto across = static_cast<std::size_t>(columns());
    const auto rows = static_cast<std::size_t>(rows_), cols = static_cast<std::size_t>(cols_);
    const std::size_t down =
        static_cast<std::size_t>(std::max<std::int64_t>(1, divide_up(std::ssize(tiles_), columns())));
    const std::size_t width = across * cols;
    std::vector<std::uint8_t> pixels(width * down * rows);
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
        std::uint8_t* corner = pixels.data() + i / across * rows * width + i % across * cols;
        for (std::size_t row = 0; row < rows; ++row)
            std::copy_n(tiles_[i] + row * cols, cols, corner + row * width);
    }
    return gray_png(pixels.data(), static_cast<int>(down * rows), static_cast<int>(width));
}

}  // namespace knn
