// Refines what a search by sketches leaves: exact distances in the order of the sketches' distances.
//
// survivors   lists of a block's 8 queries (sketches.h)
// train       used pixels and sketches in tile order; rows are gathered
// known       neighbors found in other images, which compete; or none
// out         n_query × k neighbors by (distance, index); before the last pass padded with no_key
// thresholds  raised as by the fold
//
// launch    a block for 8 queries, those with the most survivors first; a warp for each, and as many that help. First, 8 lanes
//           each multiply the sketches of a survivor, as the search did, sorted by query into shared memory. Then come two rounds:
//           each warp names those of its query whose distances are wanted, all warps compute the distances of all, 8 lanes a
//           row, because few queries have many, and each warp takes what is near. In the first round the nearest by sketch are
//           wanted, which raises the limit; in the second those of the others that reach it
// exact     d² = ‖q‖² + ‖r‖² − 2 q·r in integers; a survivor is skipped only below the limit of the k-th distance found
// limits    k <= 32; per block `most` survivors: queries beyond are left undecided
// bound by  the bandwidth of the L2 cache: 128 bytes for each survivor, `dim` for each distance

#include <cassert>

#include "data/core/round_up.h"
#include "gpu/fused/folding.cuh"
#include "gpu/fused/sketches.h"

namespace knn::gpu {

namespace {

constexpr int queries = queries_per_list, warps = 2 * queries, threads = warps * warp_size;
[[maybe_unused]] constexpr int lanes_per_row = 8, rows_at_once = warp_size / lanes_per_row;
constexpr std::int32_t lowest_score = -(1 << 30);
constexpr int stage_bytes = 16 * lanes_per_row, most_stages = 8;  // in a row

/// Of the sketches' score and the position as in the lists, with the query's number above; later the key of a neighbor without
/// known.first.
struct alignas(8) Survivor {
    std::int32_t score;
    std::uint32_t position;
};
[[maybe_unused]] constexpr std::uint32_t position_mask = (1u << position_bits) - 1;

struct Refinement : Folding {
    SketchPass sketches;
    ByteRows train, query;
    int most;
};

/// How shared memory is divided.
struct RefineShared {
    uint4 *rows, *sketches;  // of the block's queries
    Survivor* found;
    std::uint16_t* wanted;

    __host__ __device__ static int bytes(int pitch, int most) {
        return queries * (pitch + sketch_columns) +
               most * static_cast<int>(sizeof(Survivor) + sizeof(std::uint16_t));
    }
    __device__ RefineShared(uint4* base, int pitch, int most)
        : rows(base),
          sketches(rows + queries * pitch / 16),
          found(reinterpret_cast<Survivor*>(sketches + queries * sketch_columns / 16)),
          wanted(reinterpret_cast<std::uint16_t*>(found + most)) {}
};

/// Copies n rows of `pieces` uint4 to rows of `padded` in shared memory, zero beyond. By the whole block.
[[maybe_unused]] __device__ void copy_rows(const std::uint8_t* from, int n, int pieces, int padded,
                                           uint4* to) {
    for (int i = static_cast<int>(threadIdx.x); i < n * padded; i += threads) {
        const int row = i / padded, piece = i % padded;
        to[i] = piece < pieces ? reinterpret_cast<const uint4*>(from)[row * pieces + piece]
                               : make_uint4(0, 0, 0, 0);
    }
}

/// Σ a · b of 16 bytes, a without sign and b with.
[[maybe_unused]] __device__ inline int add_products(const uint4& a, const uint4& b, int sum) {
    const auto add = [&](std::uint32_t x, std::uint32_t y) {
        asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(y));
    };
    add(a.x, b.x);
    add(a.y, b.y);
    add(a.z, b.z);
    add(a.w, b.w);
    return sum;
}
template <class T>
__device__ inline T sum_of_row(T sum) {
#pragma unroll
    for (int distance = 1; distance < lanes_per_row; distance *= 2)
        sum += __shfl_xor_sync(all_lanes, sum, distance);
    return sum;
}

/// The survivors of the block's queries by query: those of query i are found[begins[i]] .. found[ends[i] − 1]. A query whose survivors
/// do not fit has ends[i] < 0. Copies the queries' rows and sketches too. Returns false if a list overflowed.
/// By the whole block.
template <int stages>
__device__ bool gather_survivors(const Refinement& refinement, const RefineShared& shared,
                                 std::int64_t first_query, int n_query, int* begins, int* ends) {
    __shared__ int next[queries];
    __shared__ int overflow, n_found;
    const SketchLists& lists = refinement.sketches.lists;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % warp_size, warp = thread / warp_size;
    const std::int64_t first_list = first_query / queries * lists.slots;
    // The masks of all slots are numbered one after another.
    __shared__ int totals[most_slots];
    const auto survivors_at = [&](int i) {
        int slot = 0, before = 0;
        while (i >= totals[slot])
            before = totals[slot++];
        const uint2 both = __ldg(reinterpret_cast<const uint2*>(
            lists.d_survivors + (first_list + slot) * lists.capacity + i - before));
        return Survivors{both.x, both.y};
    };
    if (thread < queries) next[thread] = 0;
    for (int slot = thread; slot < lists.slots; slot += threads)
        totals[slot] = lists.d_counts[first_list + slot];
    __syncthreads();
    if (thread == 0) {
        overflow = 0;
        int total = 0;
        for (int slot = 0; slot < lists.slots; ++slot) {
            if (totals[slot] > lists.capacity) overflow = 1;
            totals[slot] = total += totals[slot];
        }
        if (overflow != 0) totals[lists.slots - 1] = 0;
    }
    __syncthreads();
    copy_rows(refinement.query.row(first_query), n_query, static_cast<int>(refinement.query.pitch_bytes / 16),
              stages * lanes_per_row, shared.rows);
    copy_rows(refinement.sketches.d_query + first_query * sketch_columns, n_query, sketch_columns / 16,
              sketch_columns / 16, shared.sketches);
    const int n = totals[lists.slots - 1];
#pragma unroll 4
    for (int i = thread; i < n; i += threads) {
        const Survivors survivors = survivors_at(i);
        atomicAdd(&next[survivors.first >> position_bits], __popc(survivors.mask));
    }
    __syncthreads();
    if (thread == 0) {
        int begin = 0;
        for (int i = 0; i < queries; ++i) {
            const bool fits = begin + next[i] <= refinement.most;
            begins[i] = begin;
            ends[i] = fits ? begin + next[i] : -1;
            next[i] = begin;
            if (fits) begin = ends[i];
        }
        n_found = begin;
    }
    __syncthreads();
#pragma unroll 4
    for (int i = thread; i < n; i += threads) {
        Survivors survivors = survivors_at(i);
        if (ends[survivors.first >> position_bits] < 0) continue;
        int at = atomicAdd(&next[survivors.first >> position_bits], __popc(survivors.mask));
        while (survivors.mask != 0) {
            const auto t = static_cast<unsigned>(__clz(static_cast<int>(survivors.mask)));
            survivors.mask &= ~(0x80000000u >> t);
            shared.found[at++].position = survivors.first + 8 * (t / 2) + t % 2;
        }
    }
    __syncthreads();
    const int row = lane / lanes_per_row, part = lane % lanes_per_row;
    for (int first = warp * warp_size; first < n_found; first += threads) {
#pragma unroll
        for (int i = 0; i < lanes_per_row; ++i) {
            const int at = min(first + rows_at_once * i + row, n_found - 1);
            const std::uint32_t survivor = shared.found[at].position;
            const auto* d_sketch = reinterpret_cast<const uint4*>(
                refinement.sketches.d_train + std::int64_t{survivor & position_mask} * sketch_columns);
            const int sum = sum_of_row(
                add_products(__ldg(d_sketch + part),
                             shared.sketches[(survivor >> position_bits) * (sketch_columns / 16) + part], 0));
            if (part == 0) shared.found[at].score = sum;
        }
    }
    __syncthreads();
    return overflow == 0;
}

/// Distances that are wanted: indices of found survivors, those of a query side by side.
struct Wanted {
    std::uint16_t* survivors;
    int* count;  // of all
};

/// Replaces all wanted survivors by their keys. By the whole block.
template <int stages>
__device__ void compute_keys(const Refinement& refinement, const RefineShared& shared, const Wanted& wanted,
                             std::int64_t first_query) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size,
              warp = static_cast<int>(threadIdx.x) / warp_size;
    const int row = lane / lanes_per_row, part = lane % lanes_per_row, n = *wanted.count;
    const int pieces = static_cast<int>(refinement.train.pitch_bytes / 16);
    for (int first = rows_at_once * warp; first < n; first += rows_at_once * warps) {
        // Another warp may already have replaced the last one, so lanes beyond it read none.
        const bool there = first + row < n;
        Survivor* survivor = shared.found + (there ? wanted.survivors[first + row] : 0);
        const std::uint32_t position = there ? survivor->position : 0;
        const auto* d_row = reinterpret_cast<const uint4*>(refinement.train.row(position & position_mask));
        const uint4* query =
            shared.rows + static_cast<int>(position >> position_bits) * (stages * lanes_per_row) + part;
        uint4 a[stages];
#pragma unroll
        for (int stage = 0; stage < stages; ++stage)
            a[stage] = __ldg(d_row + min(stage * lanes_per_row + part, pieces - 1));  // sixteen bytes at once
        const TrainImage image = refinement.pass.d_images[position & position_mask];
        const std::uint32_t norm = refinement.pass.d_query_norms[first_query + (position >> position_bits)];
        std::uint32_t sum = 0;
#pragma unroll
        for (int stage = 0; stage < stages; ++stage) {
            const uint4 b = query[stage * lanes_per_row];  // zero beyond the row
            sum = __dp4a(a[stage].x, b.x, sum);
            sum = __dp4a(a[stage].y, b.y, sum);
            sum = __dp4a(a[stage].z, b.z, sum);
            sum = __dp4a(a[stage].w, b.w, sum);
        }
        sum = sum_of_row(sum);
        __syncwarp();  // all lanes have read it
        if (part == 0 && there)
            *reinterpret_cast<NeighborKey*>(survivor) =
                image.index == no_image ? no_key
                                        : NeighborKey{norm + image.norm - 2 * sum} << 32 | image.index;
    }
}

#if __CUDA_ARCH__ >= 800
/// A warp's query and the best found so far, one per lane.
class Refiner {
  public:
    __device__ Refiner(const Refinement& refinement, std::int64_t query, int lane)
        : refinement_(refinement),
          lane_(lane),
          k_(refinement.out.k),
          norm_(refinement.pass.d_query_norms[query]),
          itself_(refinement.left_out.of(query)),
          terms_(refinement.sketches.d_query_terms[query]),
          best_(lane < k_ ? refinement.key_before(query, lane) : no_key) {
        raise_limit();
    }

    /// Wants the survivors begin .. end − 1 whose scores are at least `from` and the limit, and below `below`.
    __device__ void want(const Survivor* found, int begin, int end, std::int32_t from, std::int32_t below,
                         const Wanted& wanted) {
        const auto is_wanted = [&](int i) {
            return i < end && found[i].score >= max(from, limit_) && found[i].score < below;
        };
        n_ = 0;
        for (int first = begin; first < end; first += warp_size)
            n_ += __popc(__ballot_sync(all_lanes, is_wanted(first + lane_)));
        if (lane_ == 0) mine_ = atomicAdd(wanted.count, n_);
        mine_ = __shfl_sync(all_lanes, mine_, 0);
        int at = mine_;
        for (int first = begin; first < end; first += warp_size) {
            const bool is = is_wanted(first + lane_);
            const unsigned lanes = __ballot_sync(all_lanes, is);
            if (is)
                wanted.survivors[at + __popc(lanes & ((1u << lane_) - 1))] =
                    static_cast<std::uint16_t>(first + lane_);
            at += __popc(lanes);
        }
    }
    /// Takes those wanted last. They will not be wanted again.
    __device__ void take(Survivor* found, const Wanted& wanted) {
        for (int first = 0; first < n_; first += warp_size) {
            NeighborKey key = no_key;
            if (first + lane_ < n_) {
                Survivor& survivor = found[wanted.survivors[mine_ + first + lane_]];
                key = *reinterpret_cast<const NeighborKey*>(&survivor);
                if (static_cast<std::uint32_t>(key) == itself_)
                    key = no_key;
                else if (key != no_key)
                    key += refinement_.known.first;
                survivor.score = lowest_score;
            }
            const NeighborKey last = __shfl_sync(all_lanes, best_, k_ - 1);
            if (__any_sync(all_lanes, key < last)) best_ = warp_merge(best_, warp_sort(key, lane_), lane_);
        }
        __syncwarp();
        raise_limit();
    }
    /// Whether the survivors decide the query.
    __device__ bool decides(std::int32_t threshold) const {
        return SketchThreshold(refinement_.sketches.bound, terms_, norm_, threshold).decides;
    }
    __device__ NeighborKey best() const { return best_; }
    __device__ std::uint32_t norm() const { return norm_; }

  private:
    __device__ void raise_limit() {
        const NeighborKey last = __shfl_sync(all_lanes, best_, k_ - 1);
        if (last == no_key) return;
        const std::uint32_t reach =
            sketch_reach_of(refinement_.sketches.bound, terms_, static_cast<std::uint32_t>(last >> 32));
        if (reach <= most_reach) limit_ = max(limit_, sketch_limit_of(terms_, reach));
    }

    const Refinement& refinement_;
    int lane_, k_, n_ = 0, mine_ = 0;
    std::uint32_t norm_, itself_;
    SketchTerms terms_;
    NeighborKey best_;
    std::int32_t limit_ = lowest_score + 1;
};
#endif

/// The rank-th largest of 64 maxima of disjoint parts of the survivors, 1 <= rank <= 32; lowest_score if they are fewer. By the
/// whole warp.
[[maybe_unused]] __device__ std::int32_t high_score(const Survivor* found, int n, int rank, int lane) {
    std::int32_t mine[2] = {lowest_score, lowest_score};
    for (int i = lane; i < n; i += 2 * warp_size) {
        mine[0] = max(mine[0], found[i].score);
        if (i + warp_size < n) mine[1] = max(mine[1], found[i + warp_size].score);
    }
    for (int taken = 1;; ++taken) {
        const std::int32_t largest = warp_max(max(mine[0], mine[1]));
        if (taken == rank) return largest;
        const unsigned holders = __ballot_sync(all_lanes, max(mine[0], mine[1]) == largest);
        if (lane == __ffs(static_cast<int>(holders)) - 1) mine[mine[0] == largest ? 0 : 1] = lowest_score;
    }
}

template <int stages>
__global__ void __launch_bounds__(threads, 2) refine_kernel(const __grid_constant__ Refinement refinement) {
#if __CUDA_ARCH__ >= 800
    extern __shared__ uint4 bytes[];
    __shared__ int begins[queries], ends[queries], counts[2];
    if (threadIdx.x < 2) counts[threadIdx.x] = 0;
    assert(blockDim.x == threads && refinement.out.k <= most_refined_k);
    const RefineShared shared(bytes, stages * stage_bytes, refinement.most);
    const std::int64_t first = std::int64_t{refinement.sketches.lists.d_order[blockIdx.x]} * queries;
    const int warp = static_cast<int>(threadIdx.x) / warp_size,
              lane = static_cast<int>(threadIdx.x) % warp_size;
    const int n = static_cast<int>(min(std::int64_t{queries}, refinement.out.n_query - first));
    const bool complete =
        gather_survivors<stages>(refinement, shared, first, n, begins, ends);  // synchronizes the block
    const std::int64_t query = min(first + warp, refinement.out.n_query - 1);
    const bool complete_here = warp < n && complete && ends[warp] >= 0;
    const int begin = complete_here ? begins[warp] : 0, end = complete_here ? ends[warp] : 0,
              k = refinement.out.k;
    const std::int32_t threshold = refinement.pass.d_thresholds[query];
    Refiner refiner(refinement, query, lane);
    // A few more than k, because the k nearest by sketch are not the k nearest.
    const std::int32_t high = high_score(shared.found + begin, end - begin, min(k + 8, warp_size), lane);
    for (int round = 0; round < 2; ++round) {
        const Wanted wanted{shared.wanted + (round == 0 ? 0 : counts[0]), &counts[round]};
        refiner.want(shared.found, begin, end, round == 0 ? high : lowest_score, closed_threshold, wanted);
        __syncthreads();
        compute_keys<stages>(refinement, shared, wanted, first);
        __syncthreads();
        refiner.take(shared.found, wanted);
    }
    if (warp >= n) return;
    if (!complete_here || !refiner.decides(threshold)) {
        if (lane == 0) refinement.leave_undecided(query);
        return;
    }
    const NeighborKey deciding = __shfl_sync(all_lanes, refiner.best(), refinement.deciding());
    if (lane == 0) refinement.conclude(query, deciding, refiner.norm(), threshold);
    if (lane < k) refinement.out.d_data[query * k + lane] = neighbor_of(refiner.best());
#endif
}

constexpr int order_threads = 1024, sizes = 64;

/// The order in which groups of queries are refined: those with the most masks first, as a block that is begun last would keep the
/// others waiting. By one block; sizes are powers of √2.
__global__ void __launch_bounds__(order_threads) order_kernel(SketchLists lists, int n) {
    __shared__ int next[sizes];
    const int thread = static_cast<int>(threadIdx.x);
    const auto size_of = [&](int group) {
        int total = 1;
        for (int slot = 0; slot < lists.slots; ++slot)
            total += lists.d_counts[std::int64_t{group} * lists.slots + slot];
        return sizes - 1 - min(static_cast<int>(2 * __log2f(static_cast<float>(total))), sizes - 1);
    };
    if (thread < sizes) next[thread] = 0;
    __syncthreads();
    for (int group = thread; group < n; group += order_threads)
        atomicAdd(&next[size_of(group)], 1);
    __syncthreads();
    if (thread == 0)
        for (int size = 0, begin = 0; size < sizes; ++size) {
            const int count = next[size];
            next[size] = begin;
            begin += count;
        }
    __syncthreads();
    for (int group = thread; group < n; group += order_threads)
        lists.d_order[atomicAdd(&next[size_of(group)], 1)] = group;
}

template <int stages>
void launch(const Refinement& refinement, cudaStream_t stream) {
    const int bytes = RefineShared::bytes(stages * stage_bytes, refinement.most);
    order_kernel<<<1, order_threads, 0, stream>>>(
        refinement.sketches.lists, static_cast<int>(divide_up(refinement.out.n_query, queries)));
    check_launch("launching order");
    allow_shared(refine_kernel<stages>, bytes);
    refine_kernel<stages>
        <<<grid_size(divide_up(refinement.out.n_query, queries)), threads, bytes, stream>>>(refinement);
    check_launch("launching refine");
}

}  // namespace

void enqueue_refine(const SketchPass& sketches, const ByteRows& train, const ByteRows& query,
                    const TensorPass& pass, const FoldStep& step, const Batch& batch, cudaStream_t stream) {
    const NeighborRows& out = batch.out;
    require(out.k >= 1 && out.k <= most_refined_k, "k from 1 to 32");
    require(step.is_last || (step.rank >= 1 && step.rank <= out.k), "a rank from 1 to k");
    require(
        out.n_query <= std::int64_t{sketches.schedule.query_tiles} * sketch_queries && out.n_query == query.n,
        "a row of neighbors for each query");
    require(train.aligned(16) && query.aligned(16) && train.pitch_bytes == query.pitch_bytes &&
                train.pitch_bytes <= most_stages * 128,
            "rows of at most 1,024 bytes at multiples of 16");
    require(sketches.lists.slots <= most_slots, "at most 512 lists for each 8 queries");
    constexpr int most = 8192;  // two blocks per multiprocessor
    const Refinement refinement{{pass, step, out, batch.left_out, batch.known}, sketches, train, query, most};
    const std::int64_t stages = divide_up(static_cast<std::int64_t>(train.pitch_bytes), 128);
    if (stages <= 2)
        launch<2>(refinement, stream);
    else if (stages <= 6)
        launch<6>(refinement, stream);
    else
        launch<most_stages>(refinement, stream);
}

void load_refine() {
    load_kernels(order_kernel, refine_kernel<2>, refine_kernel<6>, refine_kernel<most_stages>);
}

}  // namespace knn::gpu
