// The arrays on which `bench` times kernels: the images as bytes and floats, the matrix, the neighbors.

#include "gpu/bench/bench.h"

#include <algorithm>

#include "gpu/bench/runs.h"
#include "gpu/distance/distance.h"
#include "gpu/engines/strategies.h"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int poison = 0xa5;

/// Null if no table has it.
const DistanceKernel* find_distance(const std::string& name) {
    for (const std::span<const DistanceKernel> table : {rungs(), half_kernels()})
        for (const DistanceKernel& kernel : table)
            if (name == kernel.name) return &kernel;
    return find_in(distance_table(), name);
}
const Selector* find_selector(const std::string& name) {
    const Selector* found = find_in(bench_selector_table(), name);
    return found != nullptr ? found : find_in(selector_table(), name);
}

/// Values that look random and depend only on their place (the finalizer of MurmurHash3).
__global__ void random_kernel(DistanceRows out) {
    constexpr std::uint64_t seed = 9;
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= out.n * out.cols) return;
    std::uint64_t x = static_cast<std::uint64_t>(i) + seed * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
    out.row(i / out.cols)[i % out.cols] = static_cast<std::uint32_t>(x >> 32);
}

class GpuBenchArrays : public BenchArrays {
  public:
    GpuBenchArrays(const Problem& problem, const Rows& train, const Rows& query, const ProgressToken& token)
        : problem_(problem), train_images_(train), query_images_(query), runs_(token) {
        if (train.pixels != nullptr) {
            take(train, train_bytes_, train_);
            take(query, query_bytes_, query_);
        }
        make_matrix();
        if (train.pixels == nullptr) fill_with_random();
    }
    ~GpuBenchArrays() override { cudaDeviceSynchronize(); }  // before memory that queued work uses is freed

    std::int64_t n_query() const override { return matrix_.rows().n; }

    UnsupportedReason fill(const std::string& name) override {
        const DistanceKernel* kernel = find_distance(name);
        if (UnsupportedReason refusal = refuse(kernel)) return refusal;
        prepare(*kernel);
        const std::int64_t n = fitting(*kernel);
        for (std::int64_t begin = 0; begin < n_query(); begin += n)
            enqueue(*kernel, begin, std::min(n, n_query() - begin), false);
        stream_.synchronize();
        return {};
    }

    Trial time_distance(const std::string& name, const TrialOptions& options) override {
        const DistanceKernel* kernel = find_distance(name);
        Trial trial;
        trial.refusal = refuse(kernel);
        if (trial.refusal) return trial;
        if (options.linear) make_linear();
        const DistanceRows rows = matrix_.rows();
        check(cudaMemsetAsync(rows.d_data, poison, static_cast<std::size_t>(rows.n) * rows.pitch_bytes,
                              stream_),
              "poisoning the matrix");
        prepare(*kernel);
        trial = runs_.timed(fitting(*kernel), options,
                            [&](std::int64_t n) { enqueue(*kernel, 0, n, options.linear); });
        trial.peak_bytes = used_bytes(*kernel, trial.n_query) +
                           static_cast<std::int64_t>(kernel->prepared_bytes(sized(n_query())));
        trial.operations = kernel->operations;
        trial.pixel_bytes = kernel->takes == Pixels::bytes ? 1 : 4;
        return trial;
    }

    Trial time_select(const std::string& name, int k, const TrialOptions& options) override {
        const Selector* selector = find_selector(name);
        problem_.k = k;
        Trial trial;
        trial.refusal = refuse(selector);
        if (trial.refusal) return trial;
        const auto size = static_cast<std::size_t>(n_query() * k);
        neighbors_.reserve(size);
        check(cudaMemsetAsync(neighbors_.d_data(), poison, size * sizeof(Neighbor), stream_),
              "poisoning the neighbors");
        trial = runs_.timed(fitting(*selector), options, [&](std::int64_t n) {
            selector->enqueue(sized(n), matrix_.first(n), {neighbors_.d_data(), n, k}, workspace_.d_data(),
                              stream_);
        });
        trial.finds = selector->finds;
        trial.peak_bytes =
            used_bytes(*selector, trial.n_query) + trial.n_query * k * std::int64_t{sizeof(Neighbor)};
        return trial;
    }

    std::vector<std::uint32_t> matrix_row(std::int64_t query) override {
        std::vector<std::uint32_t> row(static_cast<std::size_t>(problem_.n_train));
        check(cudaMemcpy(row.data(), matrix_.rows().row(query), row.size() * sizeof(row[0]),
                         cudaMemcpyDeviceToHost),
              "downloading distances");
        return row;
    }

    Neighbors neighbors(std::int64_t n) override { return downloaded(neighbors_, n, problem_.k); }

    Trial time_upload(bool pinned, const TrialOptions& options) override {
        const std::int64_t values = (train_images_.count + query_images_.count) * train_images_.dim;
        const auto size = static_cast<std::size_t>(values) * sizeof(float);
        const DeviceBuffer<char> to(size);
        HostArray<char> from(size, pinned);
        return runs_.repeated(query_images_.count, options, [&] {
            check(cudaMemcpyAsync(to.d_data(), from.data(), size, cudaMemcpyHostToDevice, stream_),
                  "uploading");
        });
    }

  private:
    /// Why a kernel or a selector cannot; null: there is none.
    template <class Entry>
    UnsupportedReason refuse(const Entry* entry) const {
        if (entry == nullptr) return "this build has nothing of this name";
        return entry->supports(sized(n_query()));
    }

    Problem sized(std::int64_t n) const {
        Problem problem = problem_;
        problem.n_query = n;
        return problem;
    }

    void fill_with_random() {
        constexpr int threads = 256;
        const DistanceRows out = matrix_.rows();
        random_kernel<<<grid_size(divide_up(out.n * out.cols, threads)), threads, 0, stream_>>>(out);
        check_launch("launching random values");
        stream_.synchronize();
    }

    void take(const Rows& images, ImageBuffer& bytes, PitchedBuffer<float>& floats) {
        floats = PitchedBuffer<float>(images.count, round_up(images.dim, 4));
        enqueue_expand(bytes.upload(images, stream_), floats.first(images.count, images.dim), stream_);
        stream_.synchronize();
    }

    /// The output of the kernel's `prepare`; that of the last kernel is kept.
    void prepare(const DistanceKernel& kernel) {
        const std::size_t bytes = kernel.prepared_bytes(sized(n_query()));
        if (bytes == 0 || prepared_by_ == &kernel) return;
        prepared_.reserve(bytes);
        prepared_by_ = &kernel;
        kernel.prepare(sized(n_query()), training(kernel, false), prepared_.d_data(), stream_);
    }

    Images training(const DistanceKernel& kernel, bool linear) const {
        if (kernel.takes == Pixels::bytes) return {{}, train_bytes_.rows(problem_.n_train, problem_.dim)};
        FloatRows train = train_.first(problem_.n_train, problem_.dim);
        if (linear) {
            train.d_data = linear_.d_data();
            train.pitch_bytes = static_cast<std::size_t>(train_.rows().cols) * sizeof(float);
        }
        return {train, {}};
    }

    /// Queries begin .. begin + n − 1.
    Images queries(const DistanceKernel& kernel, std::int64_t begin, std::int64_t n) const {
        if (kernel.takes == Pixels::bytes)
            return {{}, query_bytes_.rows(problem_.n_query, problem_.dim).slice(begin, n)};
        return {query_.first(problem_.n_query, problem_.dim).slice(begin, n), {}};
    }

    /// Half of the free memory at most: the rest is for workspaces, which a selector may want as large as the
    /// matrix.
    void make_matrix() {
        const std::int64_t row_bytes = round_up(4 * problem_.n_train, 512) + 8 * std::int64_t{max_device_k};
        const auto available = static_cast<std::int64_t>(free_memory() / 2) / row_bytes;
        matrix_ = PitchedBuffer<std::uint32_t>(std::clamp<std::int64_t>(available, 1, problem_.n_query),
                                               problem_.n_train);
    }

    /// Once: the training rows one behind the other, as cudaMalloc and a plain index lay them out.
    void make_linear() {
        const FloatRows from = train_.rows();
        const auto row_bytes = static_cast<std::size_t>(from.cols) * sizeof(float);
        if (!linear_.reserve(static_cast<std::size_t>(from.n * from.cols))) return;
        check(cudaMemcpy2DAsync(linear_.d_data(), row_bytes, from.d_data, from.pitch_bytes, row_bytes,
                                static_cast<std::size_t>(from.n), cudaMemcpyDeviceToDevice, stream_),
              "laying out rows");
    }

    /// Allocates the workspace for all queries, or for fewer if memory is short; returns their number.
    template <class Entry>
    std::int64_t fitting(const Entry& entry) {
        const std::size_t available = free_memory() / 10 * 9 + workspace_.size();
        std::int64_t n = n_query();
        while (n > 1 && entry.workspace_bytes(sized(n)) > available)
            n = (n + 1) / 2;
        workspace_.reserve(entry.workspace_bytes(sized(n)));
        return n;
    }

    /// Of the rows of n queries in the matrix, and the workspace for them.
    template <class Entry>
    std::int64_t used_bytes(const Entry& entry, std::int64_t n) const {
        return n * static_cast<std::int64_t>(matrix_.rows().pitch_bytes) +
               static_cast<std::int64_t>(entry.workspace_bytes(sized(n)));
    }

    void enqueue(const DistanceKernel& kernel, std::int64_t begin, std::int64_t n, bool linear) {
        const bool prepared = kernel.prepared_bytes(sized(n_query())) > 0;
        kernel.enqueue(
            sized(n),
            {training(kernel, linear), queries(kernel, begin, n), prepared ? prepared_.d_data() : nullptr},
            matrix_.rows().slice(begin, n), workspace_.d_data(), stream_);
    }

    Problem problem_;
    Rows train_images_, query_images_;
    DeviceBuffer<char> workspace_, prepared_;
    const DistanceKernel* prepared_by_ = nullptr;
    ImageBuffer train_bytes_, query_bytes_;
    PitchedBuffer<float> train_, query_;
    DeviceBuffer<float> linear_;
    PitchedBuffer<std::uint32_t> matrix_;
    DeviceBuffer<Neighbor> neighbors_;
    Runs runs_;
    const Stream& stream_ = runs_.stream();
};

}  // namespace

std::unique_ptr<BenchArrays> bench_arrays(int device, const Problem& problem, const Rows& train,
                                          const Rows& query, const ProgressToken& token) {
    check(cudaSetDevice(device), "choosing the device");
    return std::make_unique<GpuBenchArrays>(problem, train, query, token);
}

}  // namespace knn::gpu
