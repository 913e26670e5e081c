#include "cpu/transform/histogram_memory.h"

namespace knn::cpu {

bool HistogramMemory::supports(const Histograms& histograms) {
    return histograms.directions.size() == histogram_lanes && histograms.has_sign && !histograms.has_blocks &&
           histograms.derivative == Derivative::sobel && histograms.offset > 0;
}

HistogramMemory::PixelAxis::PixelAxis(const Axis& axis, int length) {
    for (int pixel = 0; pixel < length; ++pixel) {
        PixelCells cells{0, 0, static_cast<std::int32_t>(weights.size())};
        for (int cell = 0; cell < axis.count(); ++cell) {
            const CellSpan& span = axis.cells[static_cast<std::size_t>(cell)];
            const int at = pixel - span.first;
            if (at < 0 || at >= span.count) continue;
            if (cells.count++ == 0) cells.first = cell;
            weights.push_back(static_cast<float>(axis.weights[static_cast<std::size_t>(span.weights + at)]));
        }
        pixels.push_back(cells);
    }
}

HistogramMemory::HistogramMemory(const Histograms& histograms)
    : rows_(histograms.rows, histograms.image.rows), cols_(histograms.cols, histograms.image.cols) {
    const ImageShape image = histograms.image;
    const auto cols = static_cast<std::size_t>(image.cols);
    directions_.resize(4 * histogram_lanes);
    for (std::size_t i = 0; i < histogram_lanes; ++i) {
        const Direction& before = histograms.directions[(i + histogram_lanes - 1) % histogram_lanes];
        const Direction& after = histograms.directions[(i + 1) % histogram_lanes];
        directions_[i] = static_cast<float>(before.x);
        directions_[i + histogram_lanes] = static_cast<float>(before.y);
        directions_[i + 2 * histogram_lanes] = static_cast<float>(after.x);
        directions_[i + 3 * histogram_lanes] = static_cast<float>(after.y);
    }
    padded_.resize(static_cast<std::size_t>(image.rows + 2) * (cols + 2));
    row_.resize(3 * cols);
    const auto cell_cols = static_cast<std::size_t>(histograms.cols.count());
    const auto cells = static_cast<std::size_t>(histograms.cells());
    sums_.resize((cell_cols + cells) * histogram_lanes);
    work_ = {.rows = image.rows,
             .cols = image.cols,
             .cell_rows = histograms.rows.count(),
             .cell_cols = histograms.cols.count(),
             .numerator = histograms.numerator,
             .offset = histograms.offset,
             .root_scale = root_scale,
             .before_x = directions_.data(),
             .before_y = directions_.data() + histogram_lanes,
             .after_x = directions_.data() + 2 * histogram_lanes,
             .after_y = directions_.data() + 3 * histogram_lanes,
             .row_cells = rows_.pixels.data(),
             .col_cells = cols_.pixels.data(),
             .row_weights = rows_.weights.data(),
             .col_weights = cols_.weights.data(),
             .padded = padded_.data(),
             .gradient_x = row_.data(),
             .gradient_y = row_.data() + cols,
             .gains = row_.data() + 2 * cols,
             .row_sums = sums_.data(),
             .sums = sums_.data() + cell_cols * histogram_lanes};
}

}  // namespace knn::cpu
