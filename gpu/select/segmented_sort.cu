// A segmented sort of (distance, index) pairs, one segment per query, by CUB (seed 002, §4.2, which uses the
// segmented sort of ModernGPU).
//
// in         n_query × n_train unsigned 32-bit distances, pitched rows, device memory
// out        n_query × k neighbors: the first k of each sorted row
// workspace  for as many rows at once as fit in 1 GiB, at least one: unsorted and sorted indices, sorted
//            distances, and CUB's own workspace (as much again)
// launch     cub::DeviceSegmentedRadixSort: one block per row, digit by digit; then one thread per neighbor
//            copies it
// order      the radix sort is stable and indices start in order: (distance, index)
// bits       only bits that a score of the metric and dim can have are sorted: 26 for MNIST and l2
// limits     n_train <= 2³⁰: CUB counts the pairs of a call in 31 bits
// work       a pass for about every 6 bits, which reads a pair's distance twice and its index once and
//            writes both: 20 bytes per pair and pass

#include <algorithm>
#include <bit>
#include <cassert>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_segmented_radix_sort.cuh>

#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int threads = 256;
constexpr std::int64_t max_elements = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t usual_pitch = 128;  // elements
constexpr std::int64_t workspace_goal = std::int64_t{1} << 30, bytes_per_pair = 20;

/// Begin, or end, of segment i: offset + i · stride, in elements.
struct Offset {
    int offset, stride;
    __host__ __device__ int operator()(int i) const {
        assert(offset + std::int64_t{i} * stride <= max_elements);
        return offset + i * stride;
    }
};
using Offsets = thrust::transform_iterator<Offset, thrust::counting_iterator<int>>;

Offsets offsets(std::int64_t first, std::int64_t stride) {
    return {thrust::counting_iterator<int>(0), Offset{static_cast<int>(first), static_cast<int>(stride)}};
}

/// The bits that a score can have, and that set one above all of them apart which `classic` gives to what a
/// search excludes: its lower bits are all ones. data/core/metric.h gives the largest score.
int score_bits(const Problem& problem) {
    const auto dim = static_cast<std::uint64_t>(problem.dim);
    switch (problem.measure.metric) {
        case Metric::l2:
            return std::bit_width(dim * 255 * 255 + 1);
        case Metric::l1:
            return std::bit_width(dim * 255 + 1);
        default:
            return 31;  // a nonnegative float
    }
}

/// The workspace's arrays have the matrix's pitch, so that one set of offsets fits all.
struct Arrays {
    std::uint32_t *d_keys, *d_indices_in, *d_indices;
    void* d_cub;
};

cudaError_t sort_rows(const Problem& problem, std::int64_t elements, std::int64_t rows, std::int64_t stride,
                      const std::uint32_t* d_in, const Arrays& to, std::size_t& cub_bytes,
                      cudaStream_t stream) {
    return cub::DeviceSegmentedRadixSort::SortPairs(
        to.d_cub, cub_bytes, d_in, to.d_keys, to.d_indices_in, to.d_indices, static_cast<int>(elements),
        static_cast<int>(rows), offsets(0, stride), offsets(problem.n_train, stride), 0, score_bits(problem),
        stream);
}

/// Arrays of `elements` each, aligned to 256 bytes. A few rows of the usual pitch all fit; of a larger pitch
/// fewer fit at once, but at least one.
struct Plan {
    std::int64_t elements;
    std::size_t array_bytes, cub_bytes = 0;

    explicit Plan(const Problem& problem) {
        const std::int64_t stride = round_up(problem.n_train, usual_pitch);
        elements = std::clamp(workspace_goal / bytes_per_pair, problem.n_train,
                              std::max(problem.n_train, std::min(problem.n_query * stride, max_elements)));
        array_bytes = static_cast<std::size_t>(round_up(4 * elements, 256));
        check(sort_rows(problem, elements, 1, 0, nullptr, {}, cub_bytes, nullptr),
              "asking CUB for its workspace");
    }
    std::size_t bytes() const { return 3 * array_bytes + cub_bytes; }
    std::int64_t rows(const Problem& problem, std::int64_t stride) const {
        return 1 + (elements - problem.n_train) / stride;
    }
    Arrays arrays(void* d_workspace) const {
        auto* d_bytes = static_cast<char*>(d_workspace);
        const auto array = [&](std::size_t i) {
            return reinterpret_cast<std::uint32_t*>(d_bytes + i * array_bytes);
        };
        return {array(0), array(1), array(2), array(3)};
    }
};

/// 0, 1, 2, ... in every row. Grid: blocks of a row × rows.
__global__ void __launch_bounds__(threads)
    count_kernel(std::uint32_t* d_indices, std::int64_t n_train, std::int64_t rows, std::int64_t stride) {
    const std::int64_t t = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (t >= n_train) return;
    for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y)
        d_indices[row * stride + t] = static_cast<std::uint32_t>(t);
}

__global__ void __launch_bounds__(threads)
    take_first_kernel(Arrays from, std::int64_t stride, std::int64_t rows, int k, Neighbor* d_out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= rows * k) return;
    assert(k <= stride);
    const std::int64_t place = i / k * stride + i % k;
    d_out[i] = {from.d_keys[place], from.d_indices[place]};
}

std::size_t workspace_bytes(const Problem& problem) {
    return Plan(problem).bytes();
}

void launch(const Problem& problem, const DistanceRows& in, const NeighborRows& out, void* d_workspace,
            cudaStream_t stream) {
    const auto stride = static_cast<std::int64_t>(in.pitch_bytes / sizeof(std::uint32_t));
    Plan plan(problem);
    const Arrays arrays = plan.arrays(d_workspace);
    const std::int64_t group = std::min(plan.rows(problem, stride), out.n_query);
    require((group - 1) * stride + problem.n_train <= plan.elements && plan.elements <= max_elements,
            "rows whose pairs are counted in 31 bits");
    const dim3 counts(grid_size(divide_up(problem.n_train, threads)),
                      static_cast<unsigned>(std::min(group, max_grid_y)));
    count_kernel<<<counts, threads, 0, stream>>>(arrays.d_indices_in, problem.n_train, group, stride);
    check_launch("launching the indices of segmented_sort");
    for (std::int64_t row = 0; row < out.n_query; row += group) {
        const std::int64_t rows = std::min(group, out.n_query - row);
        check(sort_rows(problem, plan.elements, rows, stride, in.row(row), arrays, plan.cub_bytes, stream),
              "launching CUB's sort");
        take_first_kernel<<<grid_size(divide_up(rows * out.k, threads)), threads, 0, stream>>>(
            arrays, stride, rows, out.k, out.d_data + row * out.k);
        check_launch("launching segmented_sort");
    }
}

}  // namespace

extern const Selector segmented_sort_selector{.name = "segmented_sort",
                                              .summary = "CUB's segmented sort of (distance, index) pairs",
                                              .workspace_bytes = workspace_bytes,
                                              .launch = launch,
                                              .limits_rows = true};

}  // namespace knn::gpu
