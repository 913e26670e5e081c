#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace knn {

/// Asks the system for pages of 2 MB where this memory is first touched from now on. Random reads find them faster, they take fewer
/// faults to touch and less time to give back: for 256 MB 0.6 s in place of 1.6, and 2 ms in place of 50, in a virtual machine.
inline void advise_large_pages(void* memory, std::size_t bytes) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page,
                         end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace knn
