// The arrays on which `bench` times kernels: the images as floats, the matrix, the neighbors.

#include "gpu/bench/bench.h"

#include <algorithm>
#include <span>

#include "gpu/bench/rungs.h"
#include "gpu/bench/runs.h"
#include "gpu/distance/expand.h"
#include "gpu/runtime/device_buffer.h"
#include "gpu/runtime/pinned_buffer.h"
#include "gpu/runtime/pitched_buffer.h"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int poison = 0xa5;

std::int64_t round_up(std::int64_t n, std::int64_t to) {
    return (n + to - 1) / to * to;
}

template <class Strategy>
const Strategy* find(std::span<const Strategy* const> table, const std::string& name) {
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const Strategy* one) { return one->name == name; });
    return found != table.end() ? *found : nullptr;
}

const DistanceKernel* find_distance(const std::string& name) {
    const DistanceKernel* kernel = find(distance_table(), name);
    return kernel != nullptr ? kernel : find(rung_table(), name);
}

std::size_t free_memory() {
    std::size_t free_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for free memory");
    return free_bytes;
}

/// Values that look random and depend on their place alone (the finalizer of MurmurHash3).
__global__ void random_kernel(DistanceRows out, std::uint64_t seed) {
    const std::int64_t q = blockIdx.y + std::int64_t{gridDim.y} * blockIdx.z;
    const std::int64_t t = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (q >= out.n || t >= out.cols) return;
    std::uint64_t x = static_cast<std::uint64_t>(q * out.cols + t) + seed * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
    out.row(q)[t] = static_cast<std::uint32_t>(x >> 32);
}

class GpuStand : public Stand {
  public:
    GpuStand(const Problem& problem, const Watch& watch) : problem_(problem), runs_(watch) {}
    ~GpuStand() override { cudaDeviceSynchronize(); }  // before anything that queued work uses goes away

    void take_images(const Rows& train, const Rows& query) {
        train_images_ = train;
        query_images_ = query;
        train_ = expanded(train);
        query_ = expanded(query);
        make_matrix();
    }

    void take_random(std::uint64_t seed) {
        make_matrix();
        constexpr unsigned threads = 256;
        const DistanceRows out = matrix_.rows();
        const auto rows = static_cast<unsigned>(std::min<std::int64_t>(out.n, 65'535));
        const dim3 grid(static_cast<unsigned>((out.cols + threads - 1) / threads), rows,
                        static_cast<unsigned>((out.n + rows - 1) / rows));
        random_kernel<<<grid, threads, 0, stream_>>>(out, seed);
        check_launch("launching random values");
        stream_.synchronize();
    }

    std::int64_t n_query() const override { return matrix_.rows().n; }

    Refusal fill(const std::string& name) override {
        const DistanceKernel* kernel = find_distance(name);
        if (kernel == nullptr) return "this build has no distance kernel of this name";
        if (Refusal refusal = kernel->supports(sized(n_query()))) return refusal;
        const std::int64_t n = fitting(n_query(), kernel->workspace_bytes);
        for (std::int64_t begin = 0; begin < n_query(); begin += n)
            enqueue(*kernel, begin, std::min(n, n_query() - begin), false);
        stream_.synchronize();
        return {};
    }

    Trial time_distance(const std::string& name, const TrialOptions& options) override {
        const DistanceKernel* kernel = find_distance(name);
        if (kernel == nullptr) return refused("this build has no distance kernel of this name");
        if (Refusal refusal = kernel->supports(sized(n_query()))) return refused(*refusal);
        if (options.linear && linear_.size() == 0) make_linear();
        const DistanceRows rows = matrix_.rows();
        check(cudaMemsetAsync(rows.d_data, poison, static_cast<std::size_t>(rows.n) * rows.pitch_bytes,
                              stream_),
              "poisoning the matrix");
        const std::int64_t most = fitting(n_query(), kernel->workspace_bytes);
        Trial trial =
            runs_.timed(most, options, [&](std::int64_t n) { enqueue(*kernel, 0, n, options.linear); });
        trial.operations = kernel->operations;
        return trial;
    }

    Trial time_select(const std::string& name, int k, const TrialOptions& options) override {
        const Selector* selector = find(selector_table(), name);
        if (selector == nullptr) return refused("this build has no selector of this name");
        problem_.k = k;
        if (Refusal refusal = selector->supports(sized(n_query()))) return refused(*refusal);
        const auto size = static_cast<std::size_t>(n_query() * k);
        if (neighbors_.size() < size) neighbors_ = DeviceBuffer<Neighbor>(size);
        check(cudaMemsetAsync(neighbors_.d_data(), poison, size * sizeof(Neighbor), stream_),
              "poisoning the neighbors");
        const std::int64_t most = fitting(n_query(), selector->workspace_bytes);
        return runs_.timed(most, options, [&](std::int64_t n) {
            selector->enqueue(sized(n), matrix_.first(n), {neighbors_.d_data(), n, k}, workspace_.d_data(),
                              stream_);
        });
    }

    std::vector<std::uint32_t> matrix_row(std::int64_t query) override {
        std::vector<std::uint32_t> row(static_cast<std::size_t>(problem_.n_train));
        download(row.data(), matrix_.rows().row(query), row.size() * sizeof(row[0]));
        return row;
    }

    Neighbors neighbors(std::int64_t n) override {
        Neighbors found(n, problem_.k);
        download(found.rows.data(), neighbors_.d_data(), found.rows.size() * sizeof(Neighbor));
        return found;
    }

    Trial time_upload(bool pinned, const TrialOptions& options) override {
        const std::int64_t values = (train_images_.count + query_images_.count) * train_images_.dim;
        const auto size = static_cast<std::size_t>(values) * sizeof(float);
        DeviceBuffer<char> to(size);
        if (!pinned) {
            const std::vector<char> from(size, 1);
            return upload(to, from.data(), options);
        }
        PinnedBuffer<char> from(size);
        std::fill_n(from.data(), size, char{1});
        return upload(to, from.data(), options);
    }

  private:
    static Trial refused(std::string why) {
        Trial trial;
        trial.refusal = std::move(why);
        return trial;
    }

    Trial upload(const DeviceBuffer<char>& to, const char* from, const TrialOptions& options) {
        return runs_.repeated(query_images_.count, options, [&] {
            check(cudaMemcpyAsync(to.d_data(), from, to.size(), cudaMemcpyHostToDevice, stream_),
                  "uploading");
        });
    }

    void download(void* to, const void* d_from, std::size_t bytes) {
        check(cudaMemcpyAsync(to, d_from, bytes, cudaMemcpyDeviceToHost, stream_), "downloading answers");
        stream_.synchronize();
    }

    Problem sized(std::int64_t n) const {
        Problem problem = problem_;
        problem.n_query = n;
        return problem;
    }

    PitchedBuffer<float> expanded(const Rows& images) {
        PitchedBuffer<std::uint8_t> bytes(images.count, images.dim);
        PitchedBuffer<float> floats(images.count, round_up(images.dim, 4));
        const auto dim = static_cast<std::size_t>(images.dim);
        // Not cudaMemcpy2D: from ordinary memory it may return while the last piece is still on its way, and
        // this stream does not wait for the default stream.
        check(cudaMemcpy2DAsync(bytes.rows().d_data, bytes.rows().pitch_bytes, images.pixels, dim, dim,
                                static_cast<std::size_t>(images.count), cudaMemcpyHostToDevice, stream_),
              "uploading images");
        enqueue_expand(bytes.rows(), view(floats, images.count), stream_);
        stream_.synchronize();
        return floats;
    }

    /// Its padding columns are not counted.
    FloatRows view(const PitchedBuffer<float>& buffer, std::int64_t n) const {
        FloatRows rows = buffer.first(n);
        rows.cols = problem_.dim;
        return rows;
    }

    /// Half of the free memory at most: the rest is for workspaces, which a selector may want as large as the
    /// matrix.
    void make_matrix() {
        const std::int64_t row_bytes = round_up(4 * problem_.n_train, 512) + 8 * std::int64_t{max_k};
        const auto room = static_cast<std::int64_t>(free_memory() / 2) / row_bytes;
        matrix_ = PitchedBuffer<std::uint32_t>(std::clamp<std::int64_t>(room, 1, problem_.n_query),
                                               problem_.n_train);
    }

    /// The training rows one behind the other, as cudaMalloc and a plain index lay them out.
    void make_linear() {
        const FloatRows from = train_.rows();
        const auto row_bytes = static_cast<std::size_t>(from.cols) * sizeof(float);
        linear_ = DeviceBuffer<float>(static_cast<std::size_t>(from.n * from.cols));
        check(cudaMemcpy2DAsync(linear_.d_data(), row_bytes, from.d_data, from.pitch_bytes, row_bytes,
                                static_cast<std::size_t>(from.n), cudaMemcpyDeviceToDevice, stream_),
              "laying out rows");
    }

    /// The most queries at once whose workspace fits; makes that workspace.
    std::int64_t fitting(std::int64_t n, std::size_t (*bytes_for)(const Problem&)) {
        const std::size_t room = free_memory() / 10 * 9 + workspace_.size();
        while (n > 1 && bytes_for(sized(n)) > room)
            n = (n + 1) / 2;
        const std::size_t bytes = bytes_for(sized(n));
        if (workspace_.size() < bytes) {
            workspace_ = {};
            workspace_ = DeviceBuffer<char>(bytes);
        }
        return n;
    }

    void enqueue(const DistanceKernel& kernel, std::int64_t begin, std::int64_t n, bool linear) {
        FloatRows train = view(train_, problem_.n_train), query = view(query_, problem_.n_query);
        if (linear) {
            train.d_data = linear_.d_data();
            train.pitch_bytes = static_cast<std::size_t>(train_.rows().cols) * sizeof(float);
        }
        DistanceRows out = matrix_.rows();
        query = {query.row(begin), n, query.cols, query.pitch_bytes};
        out = {out.row(begin), n, out.cols, out.pitch_bytes};
        kernel.enqueue(sized(n), train, query, out, workspace_.d_data(), stream_);
    }

    Problem problem_;
    Rows train_images_, query_images_;
    DeviceBuffer<char> workspace_;
    PitchedBuffer<float> train_, query_;
    DeviceBuffer<float> linear_;
    PitchedBuffer<std::uint32_t> matrix_;
    DeviceBuffer<Neighbor> neighbors_;
    Runs runs_;
    const Stream& stream_ = runs_.stream();
};

}  // namespace

std::vector<std::string> rung_kernels() {
    std::vector<std::string> names;
    for (const DistanceKernel* kernel : rung_table())
        names.emplace_back(kernel->name);
    return names;
}

std::unique_ptr<Stand> stand(const SearchRequest& request, const Watch& watch) {
    check(cudaSetDevice(request.device), "choosing the device");
    auto made = std::make_unique<GpuStand>(request.problem(), watch);
    made->take_images(request.train, request.query);
    return made;
}

std::unique_ptr<Stand> random_stand(int device, const Problem& problem, std::uint64_t seed,
                                    const Watch& watch) {
    check(cudaSetDevice(device), "choosing the device");
    auto made = std::make_unique<GpuStand>(problem, watch);
    made->take_random(seed);
    return made;
}

}  // namespace knn::gpu
