#include "cpu/transform/transform.h"

#include <algorithm>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include "cpu/host/host.h"
#include "cpu/host/threads.h"
#include "cpu/lanes/kernel.h"
#include "data/core/errors.h"
#include "data/core/round_up.h"
#include "data/file/transfer.h"

namespace knn::cpu {

namespace {

constexpr std::int64_t images_at_once = 64;

/// The tables of Histograms as the kernels read them, and the memory of one thread.
class HistogramMemory {
  public:
    /// Whether the kernels compute these histograms.
    static bool supports(const Histograms& histograms) {
        return histograms.directions.size() == histogram_lanes && histograms.has_sign &&
               !histograms.has_blocks && histograms.derivative == Derivative::sobel && histograms.offset > 0;
    }

    explicit HistogramMemory(const Histograms& histograms) {
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
                 .directions = directions_.data(),
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
    HistogramMemory(const HistogramMemory&) = delete;  // work_ points into this
    HistogramMemory& operator=(const HistogramMemory&) = delete;

    const LaneHistograms& work() const { return work_; }

  private:
    std::vector<Span> row_cells_, cells_;
    std::vector<float> row_weights_, col_weights_, directions_, row_, sums_;
    std::vector<std::int32_t> padded_;
    std::vector<std::uint8_t> bytes_;
    LaneHistograms work_;
};

/// One thread's memory, and the steps for one image.
class RowTransform {
  public:
    RowTransform(const FittedTransform& transform, const TransformKernel& kernel)
        : transform_(transform), kernel_(kernel), along_(static_cast<std::size_t>(transform.image.rows)) {
        for (const FittedStep& step : transform.steps) {
            const auto* histograms = std::get_if<Histograms>(&step.what);
            if (histograms != nullptr && HistogramMemory::supports(*histograms)) lanes_.emplace(*histograms);
        }
    }

    /// Throws Interrupted between two steps: one of a large image may take as long as many small ones.
    void apply(const std::uint8_t* in, std::uint8_t* out, const std::atomic<bool>* stop) {
        for (std::size_t i = 0; i < transform_.steps.size(); ++i) {
            if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw Interrupted();
            const FittedStep& step = transform_.steps[i];
            std::vector<std::uint8_t>& row = scratch_.rows[i % 2];
            const bool is_last = i + 1 == transform_.steps.size();
            if (!is_last) row.resize(static_cast<std::size_t>(step.dim_out));
            std::uint8_t* to = is_last ? out : row.data();
            if (const auto* deskew = std::get_if<Deskew>(&step.what))
                shear(*deskew, step.image, in, to);
            else if (lanes_ && std::holds_alternative<Histograms>(step.what))
                kernel_.histograms(lanes_->work(), in, to);
            else
                apply_step(step, in, to, scratch_);
            in = to;
        }
    }

  private:
    void shear(const Deskew& deskew, ImageShape shape, const std::uint8_t* in, std::uint8_t* out) {
        const Skew skew = skew_of(moments_of(in, shape), shape, deskew.part);
        for (int y = 0; y < shape.rows; ++y) {
            const Between at = row_offset(skew, shape, y);
            along_[static_cast<std::size_t>(y)] = {at.first, at.part};
        }
        const std::int64_t wide = round_up(shape.cols, wide_step);
        shear_numbers_.resize(static_cast<std::size_t>(5 * wide + 2));
        shear_bytes_.resize(static_cast<std::size_t>(2 * wide));
        std::int32_t* numbers = shear_numbers_.data();
        const Between down = column_offset(skew);
        kernel_.shear(
            {shape.rows, shape.cols, static_cast<std::int32_t>(wide), down.first, down.part, along_.data(),
             numbers, numbers + wide, numbers + 2 * wide, shear_bytes_.data(), shear_bytes_.data() + wide},
            in, out);
    }

    const FittedTransform& transform_;
    const TransformKernel& kernel_;
    TransformScratch scratch_;
    std::vector<ShearedRow> along_;
    std::vector<std::int32_t> shear_numbers_;
    std::vector<std::uint8_t> shear_bytes_;
    std::optional<HistogramMemory> lanes_;
};

/// Fitted to rows of `dim` bytes. Eigenvectors of thousands of values take minutes and cannot be interrupted: if the user
/// asks to stop, the thread that computes them is left alone until the process ends.
Projection projection_of(std::vector<std::uint8_t> rows, std::int64_t dim, std::int64_t n_out,
                         const std::atomic<bool>* stop) {
    using namespace std::chrono_literals;
    auto work = std::make_shared<std::packaged_task<Projection()>>([rows = std::move(rows), dim, n_out] {
        return fit_projection({rows.data(), std::ssize(rows) / dim, dim}, n_out);
    });
    std::future<Projection> result = work->get_future();
    if (stop == nullptr) {
        (*work)();
        return result.get();
    }
    std::thread([work] { (*work)(); }).detach();
    while (result.wait_for(50ms) != std::future_status::ready) {
        if (stop->load(std::memory_order_relaxed)) throw Interrupted();
        throw_if_stopped();
    }
    return result.get();
}

}  // namespace

FittedTransform fit(const TransformSpec& spec, const Rows& images, ImageShape image, int threads,
                    const std::atomic<bool>* stop) {
    if (const UnsupportedReason why = refuse_transform(spec, image, images.count)) throw UsageError(*why);
    FittedTransform fitted{.spec = {}, .image = image, .steps = {}, .type_in = images.type};
    for (const TransformStep& step : spec.steps) {
        Projection projection;
        if (step.kind == TransformKind::pca) {
            projection = projection_of(features(fitted, images, threads, stop), fitted.dim_out(),
                                       static_cast<std::int64_t>(step.parameter), stop);
        }
        ColumnScaling scaling;
        if (info(step.kind).makes_reals) {
            std::vector<std::uint8_t> before;
            if (!fitted.is_raw()) before = features(fitted, images, threads, stop);
            scaling = fit_scaling(
                step.kind, fitted.is_raw() ? images : fitted.rows_out(before.data(), images.count), stop);
        }
        append_step(fitted, step, std::move(projection), std::move(scaling));
    }
    return fitted;
}

std::vector<std::uint8_t> features(const FittedTransform& transform, const Rows& images, int threads,
                                   const std::atomic<bool>* stop) {
    if (transform.is_raw()) return {images.pixels, images.pixels + images.bytes()};
    const TransformKernel& kernel = chosen_lanes().transform;
    const std::int64_t row_bytes = transform.row_bytes_out();
    try {
        std::vector<std::uint8_t> out;
        out.reserve(static_cast<std::size_t>(images.count * row_bytes));
        // Part by part: to get all the memory from the system may last, without a look at `stop`.
        constexpr std::int64_t part_bytes = 16 << 20;
        const std::int64_t most = part_bytes / row_bytes + 1;
        for (std::int64_t begin = 0; begin < images.count; begin += most) {
            throw_if_stopped();
            const std::int64_t n = std::min(most, images.count - begin);
            out.resize(static_cast<std::size_t>((begin + n) * row_bytes));
            const std::int64_t piece = piece_for_all(n, threads, images_at_once);
            for_rows(n, piece, threads, stop, [&](std::int64_t first, std::int64_t last) {
                RowTransform row(transform, kernel);
                for (std::int64_t i = begin + first; i < begin + last; ++i)
                    row.apply(images.row(i), out.data() + i * row_bytes, stop);
            });
        }
        return out;
    } catch (const std::bad_alloc&) {
        throw_out_of_memory("the features of " + std::to_string(images.count) + " images of " +
                            std::to_string(images.dim) + " pixels");
    }
}

}  // namespace knn::cpu
