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

/// As for_rows of cpu/host/threads.h; now and then the token's progress is asked, with how many rows of `count` are done.
void for_rows(std::int64_t count, std::int64_t piece, int threads, const ProgressToken& token,
              const std::function<void(std::int64_t, std::int64_t)>& work);

/// For a part of the work that does not report: progress is asked with these numbers. `token` must outlive it.
ProgressToken waiting(const ProgressToken& token, std::int64_t done, std::int64_t total);

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
