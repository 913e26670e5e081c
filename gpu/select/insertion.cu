// One thread per query, insertion into its sorted list of the k best (seed 000, §4.4.1).
//
// in      n_query × n_train unsigned 32-bit distances, pitched rows, device memory
// out     n_query × k neighbors, also the storage of the growing lists
// launch  one thread per query; adjacent threads read different rows, so nothing is coalesced: the seed's
//         starting point, kept unchanged. Small blocks spread few queries over many multiprocessors.
// order   elements come in ascending index and are inserted after equal ones: (distance, index)
// limits  k · n_train <= 2³²; above that one thread would take minutes
// work    n_train comparisons per query, and about k · k · ln(n_train / k) moves for random order

#include <cassert>

#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int threads = 64;

__global__ void __launch_bounds__(threads) insertion_kernel(DistanceRows in, NeighborRows out) {
    const std::int64_t q = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (q >= out.n_query) return;
    const std::uint32_t* row = in.row(q);
    Neighbor* list = out.d_data + q * out.k;
    int size = 0;
    std::uint32_t worst = 0;  // of a full list
    for (std::int64_t t = 0; t < in.cols; ++t) {
        const std::uint32_t distance = row[t];
        if (size == out.k && distance >= worst) continue;
        int place = size < out.k ? size++ : out.k - 1;
        for (; place > 0 && list[place - 1].distance > distance; --place)
            list[place] = list[place - 1];
        assert(place >= 0 && place < size && size <= out.k);
        list[place] = {distance, static_cast<std::uint32_t>(t)};
        worst = list[size - 1].distance;
    }
}

UnsupportedReason refuse(const Problem& problem) {
    if (problem.k * problem.n_train <= std::int64_t{1} << 32) return std::nullopt;
    return "insertion would take minutes: expected k times the training images to be at most 4,294,967,296";
}

void launch(const Problem&, const DistanceRows& in, const NeighborRows& out, void*, cudaStream_t stream) {
    insertion_kernel<<<grid_size(divide_up(out.n_query, threads)), threads, 0, stream>>>(in, out);
    check_launch("launching insertion");
}

}  // namespace

extern const Selector insertion_selector{.name = "insertion",
                                         .summary = "one thread per query, insertion into its k best",
                                         .refuse = refuse,
                                         .launch = launch};

}  // namespace knn::gpu
