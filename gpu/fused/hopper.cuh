#pragma once
/// Wrappers for the instructions of compute capability 9.0a that tensor_sm90.cu uses: mbarrier, bulk tensor
/// copies (TMA) and 8-bit wgmma (PTX ISA 8.0, "Asynchronous warpgroup level matrix instructions").

#include <cuda.h>

#include <cstdint>

namespace knn::gpu::hopper {

__device__ inline std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// An mbarrier counts arrivals and expected bytes per phase; a waiter passes the parity (0, 1, 0, ...) of the
// phase it waits for.

__device__ inline void init_barrier(std::uint64_t* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals));
}
/// After init_barrier, before the async proxy uses the barriers.
__device__ inline void publish_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void arrive(std::uint64_t* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ inline void arrive_expecting(std::uint64_t* barrier, std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}
__device__ inline void wait(std::uint64_t* barrier, std::uint32_t parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}

/// Whether the phase is over, without waiting.
__device__ inline bool is_over(std::uint64_t* barrier, std::uint32_t parity) {
    std::uint32_t over;
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
        "selp.u32 %0, 1, 0, done;\n"
        "}\n"
        : "=r"(over)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
    return over != 0;
}

// Copies into shared memory that complete on a barrier by bytes.

__device__ inline void copy_box(void* to, const CUtensorMap* map, int x, int y, std::uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3}], [%4];" ::"r"(shared_address(to)),
        "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier))
        : "memory");
}
/// `bytes` and both addresses: multiples of 16.
__device__ inline void copy_bytes(void* to, const void* from, std::uint32_t bytes, std::uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
}

template <int registers>
__device__ inline void give_registers_away() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ inline void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

// wgmma: sums (64 × n, 32-bit, in registers) += a (64 × 32 bytes) · b (n × 32 bytes)ᵀ, both in shared memory
// as rows of 128 bytes with the 128-byte swizzle, 8 rows per 1024-byte group.

/// The matrix descriptor of such an operand whose first row is at `shared_bytes`. Adding 2 advances it by 32
/// bytes along the rows.
__device__ inline std::uint64_t operand(std::uint32_t shared_bytes) {
    constexpr std::uint64_t swizzle_128 = std::uint64_t{1} << 62, group = std::uint64_t{1024 >> 4} << 32,
                            unused = std::uint64_t{1} << 16;
    return swizzle_128 | group | unused | ((shared_bytes & 0x3ffff) >> 4);
}

__device__ inline void begin_products() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void commit_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most `n` committed wgmma groups are pending.
template <int n>
__device__ inline void wait_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory");
}

#define KNN_R4(i) "+r"(sums[i]), "+r"(sums[i + 1]), "+r"(sums[i + 2]), "+r"(sums[i + 3])
#define KNN_R16(i) KNN_R4(i), KNN_R4(i + 4), KNN_R4(i + 8), KNN_R4(i + 12)
#define KNN_R64(i) KNN_R16(i), KNN_R16(i + 16), KNN_R16(i + 32), KNN_R16(i + 48)

/// Multiplies the first or the second 128 of a tile's 256 rows of b, where operand b begins. In lane l of
/// warp w, sums[4 · j + e] belongs to row 16 · w + l / 4 (e = 0, 1) or 8 rows below (e = 2, 3), and to column
/// 8 · j + 2 · (l % 4) + e % 2 of all 256. add: 0 overwrites the sums.
template <int half>
__device__ inline void multiply_128(int (&sums)[128], std::uint64_t a, std::uint64_t b, int add) {
    asm volatile(
        "{\n"
        ".reg .pred add;\n"
        "setp.ne.b32 add, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.u8 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%"
        "27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%"
        "52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, add;\n"
        "}\n"
        : KNN_R64(64 * half)
        : "l"(a), "l"(b), "r"(add));
}

/// All 128 rows of b; a: of the warp group's 64 rows, signed, from registers. In lane l of warp w, a[0] has the bytes 4 · (l % 4) +
/// {0..3} of row 16 · w + l / 4, a[1] those of the row 8 below, a[2] and a[3] the same of bytes 16 further.
__device__ inline void multiply_128(int (&sums)[64], const std::uint32_t (&a)[4], std::uint64_t b, int add) {
    asm volatile(
        "{\n"
        ".reg .pred add;\n"
        "setp.ne.b32 add, %69, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.u8 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%"
        "27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%"
        "52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, {%64, %65, %66, %67}, %68, add;\n"
        "}\n"
        : KNN_R64(0)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

/// Keeps the compiler from reading the sums of a half before the preceding wait.
template <int half>
__device__ inline void products_are_done(int (&sums)[128]) {
    asm volatile("" : KNN_R64(64 * half)::"memory");
}

__device__ inline void products_are_done(int (&sums)[64]) {
    asm volatile("" : KNN_R64(0)::"memory");
}

#undef KNN_R64
#undef KNN_R16
#undef KNN_R4

}  // namespace knn::gpu::hopper
