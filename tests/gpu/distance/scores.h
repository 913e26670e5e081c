#pragma once
/// Oracle of the distance kernels: the scores of every pair by the definitions of data/core/metric.h, pixel
/// by pixel on the host, sharing no code with the kernels.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "data/core/problem.h"

namespace knn::test {

inline std::uint32_t float_score(double value) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

/// 1 − dot / √(a · b), for exact integers.
inline std::uint32_t angle_score(std::int64_t dot, std::int64_t a, std::int64_t b) {
    if (a == 0 || b == 0) return float_score(1);
    const double distance =
        1 - static_cast<double>(dot) / std::sqrt(static_cast<double>(a) * static_cast<double>(b));
    return float_score(distance < 0 ? 0 : distance);
}

/// The score of two images of problem.dim pixels.
inline std::uint32_t score(const Problem& problem, const std::uint8_t* a, const std::uint8_t* b) {
    std::int64_t squares = 0, absolute = 0, dot = 0, aa = 0, bb = 0, sum_a = 0, sum_b = 0;
    double powers = 0;
    for (std::int64_t i = 0; i < problem.dim; ++i) {
        const std::int64_t x = a[i], y = b[i], d = x > y ? x - y : y - x;
        squares += d * d;
        absolute += d;
        dot += x * y;
        aa += x * x;
        bb += y * y;
        sum_a += x;
        sum_b += y;
        if (problem.measure.metric == Metric::lp)
            powers += std::pow(static_cast<double>(d) / 255.0, problem.measure.p);
    }
    switch (problem.measure.metric) {
        case Metric::l2:
            return static_cast<std::uint32_t>(squares);
        case Metric::l1:
            return static_cast<std::uint32_t>(absolute);
        case Metric::lp:
            return float_score(powers);
        case Metric::cosine:
            return angle_score(dot, aa, bb);
        default:
            return angle_score(problem.dim * dot - sum_a * sum_b, problem.dim * aa - sum_a * sum_a,
                               problem.dim * bb - sum_b * sum_b);
    }
}

/// Of all pairs, n_query × n_train.
inline std::vector<std::uint32_t> scores(const Problem& problem, const std::vector<std::uint8_t>& train,
                                         const std::vector<std::uint8_t>& query) {
    std::vector<std::uint32_t> all;
    for (std::int64_t q = 0; q < problem.n_query; ++q)
        for (std::int64_t t = 0; t < problem.n_train; ++t)
            all.push_back(score(problem, query.data() + q * problem.dim, train.data() + t * problem.dim));
    return all;
}

}  // namespace knn::test
