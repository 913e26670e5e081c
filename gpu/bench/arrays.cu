// The arrays on which `bench` times kernels: the images as bytes and floats, the matrix, the neighbors.

#include <algorithm>

#include "gpu/bench/bench.h"
#include "gpu/bench/runs.h"
#include "gpu/distance/distance.h"
#include "gpu/engines/strategies.h"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int poison = 0xa5;

/// Null if no table has it.
const DistanceKernel* find_distance(const std::string& name) {
    for (const DistanceKernel& kernel : bench_distance_table())
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
        : problem_(problem), runs_(token) {
        if (train.pixels != nullptr) {
            take(train, train_bytes_, train_);
            take(query, query_bytes_, query_);
        }
        // Half of the free memory at most: the rest is for workspaces, which a selector may want as large as the matrix.
        const std::int64_t row_bytes = round_up(4 * problem.n_train, 512) + 8 * std::int64_t{max_device_k};
        const auto fitting = static_cast<std::int64_t>(free_memory() / 2) / row_bytes;
        matrix_ = PitchedBuffer<std::uint32_t>(std::clamp<std::int64_t>(fitting, 1, problem.n_query),
                                               problem.n_train);
        if (train.pixels != nullptr) return;
        constexpr int threads = 256;
        random_kernel<<<grid_size(divide_up(n_query() * problem.n_train, threads)), threads, 0, stream_>>>(
            matrix_.rows());
        check_launch("launching random values");
        stream_.synchronize();
    }
    ~GpuBenchArrays() override { cudaDeviceSynchronize(); }  // before memory that queued work uses is freed

    std::int64_t n_query() const override { return matrix_.rows().n; }

    UnsupportedReason fill(const std::string& name) override {
        const DistanceKernel* kernel = find_distance(name);
        if (UnsupportedReason refusal = refuse(kernel)) return refusal;
        const DistanceInput in = input(*kernel, false);
        const std::int64_t n = fitting(*kernel);
        for (std::int64_t begin = 0; begin < n_query(); begin += n)
            enqueue(*kernel, in, begin, std::min(n, n_query() - begin));
        stream_.synchronize();
        return {};
    }

    Trial time_distance(const std::string& name, const TrialOptions& options) override {
        const DistanceKernel* kernel = find_distance(name);
        if (UnsupportedReason refusal = refuse(kernel)) return {.refusal = refusal};
        const DistanceRows rows = matrix_.rows();
        check(cudaMemsetAsync(rows.d_data, poison, static_cast<std::size_t>(rows.n) * rows.pitch_bytes,
                              stream_),
              "poisoning the matrix");
        const DistanceInput in = input(*kernel, options.linear);
        Trial trial =
            runs_.timed(fitting(*kernel), options, [&](std::int64_t n) { enqueue(*kernel, in, 0, n); });
        trial.peak_bytes = used_bytes(*kernel, trial.n_query, kernel->prepared_bytes(sized(n_query())));
        trial.operations = kernel->operations;
        trial.pixel_bytes = kernel->takes == Pixels::bytes ? 1 : 4;
        return trial;
    }

    Trial time_select(const std::string& name, int k, const TrialOptions& options) override {
        const Selector* selector = find_selector(name);
        problem_.k = k;
        if (UnsupportedReason refusal = refuse(selector)) return {.refusal = refusal};
        const DeviceBuffer<Neighbor> neighbors(static_cast<std::size_t>(n_query() * k));
        check(cudaMemsetAsync(neighbors.d_data(), poison, neighbors.size() * sizeof(Neighbor), stream_),
              "poisoning the neighbors");
        Trial trial = runs_.timed(fitting(*selector), options, [&](std::int64_t n) {
            selector->enqueue(sized(n), matrix_.first(n), {neighbors.d_data(), n, k}, workspace_.d_data(),
                              stream_);
        });
        trial.finds = selector->finds;
        trial.found = downloaded(neighbors, trial.n_query, k);
        trial.peak_bytes = used_bytes(*selector, trial.n_query, trial.found.rows.size() * sizeof(Neighbor));
        return trial;
    }

    std::vector<std::uint32_t> matrix_row(std::int64_t query) override {
        std::vector<std::uint32_t> row(static_cast<std::size_t>(problem_.n_train));
        check(cudaMemcpy(row.data(), matrix_.rows().row(query), row.size() * sizeof(row[0]),
                         cudaMemcpyDeviceToHost),
              "downloading distances");
        return row;
    }

    Trial time_upload(bool pinned, const TrialOptions& options) override {
        const auto size =
            static_cast<std::size_t>((problem_.n_train + problem_.n_query) * problem_.dim) * sizeof(float);
        const DeviceBuffer<char> to(size);
        HostArray<char> from(size, pinned);
        return runs_.repeated(problem_.n_query, options, [&] {
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

    void take(const Rows& images, ImageBuffer& bytes, PitchedBuffer<float>& floats) {
        floats = PitchedBuffer<float>(images.count, round_up(images.dim, 4));
        enqueue_expand(bytes.upload(images, stream_), floats.first(images.count, images.dim), stream_);
        stream_.synchronize();
    }

    /// All images, or what the kernel prepares of them. linear: training rows one behind the other, as cudaMalloc and a plain
    /// index lay them out.
    DistanceInput input(const DistanceKernel& kernel, bool linear) {
        const std::int64_t n = problem_.n_train, dim = problem_.dim;
        DistanceInput in{{train_.first(n, dim), train_bytes_.rows(n, dim)},
                         {query_.first(problem_.n_query, dim), query_bytes_.rows(problem_.n_query, dim)}};
        if (linear) {
            const FloatRows from = in.train.floats;
            const auto row_bytes = static_cast<std::size_t>(train_.rows().cols) * sizeof(float);
            linear_.reserve(static_cast<std::size_t>(n * train_.rows().cols));
            in.train.floats = {linear_.d_data(), n, dim, row_bytes};
            check(cudaMemcpy2DAsync(linear_.d_data(), row_bytes, from.d_data, from.pitch_bytes, row_bytes,
                                    static_cast<std::size_t>(n), cudaMemcpyDeviceToDevice, stream_),
                  "laying out rows");
        }
        if (const std::size_t bytes = kernel.prepared_bytes(sized(n_query())); bytes > 0) {
            prepared_.reserve(bytes);
            kernel.prepare(sized(n_query()), in.train, prepared_.d_data(), stream_);
            in.d_prepared = prepared_.d_data();
        }
        return in;
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

    /// Of the rows of n queries in the matrix, the workspace for them, and more.
    template <class Entry>
    std::int64_t used_bytes(const Entry& entry, std::int64_t n, std::size_t more) const {
        return static_cast<std::int64_t>(static_cast<std::size_t>(n) * matrix_.rows().pitch_bytes +
                                         entry.workspace_bytes(sized(n)) + more);
    }

    /// Queries begin .. begin + n − 1.
    void enqueue(const DistanceKernel& kernel, DistanceInput in, std::int64_t begin, std::int64_t n) {
        in.query = {in.query.floats.slice(begin, n), in.query.bytes.slice(begin, n)};
        kernel.enqueue(sized(n), in, matrix_.rows().slice(begin, n), workspace_.d_data(), stream_);
    }

    Problem problem_;
    DeviceBuffer<char> workspace_, prepared_;
    ImageBuffer train_bytes_, query_bytes_;
    PitchedBuffer<float> train_, query_;
    DeviceBuffer<float> linear_;
    PitchedBuffer<std::uint32_t> matrix_;
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
