#include "data/transform/blur.h"

#include <cmath>
#include <numeric>

namespace knn {

Blur gaussian(double sigma) {
    const int radius = static_cast<int>(std::ceil(3 * sigma));
    std::vector<double> density;
    for (int i = -radius; i <= radius; ++i)
        density.push_back(std::exp(-0.5 * i * i / (sigma * sigma)));
    const double total = std::accumulate(density.begin(), density.end(), 0.0);
    constexpr std::int32_t one = 1 << 14;
    Blur blur;
    for (const double part : density)
        blur.weights.push_back(static_cast<std::int32_t>(std::lround(one * part / total)));
    blur.weights[static_cast<std::size_t>(radius)] +=
        one - std::accumulate(blur.weights.begin(), blur.weights.end(), 0);
    return blur;
}

}  // namespace knn
