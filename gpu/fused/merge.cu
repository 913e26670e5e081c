// The last step of the fused search: each query's survivors, in exact order.
//
// survivors  of each query slots × 4 lists in any order, device memory (survivors.cuh)
// out        n_query × k neighbors by (distance, index)
// launch     a team of 32 threads a query for small k, else of 256. The team turns survivors into keys
//            distance << 32 | index in shared memory and sorts them with a bitonic network.
// exact      q·r = score + ⌊‖r‖² / 2⌋, so d² = ‖q‖² + ‖r‖² − 2 q·r is the true integer
// limits     1,024 keys a query for a small team, 8,192 for a large one; more make the query undecided

#include "gpu/fused/merge.h"
#include "gpu/runtime/check.h"
#include "gpu/select/warp_minimum.cuh"

namespace knn::gpu {

namespace {

constexpr int threads = 256;

template <int team>
__device__ void team_sync() {
    if constexpr (team == warp_size)
        __syncwarp();
    else
        __syncthreads();
}

/// Ascending; size is a power of two.
template <int team>
__device__ void sort_keys(NeighborKey* keys, int size, int member) {
    for (int length = 2; length <= size; length *= 2)
        for (int step = length / 2; step > 0; step /= 2) {
            for (int pair = member; pair < size / 2; pair += team) {
                const int i = 2 * pair - (pair & (step - 1)), j = i + step;
                const NeighborKey a = keys[i], b = keys[j];
                if ((a > b) == ((i & length) == 0)) {
                    keys[i] = b;
                    keys[j] = a;
                }
            }
            team_sync<team>();
        }
}

template <int team, int room>
__global__ void __launch_bounds__(threads)
    merge_kernel(TensorPass pass, const std::uint32_t* d_train_norms, const std::uint32_t* d_query_norms,
                 NeighborRows out) {
    extern __shared__ NeighborKey all_keys[];
    __shared__ int counts[threads / team], overflows[threads / team];
    const int member = static_cast<int>(threadIdx.x) % team, number = static_cast<int>(threadIdx.x) / team;
    const std::int64_t q = std::int64_t{blockIdx.x} * (threads / team) + number;
    if (q >= out.n_query) return;
    NeighborKey* keys = all_keys + number * room;
    int& count = counts[number];
    int& overflow = overflows[number];
    if (member == 0) count = overflow = 0;
    team_sync<team>();

    const std::uint32_t query_norm = d_query_norms[q];
    const int lists = pass.slots * quad;
    for (int i = member; i < lists; i += team) {
        const int found = pass.d_counts[q * lists + i];
        if (found == 0) continue;
        const int at = atomicAdd(&count, found);
        if (found > pass.capacity || at + found > room) {
            overflow = 1;
            continue;
        }
        const Survivor* d_list = pass.d_survivors + (q * lists + i) * pass.capacity;
        for (int s = 0; s < found; ++s) {
            const Survivor survivor = d_list[s];
            const std::uint32_t norm = d_train_norms[survivor.index];
            const std::uint32_t dot = static_cast<std::uint32_t>(survivor.score) + norm / 2;
            keys[at + s] = key_of(query_norm + norm - 2 * dot, survivor.index);
        }
    }
    team_sync<team>();
    if (overflow != 0 || count < out.k) {
        if (member == 0) pass.undecided.d_queries[atomicAdd(pass.undecided.d_count, 1)] = static_cast<std::int32_t>(q);
        return;
    }
    int size = 2;
    while (size < count)
        size *= 2;
    for (int i = count + member; i < size; i += team)
        keys[i] = no_key;
    team_sync<team>();
    sort_keys<team>(keys, size, member);
    for (int i = member; i < out.k; i += team)
        out.d_data[q * out.k + i] = neighbor_of(keys[i]);
}

template <int team, int room>
void launch(const TensorPass& pass, const std::uint32_t* d_train_norms, const std::uint32_t* d_query_norms,
            const NeighborRows& out, cudaStream_t stream) {
    constexpr int teams = threads / team;
    constexpr int shared_bytes = teams * room * static_cast<int>(sizeof(NeighborKey));
    const auto kernel = merge_kernel<team, room>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
          "asking for shared memory");
    kernel<<<static_cast<unsigned>((out.n_query + teams - 1) / teams), threads, shared_bytes, stream>>>(
        pass, d_train_norms, d_query_norms, out);
    check_launch("launching merge");
}

}  // namespace

void enqueue_merge(const TensorPass& pass, const std::uint32_t* d_train_norms,
                   const std::uint32_t* d_query_norms, const NeighborRows& out, cudaStream_t stream) {
    if (out.k <= 128)
        launch<warp_size, 1024>(pass, d_train_norms, d_query_norms, out, stream);
    else
        launch<threads, 8192>(pass, d_train_norms, d_query_norms, out, stream);
}

}  // namespace knn::gpu
