// The selector that tests/gpu/added_selector adds to the program: k minima, one after another, by one thread.
//
// in     n_query × n_train unsigned 32-bit distances, pitched rows, device memory
// out    n_query × k neighbors
// launch one thread per query: an example, not for production
// order  each pass finds the smallest key (distance, index) above the previous one
// limits k · n_train <= 2²², to keep it fast
// work   k · n_train comparisons per query

#include "gpu/runtime/check.h"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

__global__ void scan_kernel(DistanceRows in, NeighborRows out) {
    const std::int64_t q = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (q >= out.n_query) return;
    const std::uint32_t* row = in.row(q);
    Neighbor* found = out.d_data + q * out.k;
    for (int rank = 0; rank < out.k; ++rank) {
        std::uint64_t best = ~std::uint64_t{0};
        const std::uint64_t above =
            rank > 0 ? (std::uint64_t{found[rank - 1].distance} << 32 | found[rank - 1].index) + 1 : 0;
        for (std::int64_t t = 0; t < in.cols; ++t) {
            const std::uint64_t key = std::uint64_t{row[t]} << 32 | static_cast<std::uint64_t>(t);
            if (key >= above && key < best) best = key;
        }
        found[rank] = {static_cast<std::uint32_t>(best >> 32), static_cast<std::uint32_t>(best)};
    }
}

void launch(const Selection& of) {
    constexpr unsigned threads = 32;
    scan_kernel<<<grid_size((of.in.n + threads - 1) / threads), threads, 0, of.stream>>>(of.in, of.out);
}

}  // namespace

extern const Selector scan_selector("scan", "one thread per query, k minima one after another", launch,
                                    {.max_k_train = std::int64_t{1} << 22});

}  // namespace knn::gpu
