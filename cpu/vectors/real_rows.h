#pragma once
/// Rows of any element type as the kernels compare them: doubles, with the norms that cosine and pearson need.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "cpu/host/threads.h"
#include "cpu/vectors/kernel.h"
#include "data/core/byte_bounds.h"
#include "data/core/exact_distance.h"
#include "data/core/neighbors.h"
#include "data/core/round_up.h"

namespace knn::cpu {

/// A measure as the kernels compute it.
struct RealMeasure {
    explicit RealMeasure(const Measure& of);

    bool is_angle() const { return sum == RealSum::products; }  ///< cosine or pearson
    /// The sums of `pass`, whose arrays and sizes are set.
    void run(RealPass& pass) const;

    Measure measure;
    const RealKernel& kernel;
    RealSum sum;
};

/// Does not own the rows.
class RealRows {
  public:
    /// Computes the norms. Throws Interrupted.
    RealRows(const RealMeasure& measure, const Rows& rows, int threads, const ProgressToken& token);

    const Rows& rows() const { return rows_; }
    std::int64_t stride() const { return stride_; }
    /// Row i, less its mean for pearson, to `stride` doubles.
    void convert(std::int64_t i, double* out) const;
    /// a·a; 0 if the measure is no angle.
    double square(std::int64_t i) const { return norms_.empty() ? 0 : norms_[at(i)].square; }
    /// 0 if square is 0, and if the measure is no angle.
    double inverse_length(std::int64_t i) const { return norms_.empty() ? 0 : norms_[at(i)].inverse_length; }
    std::span<const RealNorm> norms() const { return norms_; }  ///< empty if the measure is no angle
    /// Whether a·a of a row is above 0, but so small that products of elements have lost bits: a row divided by its length may then be
    /// of any length.
    bool lose_bits() const { return lose_bits_; }

  private:
    const RealMeasure& measure_;
    Rows rows_;
    std::int64_t stride_;
    std::vector<RealNorm> norms_;  ///< of an angle
    bool lose_bits_ = false;
};

/// A way to make bytes of real rows whose distances bound the real ones from below, so that a search of bytes finds the few rows that need an exact
/// distance. docs/vectors.md has the proof.
///
/// With an offset o_j for each column and one scale S for all, u_j = (x_j − o_j) S is rounded to a byte b_j from 0 to 255. What is lost
/// by that, e = ‖u − b‖, is kept: the largest e of the training rows, and that of each query, whose values may lie outside of the
/// range. In the norm of the metric, ‖b(x) − b(y)‖ <= S ‖x − y‖ + e(x) + e(y), for any x and y: the offsets cancel. So a row farther by
/// bytes than S d + e(query) + e(largest) is farther than d. cosine and pearson compare rows of length 1, of which ½ ‖x − y‖² is their
/// distance.
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

/// One neighbor with its exact distance.
struct RealNeighbor {
    double distance;
    std::uint32_t index;

    friend bool operator<(const RealNeighbor& a, const RealNeighbor& b) {
        return a.distance != b.distance ? a.distance < b.distance : a.index < b.index;
    }
};

/// The k nearest of one query so far, in whatever order they come.
class RealBest {
  public:
    /// limit: no farther one is wanted.
    explicit RealBest(int k, double limit = std::numeric_limits<double>::infinity())
        : k_(static_cast<std::size_t>(k)), limit_(limit) {}

    /// No farther one enters.
    double limit() const { return limit_; }
    void offer(RealNeighbor one) {
        if (one.distance > limit_) return;
        found_.push_back(one);
        if (found_.size() >= 2 * k_ + slack) prune();
    }
    void add(const RealBest& others) {
        for (const RealNeighbor& one : others.found_)
            offer(one);
    }
    /// Lowers the limit as far as possible.
    void prune();
    /// In order. k, unless fewer came.
    std::span<const RealNeighbor> finish();

  private:
    static constexpr std::size_t slack = 8;

    std::size_t k_;
    double limit_;
    std::vector<RealNeighbor> found_;
};

/// As magnitude_of, on several threads.
Magnitude magnitude_of(const Rows& rows, int threads, const ProgressToken& token);

/// Writes scores of the best, then no_neighbor.
void write_best(RealBest& best, std::span<Neighbor> to);

}  // namespace knn::cpu
