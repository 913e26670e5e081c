#pragma once
/// Seed 004's distances as it computes them: one of each two equal ones, and no point its own neighbor.

#include "app/bench/run.h"

namespace knn {

inline constexpr int zhu_k = 32;  ///< the largest of its test cases, §5.3

/// "3.52"; empty if one of the times is missing.
std::string ratio(double slow, double fast);

class ZhuHalves {
  public:
    ZhuHalves();

    /// A row: `plain` and `tile16` are of all pairs of these points. Needs a GPU.
    void add(BenchRun& run, const std::string& sample, const Rows& points, const Measurement& plain,
             const Measurement& tile16, const TrialOptions& options);
    /// Adds the table, if it has rows.
    void finish(BenchReport& report);

  private:
    BenchTable table_;
};

}  // namespace knn
