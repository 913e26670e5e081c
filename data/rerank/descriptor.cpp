#include "data/rerank/descriptor.h"

#include "data/transform/deskew.h"
#include "data/transform/histograms.h"

namespace knn {

namespace {

std::vector<Gradient> gradients_of(ImageShape shape, const std::uint8_t* image, double part) {
    const Skew skew = skew_of(moments_of(image, shape), shape, part);
    std::vector<std::uint8_t> straight;
    for (int y = 0; y < shape.rows; ++y)
        for (int x = 0; x < shape.cols; ++x)
            straight.push_back(deskewed(image, shape, skew, x, y));
    std::vector<Gradient> all;
    all.reserve(static_cast<std::size_t>(shape.dim()));
    for (int y = 0; y < shape.rows; ++y)
        for (int x = 0; x < shape.cols; ++x)
            all.push_back(gradient_at(straight.data(), shape, Derivative::sobel, x, y));
    return all;
}

void describe_gradients(const DescriptorLayout& layout, const std::vector<Gradient>& gradients,
                        std::uint8_t* out) {
    const ImageShape shape = layout.image;
    const auto sum_at = [&](int x, int y) {
        Gradient sum{0, 0};
        for (int v = y; v < y + gradient_step && v < shape.rows; ++v)
            for (int u = x; u < x + gradient_step && u < shape.cols; ++u) {
                const Gradient g = gradients[static_cast<std::size_t>(std::int64_t{v} * shape.cols + u)];
                const int divisor = gradient_divisor(g.x, g.y);
                sum.x += gradient_level(g.x, divisor);
                sum.y += gradient_level(g.y, divisor);
            }
        return sum;
    };
    for (int a = 0; a < gradient_step; ++a)
        for (int b = 0; b < gradient_step; ++b)
            for (int y = a; y < shape.rows; y += gradient_step)
                for (int x = b; x < shape.cols; x += gradient_step) {
                    const Gradient sum = sum_at(x, y);
                    *out++ = static_cast<std::uint8_t>(sum.x);
                    *out++ = static_cast<std::uint8_t>(sum.y);
                }
}

void describe_cells(const DescriptorLayout& layout, const std::vector<Gradient>& gradients,
                    std::uint8_t* out) {
    const ImageShape shape = layout.image;
    for (int row = 0; row < layout.cell_rows(); ++row)
        for (int col = 0; col < layout.cell_cols(); ++col) {
            std::int32_t sums[cell_bins] = {};
            for (int i = 0; i < cell_taps * cell_taps; ++i) {
                const int y = cell_pixels * row - 2 + i / cell_taps;
                const int x = cell_pixels * col - 2 + i % cell_taps;
                if (y < 0 || y >= shape.rows || x < 0 || x >= shape.cols) continue;
                const Gradient g = gradients[static_cast<std::size_t>(std::int64_t{y} * shape.cols + x)];
                for (int bin = 0; bin < cell_bins; ++bin)
                    sums[bin] += cell_weights[i / cell_taps] * cell_weights[i % cell_taps] *
                                 direction_share(bin, g.x, g.y);
            }
            for (const std::int32_t sum : sums)
                *out++ = cell_value(sum);
        }
}

}  // namespace

void describe(const DescriptorLayout& layout, const std::uint8_t* image, std::uint8_t* out) {
    if (layout.has_gradients)
        describe_gradients(layout, gradients_of(layout.image, image, gradients_slant_part), out);
    if (layout.has_cells)
        describe_cells(layout, gradients_of(layout.image, image, cells_slant_part),
                       out + layout.gradient_bytes());
}

}  // namespace knn
