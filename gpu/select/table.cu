#include "gpu/select/select.h"

namespace knn::gpu {

extern const Selector bitonic_selector, bitonic_topk_selector, insertion_selector, rank_selector,
    k_pass_selector, replace_max_selector;

namespace {
const Selector* const table[] = {
    &bitonic_selector, &bitonic_topk_selector, &insertion_selector,
    &rank_selector,    &k_pass_selector,       &replace_max_selector,
};
}  // namespace

std::span<const Selector* const> selector_table() {
    return table;
}

}  // namespace knn::gpu
