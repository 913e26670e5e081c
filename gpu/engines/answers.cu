// Neighbors as the arrays of a caller, and copies of these between host and device.
//
// found        n_query × k pairs (score, index), device memory
// d_indices    n_query × k, uint32
// d_distances  n_query × k, double: an integer score, or a score that is a float
// launch       one thread a neighbor

#include "gpu/engines/vote.h"

#include "data/core/round_up.h"
#include "gpu/engines/engines.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads) split(const Neighbor* found, std::int64_t count, bool is_integral,
                                                 std::uint32_t* d_indices, double* d_distances) {
    const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= count) return;
    const Neighbor one = found[i];
    if (d_indices != nullptr) d_indices[i] = one.index;
    if (d_distances != nullptr)
        d_distances[i] = is_integral ? static_cast<double>(one.distance)
                                     : static_cast<double>(__uint_as_float(one.distance));
}

/// Waits for a copy between the host and a caller's memory.
void checked(cudaError_t copy, cudaStream_t stream) {
    if (copy == cudaSuccess) copy = cudaStreamSynchronize(stream);
    if (with_fault(copy) == cudaSuccess) return;
    cudaGetLastError();
    throw DeviceError(std::string("GPU: a copy to or from the caller's memory failed: ") +
                      cudaGetErrorString(copy) + "; expected memory of a GPU and its stream");
}

}  // namespace

void enqueue_answers(const NeighborRows& found, bool is_integral, std::uint32_t* d_indices,
                     double* d_distances, cudaStream_t stream) {
    const std::int64_t count = found.n_query * found.k;
    split<<<grid_size(divide_up(count, threads)), threads, 0, stream>>>(found.d_data, count, is_integral,
                                                                        d_indices, d_distances);
    check_launch("copying neighbors");
}

void copy_to_host(const void* d_from, std::int64_t pitch, void* to, std::int64_t row_bytes, std::int64_t n,
                  void* stream) {
    const auto width = static_cast<std::size_t>(row_bytes);
    const auto own = static_cast<cudaStream_t>(stream);
    checked(cudaMemcpy2DAsync(to, width, d_from, static_cast<std::size_t>(pitch), width,
                              static_cast<std::size_t>(n), cudaMemcpyDeviceToHost, own),
            own);
}

void copy_to_device(const void* from, void* d_to, std::int64_t bytes, void* stream) {
    const auto own = static_cast<cudaStream_t>(stream);
    checked(cudaMemcpyAsync(d_to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, own), own);
}

}  // namespace knn::gpu
