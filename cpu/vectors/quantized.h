#pragma once
/// Real rows as bytes whose distances bound the real ones from below, so that a search of bytes finds the few rows that need an exact
/// distance. docs/vectors.md has the proof.
///
/// With an offset o_j for each column and one scale S for all, u_j = (x_j − o_j) S is rounded to a byte b_j from 0 to 255. What is lost
/// by that, e = ‖u − b‖, is kept: the largest e of the training rows, and that of each query, whose values may lie outside of the
/// range. In the norm of the metric, ‖b(x) − b(y)‖ <= S ‖x − y‖ + e(x) + e(y), for any x and y: the offsets cancel. So a row farther by
/// bytes than S d + e(query) + e(largest) is farther than d. cosine and pearson compare rows of length 1, of which ½ ‖x − y‖² is their
/// distance.

#include "cpu/vectors/real_rows.h"
#include "data/core/byte_bounds.h"

namespace knn::cpu {

/// A way to make bytes of rows.
class Quantizer {
  public:
    /// Fits offsets and scale to the training rows. Only where `suits`. Throws Interrupted.
    Quantizer(const RealMeasure& measure, const RealRows& train, int threads, const ProgressToken& token);

    static bool suits(const Measure& measure) { return measure.metric != Metric::lp; }
    /// By which bytes are compared: l2, or l1 for l1.
    static Measure byte_measure(const Measure& measure);

    /// count × dim bytes of rows first .., and what is lost by each, rounded up. Throws Interrupted.
    void quantize(const RealRows& rows, std::span<const std::int64_t> which, std::span<std::uint8_t> bytes,
                  std::span<double> lost, int threads, const ProgressToken& token) const;

    std::span<const double> offsets() const { return offsets_; }
    const ByteBound& bound() const { return bound_; }

  private:
    void prepare(const RealRows& rows, std::int64_t i, double* out) const;

    const RealMeasure& measure_;
    std::vector<double> offsets_;
    ByteBound bound_;
};

}  // namespace knn::cpu
