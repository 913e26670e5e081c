namespace {

constexpr int lane_bytes = 16;  // of a register

}  // namespace

#include "cpu/lanes/rerank_lanes.h"
#include "cpu/lanes/transform_lanes.h"

namespace knn::cpu {

namespace {

/// Vectors of 16 bytes, which every compiler makes of what the processor has. Units are read as numbers, so byte order
/// does not matter: x is the low byte of a little-endian unit.
struct Plain {
    static constexpr int lanes = 8;
    using Lanes [[gnu::vector_size(16)]] = std::uint16_t;
    using Words [[gnu::vector_size(16)]] = std::uint32_t;
    using Signed [[gnu::vector_size(16)]] = std::int16_t;

    static Signed low(Lanes a) { return reinterpret_cast<Signed>(a << 8) >> 8; }
    static Signed high(Lanes a) { return reinterpret_cast<Signed>(a) >> 8; }
    static Lanes squares(Lanes a, Lanes b) {
        const Signed x = low(a) - low(b), y = high(a) - high(b);
        return reinterpret_cast<Lanes>(x * x + y * y);
    }
    static Lanes dot(Lanes h, Lanes g) {
        return reinterpret_cast<Lanes>(low(h) * low(g) + high(h) * high(g));
    }
    static Lanes min(Lanes a, Lanes b) { return a < b ? a : b; }
    static Lanes signed_min(Lanes a, Lanes b) {
        return reinterpret_cast<Signed>(a) < reinterpret_cast<Signed>(b) ? a : b;
    }
    static Lanes load_eight(const std::uint8_t* const* rows, std::int64_t offset) {
        Lanes eight;
        std::memcpy(&eight, rows[0] + offset, sizeof eight);
        return eight;
    }
    static Lanes interleave_low(Lanes a, Lanes b) {
        return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    }
    static Lanes interleave_high(Lanes a, Lanes b) {
        return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    }
};

}  // namespace

constinit const LaneKernels lanes_plain = {.transform = {shear_rows, sum_histograms},
                                           .rerank = rerank_kernel<Plain>()};

}  // namespace knn::cpu
