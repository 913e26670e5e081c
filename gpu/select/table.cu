#include "gpu/select/select.h"

namespace knn::gpu {

extern const Selector bitonic_selector, bitonic_topk_selector, multiselect_selector, replace_max_selector,
    block_rank_merge_selector, segmented_sort_selector, k_pass_selector, insertion_selector, rank_selector;

namespace {
const Selector* const table[] = {
    &bitonic_selector,     &bitonic_topk_selector,     &multiselect_selector,
    &replace_max_selector, &block_rank_merge_selector, &segmented_sort_selector,
    &k_pass_selector,      &insertion_selector,        &rank_selector,
};
}  // namespace

std::span<const Selector* const> selector_table() {
    return table;
}

}  // namespace knn::gpu
