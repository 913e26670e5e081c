#pragma once

#include <vector>

#include "cpu/aligned.h"
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
    /// An Axis by pixel instead of by cell.
    struct PixelAxis {
        PixelAxis(const Axis& axis, int length);
        std::vector<PixelCells> pixels;
        std::vector<float> weights;
    };

    PixelAxis rows_, cols_;
    std::vector<float> directions_, row_;
    std::vector<std::int32_t> padded_;
    std::vector<float> sums_;
    LaneHistograms work_;
};

}  // namespace knn::cpu
