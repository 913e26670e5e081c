// The engine `tensor`:
//
//   training bytes ─upload→ bytes ─arrange→ used pixels in tile order
//   query bytes ─upload→ bytes ─prepare→ used pixels, norms ─sample, search→ survivors ─fold, fallback→ neighbors
//   ─vote→ votes ─download→ host
//
// gpu/fused/search.h describes the steps and their arrays.

#include <optional>

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

class Tensor final : public BatchEngine {
  public:
    Tensor(const TensorKernel& kernel, const ByteRows& train, cudaStream_t stream, const Sketch* sketch)
        : search_(kernel, train, stream, sketch) {}

    std::int64_t reserve(const SearchShape& shape, std::int64_t limit) override {
        return search_.reserve(shape, limit);
    }
    void enqueue(const Batch& batch, StageTimer& timer, cudaStream_t stream) override {
        search_.enqueue(batch, stream, &timer);
    }
    int dim() const { return search_.dim(); }

  private:
    FusedSearch search_;
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
    // Only if asked for: fitting takes longer than a search gains.
    std::optional<Sketch> sketch;
    if (plan.sketch == SketchColumns::c128) {
        load_sketch_search();
        load_refine();
        upload.timer.time(upload.stream, {.name = "sketch", .kind = StageKind::host},
                          [&] { sketch = fit_sketch_to(rows, upload.stream); });
    }
    upload.timer.time(upload.stream, {.name = "arrange", .bytes = 3 * bytes}, [&] {
        engine = std::make_unique<Tensor>(kernel, rows, upload.stream, sketch ? &*sketch : nullptr);
    });
    kernel.load(engine->dim());
    upload.finish(timeline);
    return std::make_unique<BatchedIndex>(std::move(engine), std::move(upload), measure, plan);
}

}  // namespace knn::gpu
