// The engine `tensor`:
//
//   training bytes ─upload→ bytes ─arrange→ used pixels in tile order
//   query bytes ─upload→ bytes ─prepare→ used pixels, norms ─sample, search→ survivors ─fold, fallback→ neighbors
//   ─vote→ votes ─download→ host
//
// gpu/fused/search.h describes the steps and their arrays.

#include <optional>
#include <vector>

#include "data/core/clock.h"
#include "data/sketch/sketch.h"
#include "gpu/engines/batches.h"
#include "gpu/engines/strategies.h"
#include "gpu/engines/vote.h"
#include "gpu/fused/search.h"

namespace knn::gpu {

namespace {

/// For the current device.
const TensorKernel* choose_kernel(const Problem& problem, const std::string& name,
                                  UnsupportedReason& refusal) {
    const int capability = 10 * device_attribute(cudaDevAttrComputeCapabilityMajor) +
                           device_attribute(cudaDevAttrComputeCapabilityMinor);
    return choose(tensor_table(), name, "tensor kernel", refusal,
                  [&](const TensorKernel& kernel) { return kernel.supports(problem, capability); });
}

/// Where the engine decides about sketches, it tries them before a search of as many pairs: 1.3 s on a Hopper. To make and to try
/// them takes 0.1 s. They save two thirds of the time of large sets.
constexpr double pairs_to_try = 1.2e12;
constexpr std::int64_t sample_rows = 1024;

class Tensor final : public BatchEngine {
  public:
    Tensor(const TensorKernel& kernel, const ByteRows& train, cudaStream_t stream, const Sketch* sketch)
        : search_(kernel, train, stream, sketch), n_train_(train.n) {}

    /// Lets the engine decide whether searches are by sketches. train: as for the constructor.
    void leave_choice(const ByteRows& train, bool uses_cache, cudaStream_t stream) {
        const std::int64_t step = train.n / sample_rows;
        uses_cache_ = uses_cache;
        if (step < 64) return;  // sketches prune too little in small sets
        std::vector<std::uint32_t> images(static_cast<std::size_t>(sample_rows));
        for (std::size_t i = 0; i < images.size(); ++i)
            images[i] = static_cast<std::uint32_t>(i) * static_cast<std::uint32_t>(step);
        sample_.reserve(sample_rows, train.cols);
        const ByteRows sample = sample_.rows(sample_rows, train.cols);
        const auto width = static_cast<std::size_t>(train.cols);
        check(cudaMemcpy2DAsync(sample.d_data, sample.pitch_bytes, train.d_data,
                                train.pitch_bytes * static_cast<std::size_t>(step), width, sample_rows,
                                cudaMemcpyDeviceToDevice, stream),
              "copying a sample");
        sampled_images_ = copied_to_device(std::span(images), "uploading indices");
        dim_ = train.cols;
    }

    std::int64_t reserve(const SearchShape& shape, std::int64_t limit, Timeline& timeline) override {
        const double pairs = static_cast<double>(shape.n_query) * static_cast<double>(n_train_);
        if (dim_ > 0 && shape.k <= most_refined_k && pairs >= pairs_to_try) {
            const auto start = Clock::now();
            const Stream stream;
            load_sketch_search();
            load_sketch_thresholds();
            load_refine();
            const ByteRows sample = sample_.rows(sample_rows, dim_);
            decided_ = search_.try_sketches(sample, sampled_images_.d_data(), shape.k, uses_cache_, stream)
                           ? SketchColumns::c128
                           : SketchColumns::off;
            dim_ = 0;
            timeline.add({.name = "sketch",
                          .launches = 1,
                          .total_ms = ms_since(start),
                          .kind = StageKind::host,
                          .once = true});
        }
        return search_.reserve(shape, limit);
    }
    void enqueue(const Batch& batch, StageTimer& timer, cudaStream_t stream) override {
        search_.enqueue(batch, stream, &timer);
    }
    SketchColumns decided_sketch() const override { return decided_; }
    std::unique_ptr<BatchEngine> beside() const override {
        return std::unique_ptr<BatchEngine>(new Tensor(*this));
    }
    int dim() const { return search_.dim(); }

  private:
    /// Searches by direct products, and decides nothing.
    Tensor(const Tensor& other) : BatchEngine(), search_(other.search_), n_train_(other.n_train_) {}

    FusedSearch search_;
    SketchColumns decided_ = SketchColumns::automatic;
    std::int64_t n_train_, dim_ = 0;  ///< dim_: of the sample; 0: there is nothing left to try
    bool uses_cache_ = false;
    ImageBuffer sample_;  ///< of the training set: every so many-th image
    DeviceBuffer<std::uint32_t> sampled_images_;
};

}  // namespace

std::vector<Strategy> tensor_kernels() {
    return strategies_of(tensor_table());
}

void load_tensor_kernels(int device) {
    const OnDevice on_device(device);
    UnsupportedReason refusal;
    if (choose_kernel({1, 1, 1, 1}, "", refusal) == nullptr) return;
    load_prepare();
    load_fold();
    load_brute_force();
    load_vote();
}

UnsupportedReason configure_tensor(const Problem& problem, Plan& plan) {
    const OnDevice on_device(plan.device.number);
    if (UnsupportedReason refusal = refuse_problem(problem)) return refusal;
    if (UnsupportedReason refusal = refuse_all_but_l2("tensor", problem)) return refusal;
    if (!plan.select.empty() && plan.select != "fused")
        return "tensor selects while it multiplies, and takes no other selector";
    constexpr std::int64_t max_images = 0x7fffffff - tile_train;
    if (problem.n_train > max_images || problem.n_query > max_images)
        return "tensor takes at most " + std::to_string(max_images) + " images";
    UnsupportedReason refusal;
    const TensorKernel* kernel = choose_kernel(problem, plan.distance, refusal);
    if (kernel == nullptr) return refusal;
    if (plan.sketch == SketchColumns::c64) return "tensor takes sketches of 128 columns";
    if (plan.sketch == SketchColumns::c128 && kernel->search_sketches == nullptr)
        return std::string(kernel->name) + " takes no sketches";
    plan.distance = kernel->name;
    plan.select = "fused";
    plan.threads = 1;
    return std::nullopt;
}

std::unique_ptr<DeviceIndex> open_tensor(const Training& training, const Measure& measure, const Plan& plan,
                                         Timeline& timeline) {
    const OnDevice on_device(plan.device.number);
    Upload upload(training);
    load_tensor_kernels(plan.device.number);  // while the images are uploaded
    const TensorKernel& kernel = named_in(tensor_table(), plan.distance);
    std::unique_ptr<Tensor> engine;
    const double bytes = static_cast<double>(upload.n) * static_cast<double>(upload.dim);
    const ByteRows rows = upload.features.rows(upload.n, upload.dim);
    std::optional<Sketch> sketch;
    if (plan.sketch == SketchColumns::c128) {
        load_sketch_search();
        load_sketch_thresholds();
        load_refine();
        upload.timer.time(upload.stream, {.name = "sketch", .kind = StageKind::host}, [&] {
            sketch = training.transform == nullptr
                         ? cached_fit(training.rows, sketch_columns, plan.caches_fits)
                         : fit_sketch_to(rows, plan.caches_fits, upload.stream);
        });
    }
    upload.timer.time(upload.stream, {.name = "arrange", .bytes = 3 * bytes}, [&] {
        engine = std::make_unique<Tensor>(kernel, rows, upload.stream, sketch ? &*sketch : nullptr);
    });
    if (plan.sketch == SketchColumns::automatic && kernel.search_sketches != nullptr)
        engine->leave_choice(rows, plan.caches_fits, upload.stream);
    kernel.load(engine->dim());
    upload.finish(timeline);
    return std::make_unique<BatchedIndex>(std::move(engine), std::move(upload), measure, plan);
}

}  // namespace knn::gpu
