#pragma once
/// The size and the rules of one search; every engine, distance kernel and selector judges by it what it
/// supports.

#include <cstdint>
#include <optional>
#include <string>

namespace knn {

/// How far apart two images are; data/core/metric.h defines the value of each.
enum class Metric { l2, l1, lp, cosine, pearson };

/// What one neighbor's vote counts: 1, or 1/d² (the inverse of the squared distance).
enum class Weights { uniform, distance };

/// Which class wins among equal votes: the smallest label, or the class of the nearest neighbor among them.
enum class Tie { smallest, nearest };

/// The largest k that any engine answers.
inline constexpr int max_k = 1024;

/// The most pixels an image may have: 66,051 · 255² is the last squared distance that fits 32 bits.
inline constexpr std::int64_t max_dim = 66'051;

/// The exponents that `lp` takes. Below, distances 255 · S^(1/p) grow beyond any use (S^10 at 0.1), and soon
/// beyond a double; above, (1/255)^p is no normal 32-bit float.
inline constexpr double min_p = 0.1, max_p = 15;

/// `n_query` images of `dim` pixels each look for their `k` nearest among `n_train` images.
struct Problem {
    std::int64_t n_train = 0;
    std::int64_t n_query = 0;
    std::int64_t dim = 0;
    int k = 0;
    Metric metric = Metric::l2;
    double p = 2;  ///< the exponent of `lp`; no other metric reads it
    Weights weights = Weights::uniform;
};

/// Why something cannot be done, as a sentence for the user; empty where it can.
using Refusal = std::optional<std::string>;

/// The limits that hold for every engine: 1 <= k <= min(max_k, n_train), 1 <= dim <= max_dim, indices in 32
/// bits, min_p <= p <= max_p.
Refusal refuse_problem(const Problem& problem);

/// Says that `name` (a kernel or an engine) computes l2 alone, where the problem has another metric.
Refusal refuse_all_but_l2(const char* name, const Problem& problem);

}  // namespace knn
