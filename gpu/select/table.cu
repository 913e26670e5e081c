#include "gpu/select/select.h"

// One line a selector, in the order of --help; the first is what `classic` uses.
#define SELECTORS(ROW)    \
    ROW(bitonic)          \
    ROW(bitonic_topk)     \
    ROW(multiselect)      \
    ROW(replace_max)      \
    ROW(block_rank_merge) \
    ROW(segmented_sort)   \
    ROW(k_pass)           \
    ROW(insertion)        \
    ROW(rank)

namespace knn::gpu {

#define ROW(name) extern const Selector name##_selector;
SELECTORS(ROW)
#undef ROW

namespace {
#define ROW(name) &name##_selector,
const Selector* const table[] = {SELECTORS(ROW)};
#undef ROW
}  // namespace

std::span<const Selector* const> selector_table() {
    return table;
}

}  // namespace knn::gpu
