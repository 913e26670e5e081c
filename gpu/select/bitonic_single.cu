// The bitonic sort fed one query at a time (seed 000, §5.3.1, which supposes that its sort is slow for many queries
// because of this).
//
// in         n_query × n_train unsigned 32-bit distances, pitched rows, device memory
// out        n_query × k neighbors
// workspace  that of `bitonic` for one row
// launch     the launches of `bitonic` for one row, for each query after the one before, in one stream: no two queries
//            run at the same time, and a row of 60,000 occupies 4 of the 132 multiprocessors of an H200
// limits     those of `bitonic`
// exact      each row is sorted by `bitonic`
// work       that of `bitonic`, and a launch per query

#include <cassert>

#include "gpu/select/select.h"

namespace knn::gpu {

extern const Selector bitonic_selector;

namespace {

Problem one_query(Problem problem) {
    problem.n_query = 1;
    return problem;
}

Refusal supports(const Problem& problem) {
    return bitonic_selector.supports(problem);
}

std::size_t workspace_bytes(const Problem& problem) {
    return bitonic_selector.workspace_bytes(one_query(problem));
}

void enqueue(const Problem& problem, const DistanceRows& in, const NeighborRows& out, void* d_workspace,
             cudaStream_t stream) {
    assert(!supports(problem));
    check_arrays(problem, in, out);
    for (std::int64_t q = 0; q < out.n_query; ++q)
        bitonic_selector.enqueue(one_query(problem), {in.row(q), 1, in.cols, in.pitch_bytes},
                                 {out.d_data + q * out.k, 1, out.k}, d_workspace, stream);
}

}  // namespace

extern const Selector bitonic_single_selector{.name = "bitonic_single",
                                              .summary = "bitonic, one query at a time",
                                              .supports = supports,
                                              .workspace_bytes = workspace_bytes,
                                              .enqueue = enqueue};

}  // namespace knn::gpu
