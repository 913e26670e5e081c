#include "data/transform/fitted.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace knn {

namespace {

Blur gaussian(double sigma) {
    const int radius = static_cast<int>(std::ceil(3 * sigma));
    std::vector<double> density;
    for (int i = -radius; i <= radius; ++i)
        density.push_back(std::exp(-0.5 * i * i / (sigma * sigma)));
    const double total = std::accumulate(density.begin(), density.end(), 0.0);
    constexpr std::int32_t one = 1 << 14;
    Blur blur;
    for (const double part : density)
        blur.weights.push_back(static_cast<std::int32_t>(std::lround(one * part / total)));
    blur.weights[static_cast<std::size_t>(radius)] +=
        one - std::accumulate(blur.weights.begin(), blur.weights.end(), 0);
    return blur;
}

void apply(const Deskew& deskew, const FittedStep& step, const std::uint8_t* in, std::uint8_t* out,
           TransformScratch&) {
    const Skew skew = skew_of(moments_of(in, step.image), step.image, deskew.part);
    for (int y = 0; y < step.image.rows; ++y)
        for (int x = 0; x < step.image.cols; ++x)
            out[std::int64_t{y} * step.image.cols + x] = deskewed(in, step.image, skew, x, y);
}

void apply(const Normalize&, const FittedStep& step, const std::uint8_t* in, std::uint8_t* out,
           TransformScratch&) {
    const Contrast contrast = contrast_of(in, step.dim_in);
    for (std::int64_t i = 0; i < step.dim_in; ++i)
        out[i] = normalized(contrast, in[i], step.dim_in);
}

void apply(const Blur& blur, const FittedStep& step, const std::uint8_t* in, std::uint8_t* out,
           TransformScratch& scratch) {
    const ImageShape shape = step.image;
    std::vector<std::int32_t>& along = scratch.sums;
    along.resize(static_cast<std::size_t>(shape.dim()));
    for (int y = 0; y < shape.rows; ++y)
        for (int x = 0; x < shape.cols; ++x)
            along[static_cast<std::size_t>(std::int64_t{y} * shape.cols + x)] =
                blurred_along_row(in, shape, blur.weights.data(), blur.radius(), x, y);
    for (int y = 0; y < shape.rows; ++y)
        for (int x = 0; x < shape.cols; ++x)
            out[std::int64_t{y} * shape.cols + x] = blurred_down_column(
                along.data() + x, shape.cols, shape.rows, blur.weights.data(), blur.radius(), y);
}

void apply(const Projection& projection, const FittedStep&, const std::uint8_t* in, std::uint8_t* out,
           TransformScratch&) {
    for (std::int64_t i = 0; i < projection.n_out; ++i)
        out[i] = quantized(weighted_sum(&projection.weights[static_cast<std::size_t>(i * projection.dim)], in,
                                        projection.dim) -
                               projection.centers[static_cast<std::size_t>(i)],
                           projection.scale);
}

void apply(const ColumnScaling& scaling, const FittedStep&, const std::uint8_t* in, std::uint8_t* out,
           TransformScratch&) {
    scale_row(scaling, in, reinterpret_cast<double*>(out));
}

/// The sums of all cells: cell row × cell column × bin.
void sum_cells(const Histograms& histograms, const std::uint8_t* image, std::vector<std::int32_t>& sums) {
    const int n = static_cast<int>(histograms.directions.size()), bins = histograms.bins();
    sums.assign(static_cast<std::size_t>(histograms.cells() * bins), 0);
    std::vector<std::int32_t> shares(static_cast<std::size_t>(bins));
    const auto weight = [](const Axis& axis, int cell, int pixel) {
        const CellSpan& span = axis.cells[static_cast<std::size_t>(cell)];
        const int at = pixel - span.first;
        return at < 0 || at >= span.count ? 0 : axis.weights[static_cast<std::size_t>(span.weights + at)];
    };
    for (int y = 0; y < histograms.image.rows; ++y)
        for (int x = 0; x < histograms.image.cols; ++x) {
            const Gradient g = gradient_at(image, histograms.image, histograms.derivative, x, y);
            if (g.x == 0 && g.y == 0) continue;
            const float gain_of_g = gain(g, histograms.numerator, histograms.offset);
            std::fill(shares.begin(), shares.end(), 0);
            for (int i = 0; i < n; ++i)
                shares[static_cast<std::size_t>(i % bins)] +=
                    share(g, histograms.directions[static_cast<std::size_t>((i + n - 1) % n)],
                          histograms.directions[static_cast<std::size_t>((i + 1) % n)], gain_of_g);
            for (int r = 0; r < histograms.rows.count(); ++r) {
                const int row_weight = weight(histograms.rows, r, y);
                if (row_weight == 0) continue;
                for (int c = 0; c < histograms.cols.count(); ++c) {
                    const int both = row_weight * weight(histograms.cols, c, x);
                    std::int32_t* cell = &sums[static_cast<std::size_t>(
                        (std::int64_t{r} * histograms.cols.count() + c) * bins)];
                    for (int i = 0; both != 0 && i < bins; ++i)
                        cell[i] += both * shares[static_cast<std::size_t>(i)];
                }
            }
        }
}

/// Normalizes the cells of each block together.
void write_blocks(const Histograms& histograms, const std::vector<std::int32_t>& sums, std::uint8_t* out) {
    const int bins = histograms.bins(), cols = histograms.cols.count();
    std::vector<std::int32_t> block;
    const auto squares = [&] {
        std::int64_t sum = 0;
        for (const std::int64_t value : block)
            sum += value * value;
        return sum;
    };
    for (int r = 0; r < histograms.grid_rows(); ++r)
        for (int c = 0; c < histograms.grid_cols(); ++c) {
            block.clear();
            for (int cell = 0; cell < histograms.block_rows() * histograms.block_cols(); ++cell) {
                const int at_r = r + cell / histograms.block_cols(),
                          at_c = c + cell % histograms.block_cols();
                const auto* first = sums.data() + (std::int64_t{at_r} * cols + at_c) * bins;
                block.insert(block.end(), first, first + bins);
            }
            const std::int64_t before = squares();
            for (std::int32_t& value : block)
                value = clipped(value, before);
            const std::int64_t after = squares();
            for (const std::int32_t value : block)
                *out++ = block_feature(value, after);
        }
}

void apply(const Histograms& histograms, const FittedStep&, const std::uint8_t* in, std::uint8_t* out,
           TransformScratch& scratch) {
    sum_cells(histograms, in, scratch.sums);
    if (histograms.has_blocks)
        write_blocks(histograms, scratch.sums, out);
    else
        std::transform(scratch.sums.begin(), scratch.sums.end(), out, root_feature);
}

}  // namespace

void append_step(FittedTransform& transform, const TransformStep& step, Projection projection,
                 ColumnScaling scaling) {
    const ImageShape image = transform.image;
    const auto append = [&](auto what, std::int64_t dim_out) {
        const std::int64_t dim_in = transform.dim_out();
        transform.steps.push_back({std::move(what), image, dim_in, dim_out});
    };
    transform.spec.steps.push_back(step);
    switch (step.kind) {
        case TransformKind::raw:
            break;
        case TransformKind::deskew:
            return append(Deskew{step.parameter}, image.dim());
        case TransformKind::normalize:
            return append(Normalize{}, image.dim());
        case TransformKind::blur:
            return append(gaussian(step.parameter), image.dim());
        case TransformKind::pca:
            return append(std::move(projection), static_cast<std::int64_t>(step.parameter));
        case TransformKind::gradients:
            append(Deskew{gradients_slant}, image.dim());
            return append(gradient_histograms(image), gradient_histograms(image).dim());
        case TransformKind::minmax:
        case TransformKind::zscore:
            return append(std::move(scaling), transform.dim_out());
        case TransformKind::hog:
            return append(hog_histograms(image), hog_histograms(image).dim());
    }
}

void apply_step(const FittedStep& step, const std::uint8_t* in, std::uint8_t* out,
                TransformScratch& scratch) {
    std::visit([&](const auto& what) { apply(what, step, in, out, scratch); }, step.what);
}

FeatureGrid grid_of(const FittedTransform* transform, ImageShape image) {
    FeatureGrid grid{image.rows, image.cols, 1};
    if (transform == nullptr) return grid;
    for (const FittedStep& step : transform->steps)
        if (const auto* histograms = std::get_if<Histograms>(&step.what)) {
            grid = {histograms->grid_rows(), histograms->grid_cols(), histograms->depth()};
        } else if (std::holds_alternative<Projection>(step.what)) {
            grid = {1, 1, static_cast<int>(step.dim_out)};
        }
    return grid;
}

}  // namespace knn
