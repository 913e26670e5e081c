#include <cmath>

#include "cpu/vectors/kernel_body.h"

namespace knn::cpu {

namespace {

struct RealPlain {
    struct V {
        double lanes[real_lanes];
    };
    static constexpr int queries = 1, rows = 1;

    template <class Of>
    static V each(const Of& of) {
        V v;
        for (std::int64_t i = 0; i < real_lanes; ++i)
            v.lanes[i] = of(i);
        return v;
    }
    static V zero() {
        return each([](std::int64_t) { return 0.0; });
    }
    static V load(const double* p) {
        return each([&](std::int64_t i) { return p[i]; });
    }
    static void store(double* p, const V& a) {
        for (std::int64_t i = 0; i < real_lanes; ++i)
            p[i] = a.lanes[i];
    }
    static V add(const V& a, const V& b) {
        return each([&](std::int64_t i) { return a.lanes[i] + b.lanes[i]; });
    }
    static V sub(const V& a, const V& b) {
        return each([&](std::int64_t i) { return a.lanes[i] - b.lanes[i]; });
    }
    static V mul(const V& a, const V& b) {
        return each([&](std::int64_t i) { return a.lanes[i] * b.lanes[i]; });
    }
    static V abs(const V& a) {
        return each([&](std::int64_t i) { return std::abs(a.lanes[i]); });
    }
    static V sqrt(const V& a) {
        return each([&](std::int64_t i) { return std::sqrt(a.lanes[i]); });
    }
    static V fma(const V& a, const V& b, const V& c) {
        return each([&](std::int64_t i) { return std::fma(a.lanes[i], b.lanes[i], c.lanes[i]); });
    }
};

}  // namespace

constinit const RealKernel real_plain = real_kernel<RealPlain>("plain");

}  // namespace knn::cpu
