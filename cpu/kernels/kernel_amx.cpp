/// AMX: tdpbuud adds the products of 16 queries and 16 images, 64 unsigned bytes each, to 256 sums of 32
/// bits, modulo 2³². Two tiles of queries and two of images give four tiles of sums: four products per four
/// loads, enough to hide the loads (8 clocks per load, 16 per product).

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu/kernels/kernel_scan.h"
#include "cpu/kernels/kernel_vectors.h"

namespace knn::cpu {

namespace {

constexpr int side = 16;  // queries, images and groups of a tile
constexpr int queries = 2 * side, images = 2 * side;
constexpr std::int64_t row_bytes = 64;  // in every tile
constexpr std::int64_t panel_row_bytes = images * group_pixels;
constexpr std::int64_t sums_row_bytes = images * sizeof(std::uint32_t);

/// Configuration for ldtilecfg: all eight tiles have 16 rows of 64 bytes.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileShapes shapes;

/// Configures the thread's tiles, and releases them at the end, so that the kernel need not save them.
struct Tiles {
    Tiles() {
        _tile_loadconfig(&shapes);
        asm volatile("" ::: "memory");  // g++ 12's tile loads are not declared to read memory
    }
    Tiles(const Tiles&) = delete;
    ~Tiles() { _tile_release(); }
};

/// Prefetches one of `pieces` pieces of the next panel into the L2 cache. (After the last panel the address
/// may be invalid, which is harmless for a prefetch.)
void fetch_next_panel(const Pass& pass, std::int64_t piece, std::int64_t pieces) {
    const std::int64_t bytes = pass.groups * panel_row_bytes, lines = bytes / 64;
    const auto next = reinterpret_cast<std::uintptr_t>(pass.panel) + static_cast<std::uintptr_t>(bytes);
    for (std::int64_t line = lines * piece / pieces; line < lines * (piece + 1) / pieces; ++line)
        _mm_prefetch(reinterpret_cast<const char*>(next + static_cast<std::uintptr_t>(64 * line)),
                     _MM_HINT_T1);
}

/// Tiles 0 to 3: sums of (queries 0 to 15, images 0 to 15), (0, 16), (16, 0), (16, 16).
struct AmxTile {
    static constexpr int n_sums = queries * images;
    static constexpr std::int64_t step_groups = row_groups, panel_bytes = side * panel_row_bytes,
                                  strip_bytes = queries * row_bytes;

    static void clear() {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    static void load(const std::uint32_t* sums) {
        _tile_loadd(0, sums, sums_row_bytes);
        _tile_loadd(1, sums + side, sums_row_bytes);
        _tile_loadd(2, sums + side * images, sums_row_bytes);
        _tile_loadd(3, sums + side * images + side, sums_row_bytes);
    }
    static void store(std::uint32_t* sums) {
        _tile_stored(0, sums, sums_row_bytes);
        _tile_stored(1, sums + side, sums_row_bytes);
        _tile_stored(2, sums + side * images, sums_row_bytes);
        _tile_stored(3, sums + side * images + side, sums_row_bytes);
    }
    static void add_products(const std::uint8_t* panel, const std::uint8_t* strip, std::int64_t rows) {
        for (std::int64_t row = 0; row < rows; ++row) {
            _tile_loadd(4, strip, row_bytes);
            _tile_loadd(6, panel, panel_row_bytes);
            _tile_loadd(7, panel + row_bytes, panel_row_bytes);
            _tile_dpbuud(0, 4, 6);
            _tile_dpbuud(1, 4, 7);
            _tile_loadd(5, strip + side * row_bytes, row_bytes);
            _tile_dpbuud(2, 5, 6);
            _tile_dpbuud(3, 5, 7);
            panel += panel_bytes;
            strip += strip_bytes;
        }
    }
    template <bool both>
    static Hit* report(const Pass& pass, std::int64_t strip, Hit* hits) {
        alignas(64) std::uint32_t sums[n_sums];
        store(sums);
        fetch_next_panel(pass, strip, pass.strips);
        const __m512i terms[2] = {Zmm::load_sums(pass.image_terms), Zmm::load_sums(pass.image_terms + side)};
        for (int q = 0; q < queries; ++q)
            for (int half = 0; half < 2; ++half)
                hits = report_lanes<Zmm, both>(pass, static_cast<std::uint32_t>(strip * queries + q),
                                               half * side, Zmm::load_sums(sums + q * images + half * side),
                                               terms[half], hits);
        return hits;
    }
};

template <bool both>
std::size_t scan_tiles(const Pass& pass) {
    const Tiles tiles;
    return scan<AmxTile, both>(pass);
}

/// Linux grants the 8 KB of tile state on request: <asm/prctl.h> since 5.16. Older kernels refuse.
constexpr int arch_req_xcomp_perm = 0x1023, xfeature_xtiledata = 18;

/// cpuid leaf 7, bits 24 (amx-tile) and 25 (amx-int8) of EDX; the operating system saves both parts of the
/// tile state (bits 17 and 18 of XCR0) and permits this process to use them. AVX-512 support implies that
/// XCR0 can be read.
bool available() {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __builtin_cpu_supports("avx512f") && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 &&
           (edx >> 24 & 3) == 3 && (_xgetbv(0) >> 17 & 3) == 3 &&
           syscall(SYS_arch_prctl, arch_req_xcomp_perm, xfeature_xtiledata) == 0;
}

}  // namespace

/// Processors with AMX have 2 MB of L2 cache per core; larger blocks read each panel less often.
constinit const Kernel kernel_amx = {.name = "amx",
                                     .available = available,
                                     .images = images,
                                     .queries = queries,
                                     .lanes = side,
                                     .form = QueryForm::rows,
                                     .scan = scan_tiles<false>,
                                     .scan_both = scan_tiles<true>,
                                     .direct = direct<Arithmetic::squares>,
                                     .weigh = weigh,
                                     .refinement_cost = 800,
                                     .block_bytes = 800 * 1024};

}  // namespace knn::cpu
