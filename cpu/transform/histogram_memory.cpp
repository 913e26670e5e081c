#include "cpu/transform/histogram_memory.h"

#include "data/core/round_up.h"

namespace knn::cpu {

bool HistogramMemory::supports(const Histograms& histograms) {
    return histograms.directions.size() == histogram_lanes && histograms.has_sign && !histograms.has_blocks &&
           histograms.derivative == Derivative::sobel && histograms.offset > 0;
}

HistogramMemory::HistogramMemory(const Histograms& histograms) {
    for (int y = 0; y < histograms.image.rows; ++y) {
        Span cells{0, 0, static_cast<std::int32_t>(row_weights_.size())};
        for (int cell = 0; cell < histograms.rows.count(); ++cell) {
            const CellSpan& span = histograms.rows.cells[static_cast<std::size_t>(cell)];
            const int at = y - span.first;
            if (at < 0 || at >= span.count) continue;
            if (cells.count++ == 0) cells.first = cell;
            row_weights_.push_back(
                static_cast<float>(histograms.rows.weights[static_cast<std::size_t>(span.weights + at)]));
        }
        row_cells_.push_back(cells);
    }
    for (const CellSpan& span : histograms.cols.cells)
        cells_.push_back({span.first, span.count, span.weights});
    col_weights_.assign(histograms.cols.weights.begin(), histograms.cols.weights.end());
    const ImageShape image = histograms.image;
    const std::int64_t wide = round_up(image.cols, wide_step);
    const auto cols = static_cast<std::size_t>(wide);
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
    bytes_.resize(cols);
    row_.resize(3 * cols);
    const auto cells = static_cast<std::size_t>(histograms.cells());
    sums_.resize((cols + cells) * histogram_lanes);
    work_ = {.rows = image.rows,
             .cols = image.cols,
             .wide = static_cast<std::int32_t>(wide),
             .cell_rows = histograms.rows.count(),
             .cell_cols = histograms.cols.count(),
             .numerator = histograms.numerator,
             .offset = histograms.offset,
             .root_scale = root_scale,
             .before_x = directions_.data(),
             .before_y = directions_.data() + histogram_lanes,
             .after_x = directions_.data() + 2 * histogram_lanes,
             .after_y = directions_.data() + 3 * histogram_lanes,
             .row_cells = row_cells_.data(),
             .cells = cells_.data(),
             .row_weights = row_weights_.data(),
             .col_weights = col_weights_.data(),
             .padded = padded_.data(),
             .bytes = bytes_.data(),
             .gradient_x = row_.data(),
             .gradient_y = row_.data() + cols,
             .gains = row_.data() + 2 * cols,
             .shares = sums_.data(),
             .sums = sums_.data() + cols * histogram_lanes};
}

}  // namespace knn::cpu
