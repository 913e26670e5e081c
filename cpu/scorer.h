#pragma once
/// From what kernels count to the scores of data/core/metric.h, and from limits of scores to what kernels
/// test for.
///
/// A kernel looks at every pair and finds those that may be near; a scorer works out their scores:
///
///   metric           kernel counts                     scorer
///   l2, l1           the score itself                  has nothing to do
///   cosine, pearson  products, tested against floors   cosine_score of those above
///   lp               differences (p <= 1) or squares,  the sum in double precision, in the order of the
///                    which bound the sum from below    pixels, of those that the bound lets through

#include <cstdint>
#include <memory>
#include <span>

#include "cpu/kernels/kernel.h"
#include "data/core/metric.h"
#include "data/core/searcher.h"

namespace knn::cpu {

/// The arithmetic of the kernels that serve a metric.
Arithmetic arithmetic_of(const Measure& measure);

/// One thread's, for one block of queries at a time. This one is for l2 and l1.
class Scorer {
  public:
    Scorer(const Kernel& kernel, Rows train) : kernel_(kernel), train_(train) {}
    virtual ~Scorer() = default;

    virtual void begin(Rows queries) { queries_ = queries; }

    /// Before a panel is scanned: turns the limits of `pass`, which are scores, into what the kernel tests.
    virtual void aim(Pass&, std::int64_t /*panel*/) {}

    /// Replaces what the kernel counted by scores. `limits` are scores: what is not below may get any score
    /// that is not below either.
    virtual void score(std::span<Hit>, std::int64_t /*panel*/, const std::uint32_t* /*limits*/) {}

    /// Before the queries are compared with training images first .. first + n - 1, rows as they are.
    virtual void begin_rows(std::int64_t /*first*/, std::int64_t /*n*/) {}

    /// The scores of one query and these rows.
    virtual void score_rows(std::int64_t query, std::int64_t first, std::span<std::uint32_t> scores);

  protected:
    const Kernel& kernel_;
    Rows train_, queries_;
};

/// What the scorers of all threads share. This one is for l2 and l1.
class Scoring {
  public:
    Scoring(const Kernel& kernel, Rows train) : kernel_(kernel), train_(train) {}
    virtual ~Scoring() = default;

    /// Works out what is needed of a panel's images before it is scanned; different panels by different
    /// threads at will. Not needed for rows as they are.
    virtual void fill(std::int64_t /*panel*/) {}

    /// For blocks of at most `largest_block` queries; throws std::bad_alloc.
    virtual std::unique_ptr<Scorer> scorer(std::int64_t largest_block) const;

  protected:
    const Kernel& kernel_;
    Rows train_;
};

/// `panels`: whether panels will be scanned, and memory for their terms is needed. Throws std::bad_alloc.
std::unique_ptr<Scoring> make_scoring(const Measure& measure, const Kernel& kernel, Rows train,
                                      bool panels);
std::unique_ptr<Scoring> make_product_scoring(Metric metric, const Kernel& kernel, Rows train,
                                              bool panels);
std::unique_ptr<Scoring> make_power_scoring(double p, const Kernel& kernel, Rows train, bool panels);

/// Bytes that scoring with panels allocates for a training set, at most.
std::int64_t scoring_bytes(const Measure& measure, const Kernel& kernel, std::int64_t n_train,
                           std::int64_t dim);

}  // namespace knn::cpu
