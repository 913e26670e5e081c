#pragma once
/// Kernels and selectors that only `bench` runs, because each repeats a step of a paper.

#include "data/core/bench.h"
#include "gpu/distance/distance.h"
#include "gpu/select/select.h"

namespace knn::gpu {

extern const DistanceKernel ladder_scalar, ladder_float4, ladder_shared, ladder_unroll4, ladder_unroll8,
    ladder_unrolled, pair_plain, pair_tile4, pair_tile8, pair_tile16, pair_tile32, pair_tile16_z,
    pair_contest, half_plain, half_tile4, half_tile8, half_tile16, half_tile32, half_tile16_z, half_contest;
/// The rungs of seed 003, §3, and the tiles of seed 004, §5. They must give the same answers as the other kernels.
inline constexpr const DistanceKernel* rungs[] = {
    &ladder_scalar,   &ladder_float4, &ladder_shared, &ladder_unroll4, &ladder_unroll8,
    &ladder_unrolled, &pair_plain,    &pair_tile4,    &pair_tile8,     &pair_tile16,
    &pair_tile32,     &pair_tile16_z, &pair_contest};

/// The same for queries that are the first training points: one of each two equal distances is computed, and that of a
/// point to itself is `excluded_distance` (seed 004).
inline constexpr const DistanceKernel* half_kernels[] = {
    &half_plain, &half_tile4, &half_tile8, &half_tile16, &half_tile32, &half_tile16_z, &half_contest};

/// The selectors that only `bench` runs, and what each leaves in a row's places.
// clang-format off
#define BENCH_SELECTORS(ROW)        \
    ROW(bitonic_step, nearest)      /* seed 003, 2: bitonicSortStep, a launch per step */ \
    ROW(bitonic_unpadded, wrong)    /* seed 003, 2: the same without padding */ \
    ROW(bitonic_blocks, wrong)      /* seed 003, 2: the same inside blocks of 2,048 keys */ \
    ROW(insertion_columns, nearest) /* seed 000, 4.4.1: a thread per query, queries as columns */ \
    ROW(comb_sort, nearest)         /* seed 002, 3.2: considered by Garcia et al. */ \
    ROW(merge_sort, nearest)        /* seed 002, 4.2: a segmented merge sort */ \
    ROW(k_pass_thread, nearest)     /* seed 004, 4.2: a thread per point */ \
    ROW(replace_max_thread, nearest) /* seed 004, 5.3: a thread per point */ \
    ROW(bitonic_topk_plain, nearest) /* seed 001: Sismanis et al. */ \
    ROW(heap, nearest)              /* seed 001: Barrientos et al. */ \
    ROW(radix_kth, kth)             /* seed 001, Fig. 7: Alabi et al., all rows at once */ \
    ROW(bucket_kth, kth) \
    ROW(quick_kth, kth) \
    ROW(radix_kth_row, kth_value)   /* seed 001, Fig. 7: one row at a time, values alone */ \
    ROW(bucket_kth_row, kth_value)
// clang-format on

#define ROW(name, finds) extern const Selector name##_selector;
BENCH_SELECTORS(ROW)
#undef ROW

struct BenchSelector {
    const Selector* selector;
    Finds finds;
};
#define ROW(name, finds) {&name##_selector, Finds::finds},
inline constexpr BenchSelector bench_selectors[] = {BENCH_SELECTORS(ROW)};
#undef ROW

}  // namespace knn::gpu
