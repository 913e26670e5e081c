#include <algorithm>
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

// For `bench` alone.
#define BENCH_SELECTORS(ROW) \
    ROW(bitonic_step)        \
    ROW(bitonic_unpadded)    \
    ROW(bitonic_blocks)      \
    ROW(insertion_columns)   \
    ROW(comb_sort)           \
    ROW(merge_sort)          \
    ROW(k_pass_thread)       \
    ROW(replace_max_thread)  \
    ROW(bitonic_topk_plain)  \
    ROW(heap)                \
    ROW(radix_kth_row)       \
    ROW(bucket_kth_row)

namespace knn::gpu {

#define ROW(name) extern const Selector name##_selector;
SELECTORS(ROW)
BENCH_SELECTORS(ROW)
#undef ROW

namespace {

#define ROW(name) &name##_selector,
const Selector* const table[] = {SELECTORS(ROW)};
const Selector* const bench_table[] = {BENCH_SELECTORS(ROW)};
#undef ROW

/// How many of the problem's rows one launch takes.
std::int64_t rows_at_once(const Selector& selector, const Problem& problem) {
    const std::int64_t bytes = selector.row_bytes(problem);
    if (selector.one_by_one) return 1;
    if (bytes == 0) return problem.n_query;
    const std::int64_t fitting =
        std::min(selector.workspace_goal / bytes, max_grid_y) / selector.row_multiple;
    return std::clamp<std::int64_t>(fitting * selector.row_multiple, 1,
                                    std::max<std::int64_t>(problem.n_query, 1));
}

}  // namespace

UnsupportedReason Selector::supports(const Problem& problem) const {
    if (UnsupportedReason refusal = refuse_problem(problem)) return refusal;
    if (problem.k > max_k) return std::string(name) + " finds at most " + with_commas(max_k) + " neighbors";
    if (problem.n_train > max_train)
        return std::string(name) + " takes rows of at most " + with_commas(max_train) + " distances";
    if (problem.k * problem.n_train > max_k_train)
        return std::string(name) +
               " would take minutes: expected k times the training images to be at most " +
               with_commas(max_k_train);
    return {};
}

std::size_t Selector::workspace_bytes(const Problem& problem) const {
    Problem part = problem;
    part.n_query = rows_at_once(*this, problem);
    const std::int64_t rows = round_up(part.n_query, row_multiple) * row_bytes(part);
    return static_cast<std::size_t>(round_up(rows, workspace_alignment)) + scratch_bytes(part);
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
    const std::int64_t group = rows_at_once(*this, problem);
    Problem part = problem;
    for (std::int64_t row = 0; row < problem.n_query; row += group) {
        part.n_query = std::min(group, problem.n_query - row);
        launch({part, in.slice(row, part.n_query), out.slice(row, part.n_query), d_workspace, stream});
        check_launch(("launching " + std::string(name)).c_str());
    }
}

std::span<const Selector* const> selector_table() {
    return table;
}
std::span<const Selector* const> bench_selector_table() {
    return bench_table;
}

}  // namespace knn::gpu
