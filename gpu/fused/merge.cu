// The last step of the fused search: each query's survivors, in exact order.
//
// survivors  of each query slots × 4 lists in any order, device memory (survivors.cuh)
// out        n_query × k neighbors by (distance, index)
// launch     a team of 32 threads a query for k <= 32, else of 256. The team turns survivors into keys
//            distance << 32 | index in shared memory and sorts them with a bitonic network.
// exact      q·r = score + ⌊‖r‖² / 2⌋, so d² = ‖q‖² + ‖r‖² − 2 q·r is the true integer
// threshold  survivors below a query's last threshold are dropped: others reach it that were not kept
// limits     512 keys a query for k <= 32, 2,048 for k <= 128, else 8,192; more make the query undecided

#include "gpu/fused/merge.h"
#include "gpu/runtime/check.h"
#include "gpu/select/team_sort.cuh"

namespace knn::gpu {

namespace {

constexpr int threads = 256;
constexpr int at_once = 8;  // survivors that a thread loads

/// Those of the first `found` survivors of a list (at most at_once) that reach the threshold, as keys. The
/// loads do not wait for each other.
__device__ void add_keys(const Survivor* d_list, int found, std::int32_t threshold,
                         const std::uint32_t* d_train_norms, std::uint32_t query_norm, int train_tiles,
                         NeighborKey* keys, int room, int& count) {
    Survivor survivors[at_once];
    std::uint32_t norms[at_once];
    int passing = 0;
#pragma unroll
    for (int i = 0; i < at_once; ++i)
        survivors[i] = d_list[min(i, found - 1)];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
        norms[i] = d_train_norms[survivors[i].place];
        passing += i < found && survivors[i].score >= threshold;
    }
    if (passing == 0) return;
    int at = atomicAdd(&count, passing);
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
        const std::uint32_t dot = static_cast<std::uint32_t>(survivors[i].score) + norms[i] / 2;
        if (i < found && survivors[i].score >= threshold && at < room)
            keys[at++] = key_of(query_norm + norms[i] - 2 * dot, image_at(survivors[i].place, train_tiles));
    }
}

template <int team, int room>
__global__ void __launch_bounds__(threads)
    merge_kernel(TensorPass pass, const std::uint32_t* d_train_norms, const std::uint32_t* d_query_norms,
                 int train_tiles, NeighborRows out) {
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
    const std::int32_t threshold = pass.d_thresholds[q];
    const int lists = pass.slots * quad;
    for (int i = member; i < lists; i += team) {
        const int found = pass.d_counts[q * lists + i];
        if (found > pass.capacity) {
            overflow = 1;
            continue;
        }
        const Survivor* d_list = pass.d_survivors + (q * lists + i) * pass.capacity;
        for (int begin = 0; begin < found; begin += at_once)
            add_keys(d_list + begin, found - begin, threshold, d_train_norms, query_norm, train_tiles, keys,
                     room, count);
    }
    team_sync<team>();
    if (overflow != 0 || count < out.k || count > room) {
        if (member == 0)
            pass.undecided.d_queries[atomicAdd(pass.undecided.d_count, 1)] = static_cast<std::int32_t>(q);
        return;
    }
    const int size = power_of_two_from(count);
    for (int i = count + member; i < size; i += team)
        keys[i] = no_key;
    team_sync<team>();
    team_sort<team>(keys, size, member);
    for (int i = member; i < out.k; i += team)
        out.d_data[q * out.k + i] = neighbor_of(keys[i]);
}

template <int team, int room>
void launch(const TensorPass& pass, const std::uint32_t* d_train_norms, const std::uint32_t* d_query_norms,
            int train_tiles, const NeighborRows& out, cudaStream_t stream) {
    constexpr int teams = threads / team;
    constexpr int shared_bytes = teams * room * static_cast<int>(sizeof(NeighborKey));
    const auto kernel = merge_kernel<team, room>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
          "asking for shared memory");
    kernel<<<static_cast<unsigned>((out.n_query + teams - 1) / teams), threads, shared_bytes, stream>>>(
        pass, d_train_norms, d_query_norms, train_tiles, out);
    check_launch("launching merge");
}

}  // namespace

void enqueue_merge(const TensorPass& pass, const std::uint32_t* d_train_norms,
                   const std::uint32_t* d_query_norms, int train_tiles, const NeighborRows& out,
                   cudaStream_t stream) {
    if (out.k <= 32)
        launch<warp_size, 512>(pass, d_train_norms, d_query_norms, train_tiles, out, stream);
    else if (out.k <= 128)
        launch<threads, 2048>(pass, d_train_norms, d_query_norms, train_tiles, out, stream);
    else
        launch<threads, 8192>(pass, d_train_norms, d_query_norms, train_tiles, out, stream);
}

}  // namespace knn::gpu
