#include "cpu/transform/transform.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include "cpu/host/host.h"
#include "cpu/host/threads.h"
#include "cpu/kernels/kernels.h"
#include "cpu/transform/histogram_memory.h"
#include "cpu/transform/kernel.h"
#include "data/core/errors.h"
#include "data/core/round_up.h"

namespace knn::cpu {

namespace {

constexpr std::int64_t images_at_once = 64;

/// One thread's memory, and the steps for one image.
class Row {
  public:
    Row(const FittedTransform& transform, const TransformKernel& kernel)
        : transform_(transform), kernel_(kernel), along_(static_cast<std::size_t>(transform.image.rows)) {
        for (const FittedStep& step : transform.steps) {
            const auto* histograms = std::get_if<Histograms>(&step.what);
            if (histograms != nullptr && HistogramMemory::supports(*histograms)) lanes_.emplace(*histograms);
        }
    }

    void apply(const std::uint8_t* in, std::uint8_t* out) {
        for (std::size_t i = 0; i < transform_.steps.size(); ++i) {
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

}  // namespace

const TransformKernel& chosen_transform_kernel() {
#if defined(__x86_64__)
    const std::string name = instruction_set();
    if (name == "amx" || name == "avx512vnni") return transform_avx512;
    if (name == "avxvnni" || name == "avx2") return transform_avx2;
#endif
    return transform_plain;
}

namespace {

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
    while (result.wait_for(50ms) != std::future_status::ready)
        if (stop->load(std::memory_order_relaxed)) throw Interrupted();
    return result.get();
}

}  // namespace

FittedTransform fit(const TransformSpec& spec, const Rows& images, ImageShape image, int threads,
                    const std::atomic<bool>* stop) {
    if (const Refusal why = refuse_transform(spec, image, images.count)) throw UsageError(*why);
    FittedTransform fitted{.spec = {}, .image = image, .steps = {}};
    for (const TransformStep& step : spec.steps) {
        Projection projection;
        if (step.kind == TransformKind::pca) {
            projection = projection_of(features(fitted, images, threads, stop), fitted.dim_out(),
                                       static_cast<std::int64_t>(step.parameter), stop);
        }
        append_step(fitted, step, std::move(projection));
    }
    return fitted;
}

std::vector<std::uint8_t> features(const FittedTransform& transform, const Rows& images, int threads,
                                   const std::atomic<bool>* stop) {
    if (transform.is_raw()) return {images.pixels, images.pixels + images.count * images.dim};
    const TransformKernel& kernel = chosen_transform_kernel();
    const std::int64_t dim = transform.dim_out();
    const Watch watch{.progress = nullptr, .stop = stop};
    try {
        std::vector<std::uint8_t> out(static_cast<std::size_t>(images.count * dim));
        Team team(team_size(threads, images.count, images_at_once), watch, images.count, 1);
        std::vector<std::optional<Row>> rows(static_cast<std::size_t>(team.threads()));
        team.run_pieces(images.count, images_at_once, [&](int thread, std::int64_t first, std::int64_t last) {
            std::optional<Row>& row = rows[static_cast<std::size_t>(thread)];
            if (!row) row.emplace(transform, kernel);
            for (std::int64_t i = first; i < last; ++i)
                row->apply(images.row(i), out.data() + i * dim);
        });
        return out;
    } catch (const std::bad_alloc&) {
        throw DataError("memory: the features of " + std::to_string(images.count) + " images of " +
                        std::to_string(images.dim) + " pixels ran out of it; expected more, or fewer images");
    }
}

}  // namespace knn::cpu
