// Every transform of the table by itself, of the training images.

#include "app/bench/cases.h"
#include "app/bench/data.h"
#include "app/bench/section.h"
#include "cpu/search.h"
#include "cpu/transform/transform.h"
#include "data/core/clock.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

constexpr const char* components = ":50";  // of `pca`, which has no usual number
constexpr std::int64_t max_checked = 1000;

std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (const TransformInfo& known : transforms()) {
        const bool incomplete = known.parameter != nullptr && known.usual == 0;
        all.push_back(std::string(name(known.kind)) + (incomplete ? components : ""));
    }
    return all;
}

struct FittedCase {
    FittedTransform transform;
    double ms;  ///< to fit it
};

/// Those that these images allow; the others are left out with the reason.
std::vector<FittedCase> fit_all(BenchRun& run, const Rows& images, ImageShape shape) {
    std::vector<FittedCase> all;
    for (const std::string& text : texts()) {
        const TransformSpec spec = parse_transform("transform", text);
        if (const Refusal why = refuse_transform(spec, shape, images.count)) {
            run.leave_out(text, *why);
            continue;
        }
        const auto begin = Clock::now();
        FittedTransform fitted = cpu::fit(spec, images, shape, run.options().wish.threads);
        all.push_back({std::move(fitted), ms_since(begin)});
    }
    return all;
}

void measure(BenchRun& run, const std::vector<FittedCase>& all, const Rows& images, const std::string& title,
             const std::string& on) {
    Section section(run, title, "transform", {"bytes", "fit ms"}, of_images);
    for (const FittedCase& one : all)
        section.add(run.transform(one.transform, images, on, run.trial()),
                    {with_commas(one.transform.dim_out()), one.ms >= 1 ? short_number(one.ms) : ""});
    section.note("bytes: a row of features. fit: once for a training set, on the CPU.");
    section.note("GB/s: pixels read and features written.");
    section.finish();
}

/// The first feature of a sample of the images that differs from those of the steps as they are defined, one image
/// and step at a time; empty if there is none.
std::string mismatch(const FittedTransform& fitted, const Rows& images,
                     const std::vector<std::uint8_t>& found) {
    const auto dim = static_cast<std::size_t>(fitted.dim_out());
    if (found.size() != static_cast<std::size_t>(images.count) * dim) return "not one row for each image";
    TransformScratch scratch;
    for (const std::int64_t i : sample(images.count, max_checked)) {
        std::vector<std::uint8_t> right(images.row(i), images.row(i) + images.dim);
        for (const FittedStep& step : fitted.steps) {
            std::vector<std::uint8_t> next(static_cast<std::size_t>(step.dim_out));
            apply_step(step, right.data(), next.data(), scratch);
            right = std::move(next);
        }
        const std::uint8_t* row = found.data() + static_cast<std::size_t>(i) * dim;
        for (std::size_t j = 0; j < dim; ++j)
            if (row[j] != right[j])
                return "image " + std::to_string(i) + ", feature " + std::to_string(j) + ": " +
                       std::to_string(row[j]) + "; expected " + std::to_string(right[j]);
    }
    return "";
}

}  // namespace

Measurement BenchRun::transform(const FittedTransform& fitted, const Rows& images, const std::string& on,
                                const TrialOptions& options) {
    Measurement measured = started(report_.experiment, "transform", fitted.spec.text(), on,
                                   {images.count, images.count, images.dim, 1});
    std::vector<std::uint8_t> features;
    if (has_gpu() && on == report_.gpu) {
        take(measured, gpu_bench()->time_transform(gpu_.number, fitted, images, options, watch_, &features));
    } else {
        const int threads = on == one_cpu_thread ? 1 : options_.wish.threads;
        take(measured, timed_trial(options, images.count, [&](std::int64_t count) {
                 const auto begin = Clock::now();
                 features = cpu::features(fitted, images.first(count), threads, watch_.stop);
                 return ms_since(begin);
             }));
    }
    const std::int64_t n = measured.n_query;
    measured.bytes = static_cast<double>(n) * static_cast<double>(images.dim + fitted.dim_out());
    measured.wrong = mismatch(fitted, images.first(n), features);
    return keep(std::move(measured));
}

void run_transforms(BenchRun& run) {
    const BenchData data = bench_data(run, 1);
    const Rows& images = data.work->train();
    BenchReport& report = run.report();
    report.data = data.dataset.name + ": " + with_commas(images.count) + " training " +
                  noun(images.count, "image") + " of " + with_commas(images.dim) + ' ' +
                  noun(images.dim, "pixel");
    report.checked = with_commas(std::min(images.count, max_checked)) +
                     " images of each row against the definition, one image and step at a time";
    const int threads = cpu::threads_or_all(run.options().wish.threads);
    const std::vector<FittedCase> all = fit_all(run, images, data.dataset.train.shape());
    run.expect(static_cast<std::int64_t>(all.size()) * (1 + (threads > 1) + run.has_gpu()));
    if (run.has_gpu()) measure(run, all, images, "the GPU, images and features on it", report.gpu);
    measure(run, all, images, "one CPU thread, " + cpu::instruction_set(), one_cpu_thread);
    if (threads > 1) measure(run, all, images, std::to_string(threads) + " CPU threads", "cpu");
}

}  // namespace knn
