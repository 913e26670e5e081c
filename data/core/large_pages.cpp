#include "data/core/large_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace knn {

void advise_large_pages(void* memory, std::size_t bytes) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page,
                         end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace knn
