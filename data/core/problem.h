#pragma once
/// Size and parameters of one search, by which engines, distance kernels and selectors decide what they
/// support.

#include <cstdint>
#include <optional>
#include <string>

#include "data/core/element_type.h"
#include "data/core/metric.h"

namespace knn {

/// The largest k that any engine answers, and the largest of the GPU kernels that do not sort whole rows.
inline constexpr int max_k = 16'384, max_device_k = 1024;

/// The most pixels an image may have: 66,051 · 255² is the last squared distance that fits 32 bits.
inline constexpr std::int64_t max_dim = 66'051;
/// The most columns of rows of any other type.
inline constexpr std::int64_t max_columns = 65'536;

/// The `k` nearest of each of `n_query` images among `n_train` images, all of `dim` pixels.
struct Problem {
    std::int64_t n_train = 0;
    std::int64_t n_query = 0;
    std::int64_t dim = 0;
    int k = 0;
    Measure measure = {};
    ElementType type = ElementType::uint8;
};

/// Why something cannot be done, as a sentence for the user; empty if it can.
using UnsupportedReason = std::optional<std::string>;

/// Unless k neighbors can be found among `n` images: 1 <= k <= min(max_k, n).
UnsupportedReason refuse_k(int k, std::int64_t n);

/// min_p <= p <= max_p.
UnsupportedReason refuse_measure(const Measure& measure);

/// The limits that hold for every engine: those of k among n_train, 1 <= dim <= max_dim (max_columns), indices in 32
/// bits, those of the measure.
UnsupportedReason refuse_problem(const Problem& problem);

/// Says that `name` (a kernel or an engine) computes only l2, if the problem has another metric.
UnsupportedReason refuse_all_but_l2(const char* name, const Problem& problem);

}  // namespace knn
