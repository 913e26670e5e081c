// The majority vote among each query's k neighbors; classifier/vote.cpp gives the same votes, bit for bit.
//
// neighbors  n_query × k, each row in order, device memory
// d_labels   n_train bytes
// d_votes    n_query × (label, vote_share)
// launch  one warp per query. 32 neighbors at a time: each lane fetches one label and computes one weight, then
//         the weights are added one after another in order of rank, each by the lane that its class belongs
//         to (label modulo 32), so the order of additions to a class's sum is the same for every k.
// weights uniform: 1. distance: 1/d² in double precision, where d² is the integer squared distance for l2,
//         else the squared distance, rounded once; if the nearest is at distance 0, only neighbors at
//         distance 0 vote, with weight 1.
// ties    equal sums go to the smallest label, or to the class whose first neighbor comes first
// share   the winner's sum over the sum of all classes, added in ascending order of labels

#include "gpu/engines/vote.h"

#include <cassert>
#include <cstddef>

#include "data/core/round_up.h"
#include "gpu/runtime/check.h"
#include "gpu/runtime/warp.cuh"

namespace knn::gpu {

namespace {

constexpr int warp = warp_size, warps = 8, max_labels = 256;

struct ClassSums {
    double sum[max_labels];
    int first_rank[max_labels];  // of the class's nearest neighbor; only where sum > 0
};

/// `inverse_square` of data/core/metric.h, for all metrics but lp.
__device__ double inverse_square(unsigned score, Metric metric) {
    if (metric == Metric::l2) return 1.0 / static_cast<double>(score);
    const double distance =
        metric == Metric::l1 ? static_cast<double>(score) : static_cast<double>(__uint_as_float(score));
    return 1.0 / __dmul_rn(distance, distance);
}

__device__ double weight_of(unsigned distance, bool exact_match, Weights weights, Metric metric) {
    if (weights == Weights::uniform) return 1.0;
    if (exact_match) return distance == 0 ? 1.0 : 0.0;
    assert(metric != Metric::lp);
    return inverse_square(distance, metric);
}

/// Whether class a (label, sum, first rank) comes before class b.
__device__ bool wins(int label_a, double sum_a, int rank_a, int label_b, double sum_b, int rank_b, Tie tie) {
    if (sum_a != sum_b) return sum_a > sum_b;
    if (tie == Tie::nearest && rank_a != rank_b) return rank_a < rank_b;
    return label_a < label_b;
}

/// The winner, on every lane; called by the whole warp. A class without votes has the sum 0 and never wins.
/// labels: all of them are below.
__device__ Vote winner(const ClassSums& classes, int labels, Tie tie, int lane) {
    double total = 0.0, best_sum = 0.0;
    int best = max_labels, best_rank = 0;
    for (int first = 0; first < labels; first += warp) {
        const int label = first + lane;
        const double sum = classes.sum[label];
        const int rank = sum > 0.0 ? classes.first_rank[label] : 0;
        if (sum > 0.0 && wins(label, sum, rank, best, best_sum, best_rank, tie)) {
            best = label;
            best_sum = sum;
            best_rank = rank;
        }
        // The total is added in ascending order of labels, not of lanes.
        for (unsigned voted = __ballot_sync(all_lanes, sum > 0.0); voted != 0; voted &= voted - 1)
            total += __shfl_sync(all_lanes, sum, __ffs(static_cast<int>(voted)) - 1);
    }
    for (int step = warp / 2; step > 0; step /= 2) {
        const int other = __shfl_xor_sync(all_lanes, best, step);
        const int other_rank = __shfl_xor_sync(all_lanes, best_rank, step);
        const double other_sum = __shfl_xor_sync(all_lanes, best_sum, step);
        if (wins(other, other_sum, other_rank, best, best_sum, best_rank, tie)) {
            best = other;
            best_sum = other_sum;
            best_rank = other_rank;
        }
    }
    assert(best < max_labels);  // there is at least one vote
    return {static_cast<std::uint8_t>(best), best_sum / total};
}

/// Writes the padding between label and vote_share as well, because it is copied too.
__device__ void store(const Vote& vote, Vote* d_vote) {
    static_assert(sizeof(Vote) == sizeof(ulonglong2) && offsetof(Vote, vote_share) == 8);
    *reinterpret_cast<ulonglong2*>(d_vote) =
        make_ulonglong2(vote.label, static_cast<unsigned long long>(__double_as_longlong(vote.vote_share)));
}

__global__ void __launch_bounds__(warp* warps)
    vote_kernel(NeighborRows neighbors, const std::uint8_t* d_labels, Weights weights, Tie tie, Metric metric,
                Vote* d_votes) {
    __shared__ ClassSums all_classes[warps];
    const int lane = static_cast<int>(threadIdx.x) % warp;
    ClassSums& classes = all_classes[threadIdx.x / warp];
    const std::int64_t query = std::int64_t{blockIdx.x} * warps + threadIdx.x / warp;
    if (query >= neighbors.n_query) return;

    assert(blockDim.x == warp * warps && neighbors.k >= 1);
    const Neighbor* row = neighbors.d_data + query * neighbors.k;
    const bool exact_match = row[0].distance == 0;
    int labels = max_labels;  // an upper bound of their number
    for (int begin = 0; begin < neighbors.k; begin += warp) {
        const int rank = begin + lane;
        int label = 0;
        double weight = 0.0;
        if (rank < neighbors.k) {
            label = d_labels[row[rank].index];
            weight = weight_of(row[rank].distance, exact_match, weights, metric);
        }
        if (begin == 0) {
            if (neighbors.k <= warp) labels = (warp_max(label) / warp + 1) * warp;
            for (int i = lane; i < labels; i += warp)
                classes.sum[i] = 0.0;
            __syncwarp();
        }
        for (int source = 0; source < min(warp, neighbors.k - begin); ++source) {
            const int its_label = __shfl_sync(all_lanes, label, source);
            const double its_weight = __shfl_sync(all_lanes, weight, source);
            if (its_label % warp != lane || its_weight == 0.0) continue;
            if (classes.sum[its_label] == 0.0) classes.first_rank[its_label] = begin + source;
            classes.sum[its_label] += its_weight;
        }
    }
    __syncwarp();
    const Vote vote = winner(classes, labels, tie, lane);
    if (lane == 0) store(vote, d_votes + query);
}

}  // namespace

void load_vote() {
    load_kernels(vote_kernel);
}

void enqueue_vote(const NeighborRows& neighbors, const std::uint8_t* d_labels, Weights weights, Tie tie,
                  Vote* d_votes, cudaStream_t stream, Metric metric) {
    require(neighbors.k >= 1 && neighbors.k <= max_k, "1 to 16384 neighbors");
    require(device_can_vote(metric, {.weights = weights}), "uniform weights with lp");
    const unsigned blocks = grid_size(divide_up(neighbors.n_query, warps));
    vote_kernel<<<blocks, warp * warps, 0, stream>>>(neighbors, d_labels, weights, tie, metric, d_votes);
    check_launch("launching vote");
}

}  // namespace knn::gpu
