#pragma once
/// Skeletons written by a random hand. The same seed gives the same bytes with every compiler, library and number of threads.

#include <cstdint>
#include <span>
#include <vector>

#include "data/core/splitmix64.h"
#include "data/synthetic/pen.h"

namespace knn {

/// A stream of SplitMix64.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() { return splitmix64(state_ += splitmix64_step); }
    int below(int n) { return static_cast<int>((bits() >> 32) * static_cast<std::uint64_t>(n) >> 32); }
    float uniform(float low, float high) {
        return low + (high - low) * (static_cast<float>(bits() >> 40) * 0x1p-24f);
    }
    /// Close to normal, never beyond 3.5 sigma: the sum of four uniform numbers.
    float normal(float sigma) {
        constexpr float sqrt3 = 1.7320508f;
        float sum = 0;
        for (int i = 0; i < 4; ++i)
            sum += uniform(-0.5f, 0.5f);
        return sum * sigma * sqrt3;
    }

  private:
    std::uint64_t state_;
};

/// The stream of a picture depends only on seed, set and index, so pictures can be drawn in any order.
Random stream_of(std::uint64_t seed, std::uint64_t set, std::int64_t index);

/// The pen's width, pixels of the picture.
struct PenWidth {
    float mean = 2.4f, deviation = 0.55f;
};

/// Writes the strokes of a skeleton, in the unit square, with jitter, slant and elastic distortion, by a random pen.
/// `picture`: 28 × 28 bytes, 0 = paper.
void write_by_hand(std::vector<Stroke> strokes, const PenWidth& width, Random& random,
                   std::span<std::uint8_t> picture);

}  // namespace knn
