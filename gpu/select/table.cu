#include "gpu/select/select.h"

namespace knn::gpu {

extern const Selector bitonic_selector;

namespace {
const Selector* const table[] = {
    &bitonic_selector,
};
}  // namespace

std::span<const Selector* const> selector_table() {
    return table;
}

}  // namespace knn::gpu
