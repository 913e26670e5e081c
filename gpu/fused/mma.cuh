#pragma once
// Products of 8-bit values by mma.sync, for kernels of compute capability 8.0 and newer.

namespace knn::gpu {

/// sums (16 × 8) += a (16 × 32 bytes) · b (8 × 32 bytes)ᵀ
__device__ inline void multiply(int* sums, const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
        "%1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace knn::gpu
