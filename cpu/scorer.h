#pragma once
/// Converts kernel results to the scores of data/core/metric.h, and score limits to what kernels test.
///
/// A kernel tests every pair and finds candidates; a scorer computes their scores:
///
///   metric           kernel computes                   scorer
///   l2, l1           the score itself                  nothing to do
///   cosine, pearson  products, tested against floors   cosine_score of those above
///   lp               differences (p <= 1) or squares,  the sum in double precision, in pixel order,
///                    which bound the sum from below    of those that the bound does not prune

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "cpu/kernels/kernel.h"
#include "cpu/pack.h"
#include "data/core/metric.h"
#include "data/core/neighbors.h"
#include "data/core/rows.h"

namespace knn::cpu {

/// The arithmetic of the kernels for a metric.
Arithmetic arithmetic_of(const Measure& measure);

/// From here on the bits of a score are not a finite float.
inline constexpr std::uint32_t first_no_number = 0x7f800000;

/// The arguments of cosine_score, from products and sums of pixels (data/core/metric.h).
struct Correlation {
    bool centered = false;  ///< pearson: mean-centered, times dim
    std::int64_t dim = 0;

    std::int64_t norm(PixelSums a) const {
        return centered ? dim * a.squares - std::int64_t{a.plain} * a.plain : a.squares;
    }
    std::int64_t dot(std::uint32_t product, PixelSums a, PixelSums b) const {
        return centered ? dim * product - std::int64_t{a.plain} * b.plain : product;
    }
    std::uint32_t score(std::uint32_t product, PixelSums a, PixelSums b) const {
        return cosine_score(dot(product, a, b), norm(a), norm(b));
    }
};

/// Per thread, for one block of queries at a time. The base class is for l2 and l1.
class Scorer {
  public:
    Scorer(const Kernel& kernel, Rows train) : kernel_(kernel), train_(train) {}
    virtual ~Scorer() = default;

    virtual void begin(Rows queries) { queries_ = queries; }

    /// Called before a panel is scanned: converts the limits of `pass` from scores to what the kernel tests, those of the
    /// images too if there are any.
    virtual void set_thresholds(Pass&, std::int64_t /*panel*/) {}

    /// Replaces the kernel's results by scores, after set_thresholds for the same panel: a pair at or above the limits that
    /// `pass` had before may get any score at or above them.
    virtual void score(std::span<Hit>, std::int64_t /*panel*/) {}

    /// Called before the queries are compared with the unpacked training images first .. first + n - 1.
    virtual void begin_rows(std::int64_t /*first*/, std::int64_t /*n*/) {}

    /// The scores of one query with these rows.
    virtual void score_rows(std::int64_t query, std::int64_t first, std::span<std::uint32_t> scores);

  protected:
    const Kernel& kernel_;
    Rows train_, queries_;
};

/// Makes the scorers of all threads, and holds what they share.
struct Scoring {
    /// For blocks of at most `max_block` queries; throws std::bad_alloc. The scorer must not outlive this.
    std::function<std::unique_ptr<Scorer>(std::int64_t max_block)> scorer;
    /// Precomputes the terms of a panel's images before it is scanned; different threads may fill different
    /// panels concurrently. Not needed for unpacked rows.
    std::function<void(std::int64_t panel)> fill = [](std::int64_t) {};
};

/// `panels`: whether panels will be scanned, which needs memory for their terms. Throws std::bad_alloc.
Scoring make_scoring(const Measure& measure, const Kernel& kernel, Rows train, bool panels);
Scoring make_product_scoring(Metric metric, const Kernel& kernel, Rows train, bool panels);
Scoring make_power_scoring(double p, const Kernel& kernel, Rows train, bool panels);

/// Maximum bytes that scoring with panels allocates for a training set.
std::int64_t scoring_bytes(const Measure& measure, const Kernel& kernel, std::int64_t n_train,
                           std::int64_t dim);

}  // namespace knn::cpu
