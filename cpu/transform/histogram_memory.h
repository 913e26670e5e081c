#pragma once

#include <vector>

#include "cpu/host/aligned.h"
#include "cpu/transform/kernel.h"
#include "data/transform/histograms.h"

namespace knn::cpu {

/// The tables of Histograms as the kernels read them, and the memory of one thread.
class HistogramMemory {
  public:
    /// Whether the kernels compute these histograms.
    static bool supports(const Histograms& histograms);
    explicit HistogramMemory(const Histograms& histograms);
    HistogramMemory(const HistogramMemory&) = delete;  // work_ points into this
    HistogramMemory& operator=(const HistogramMemory&) = delete;

    const LaneHistograms& work() const { return work_; }

  private:
    std::vector<Span> row_cells_;
    std::vector<Span> cells_;
    std::vector<float> row_weights_, col_weights_;
    std::vector<float> directions_, row_;
    std::vector<std::int32_t> padded_;
    std::vector<std::uint8_t> bytes_;
    std::vector<float> sums_;
    LaneHistograms work_;
};

}  // namespace knn::cpu
