#pragma once
/// The result of a search, before the vote.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace knn {

/// One neighbor: its distance as a 32-bit score (data/core/metric.h; for l2 the squared distance itself) and
/// its index in the training set. Neighbors are ordered by (distance, index), both ascending, on every
/// engine.
struct Neighbor {
    std::uint32_t distance;
    std::uint32_t index;

    // Written out: nvcc 13.0 loses defaulted comparisons on the host side of .cu files.
    friend constexpr bool operator==(const Neighbor& a, const Neighbor& b) {
        return a.distance == b.distance && a.index == b.index;
    }
    friend constexpr std::strong_ordering operator<=>(const Neighbor& a, const Neighbor& b) {
        return a.distance != b.distance ? a.distance <=> b.distance : a.index <=> b.index;
    }
};

/// Above every score; engines may assign it to an image that is left out.
inline constexpr std::uint32_t excluded_distance = 0xffffffff;

/// Fills a row that has too few neighbors: behind every neighbor, as no image has this index.
inline constexpr Neighbor no_neighbor{0xffffffff, 0xffffffff};

/// The sorting key of a neighbor: the distance in the high half, the index in the low half.
constexpr std::uint64_t neighbor_key(Neighbor n) {
    return (std::uint64_t{n.distance} << 32) | n.index;
}
constexpr Neighbor neighbor_of_key(std::uint64_t key) {
    return {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key)};
}

/// Asks the system for pages of 2 MB where this memory is first touched from now on. Random reads find them faster, they take fewer
/// faults to touch and less time to give back: for 256 MB 0.6 s in place of 1.6, and 2 ms in place of 50, in a virtual machine.
inline void advise_large_pages(void* memory, std::size_t bytes) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page,
                         end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

/// Leaves new elements uninitialized, so that each page is first touched by the thread that writes it. Aligned to cache
/// lines, for vector units.
template <class T>
struct UninitializedAllocator : std::allocator<T> {
    static constexpr std::align_val_t alignment{64};

    T* allocate(std::size_t n) {
        constexpr std::size_t many_bytes = 16 << 20;
        void* const memory = ::operator new(n * sizeof(T), alignment);
        if (n * sizeof(T) >= many_bytes) advise_large_pages(memory, n * sizeof(T));
        return static_cast<T*>(memory);
    }
    void deallocate(T* at, std::size_t) { ::operator delete(at, alignment); }
    template <class U>
    void construct(U* at) {
        ::new (static_cast<void*>(at)) U;
    }
};
template <class T>
using Uninitialized = std::vector<T, UninitializedAllocator<T>>;

/// n_query × k neighbors, row by row, each row in order.
struct Neighbors {
    std::int64_t n_query = 0;
    int k = 0;
    Uninitialized<Neighbor> rows;

    Neighbors() = default;
    Neighbors(std::int64_t n_query, int k);
    Neighbors(const Neighbors&) = default;
    Neighbors(Neighbors&&) = default;
    Neighbors& operator=(const Neighbors&) = default;
    Neighbors& operator=(Neighbors&&) = default;
    ~Neighbors();

    /// The first `n` neighbors of each query, n <= k.
    Neighbors first(int n) const {
        Neighbors cut(n_query, n);
        for (std::int64_t query = 0; query < n_query; ++query)
            std::copy_n(row(query).begin(), n, cut.row(query).begin());
        return cut;
    }
    std::span<Neighbor> row(std::int64_t query) {
        return {rows.data() + query * k, static_cast<std::size_t>(k)};
    }
    std::span<const Neighbor> row(std::int64_t query) const {
        return {rows.data() + query * k, static_cast<std::size_t>(k)};
    }
};

}  // namespace knn
