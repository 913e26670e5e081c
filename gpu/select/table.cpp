#include <cassert>

#include "data/core/format.h"
#include "gpu/select/select.h"

// One line per selector, in the order of --help; `classic` uses the first.
#define SELECTORS(ROW)      \
    ROW(bitonic)            \
    ROW(bitonic_topk)       \
    ROW(bitonic_single)     \
    ROW(multiselect)        \
    ROW(multiselect_random) \
    ROW(radix_select)       \
    ROW(bucket_select)      \
    ROW(replace_max)        \
    ROW(block_rank_merge)   \
    ROW(segmented_sort)     \
    ROW(index_sort)         \
    ROW(k_pass)             \
    ROW(insertion)          \
    ROW(rank)               \
    ROW(rank512)

namespace knn::gpu {

#define ROW(name) extern const Selector name##_selector;
SELECTORS(ROW)
#undef ROW

namespace {
#define ROW(name) &name##_selector,
const Selector* const table[] = {SELECTORS(ROW)};
#undef ROW
}  // namespace

UnsupportedReason Selector::supports(const Problem& problem) const {
    if (UnsupportedReason refusal = refuse_problem(problem)) return refusal;
    if (problem.k > max_k) return std::string(name) + " finds at most " + with_commas(max_k) + " neighbors";
    if (limits_rows && problem.n_train > std::int64_t{1} << 30)
        return std::string(name) + " takes rows of at most 1,073,741,824 distances";
    return refuse(problem);
}

void Selector::enqueue(const Problem& problem, const DistanceRows& in, const NeighborRows& out,
                       void* d_workspace, cudaStream_t stream) const {
    assert(!supports(problem));
    require(in.n == problem.n_query && in.cols == problem.n_train && out.n_query == problem.n_query &&
                out.k == problem.k,
            "arrays of the problem's shape");
    require(in.aligned(sizeof(std::uint32_t)) &&
                in.pitch_bytes >= sizeof(std::uint32_t) * static_cast<std::size_t>(in.cols),
            "rows of scores that do not overlap");
    launch(problem, in, out, d_workspace, stream);
}

std::span<const Selector* const> selector_table() {
    return table;
}

}  // namespace knn::gpu
