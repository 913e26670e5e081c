#include "data/vectors/generate.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "data/core/splitmix64.h"

// Only + - * and floor on double, each rounded by IEEE 754 and never fused (CMakeLists.txt), and no standard distributions.

namespace knn {

namespace {

/// A stream of its own for each row.
class RowRandom {
  public:
    RowRandom(std::uint64_t seed, std::uint64_t stream) : state_(splitmix64(splitmix64(seed) + stream)) {}

    std::uint64_t bits() { return splitmix64(state_ += splitmix64_step); }
    /// In [0, 1), of 32 bits.
    double uniform() { return static_cast<double>(bits() >> 32) * 0x1p-32; }

  private:
    std::uint64_t state_;
};

/// Nearly normal. The four numbers have 16 bits each, so that their sum is exact.
double nearly_normal(std::uint64_t bits) {
    constexpr double sqrt3 = 1.7320508075688772, one = 65536;
    std::int64_t sum = 0;
    for (int i = 0; i < 4; ++i)
        sum += static_cast<std::int64_t>(bits >> (16 * i) & 0xffff);
    const double centered = static_cast<double>(2 * sum + 4) / (2 * one) - 2;  // in the middles of steps
    return centered * sqrt3;
}

constexpr std::uint64_t stream_of_rows = 1ull << 32;  // those below are of the centers

template <class Element>
Element element_of(double value) {
    if constexpr (std::is_same_v<Element, std::uint8_t>)
        return static_cast<std::uint8_t>(std::floor(std::clamp(value, 0.0, 1.0) * 255 + 0.5));
    else
        return static_cast<Element>(value);
}

std::vector<double> centers_of(const GenerateSettings& settings) {
    std::vector<double> centers;
    if (settings.kind != VectorKind::clusters) return centers;
    for (int c = 0; c < settings.clusters; ++c) {
        RowRandom random(settings.seed, static_cast<std::uint64_t>(c));
        for (std::int64_t j = 0; j < settings.dim; ++j)
            centers.push_back(random.uniform());
    }
    return centers;
}

template <class Element>
void generate_as(const GenerateSettings& settings, std::int64_t first, std::int64_t count,
                 std::uint8_t* out) {
    const std::vector<double> centers = centers_of(settings);
    for (std::int64_t row = settings.skip + first; row < settings.skip + first + count; ++row) {
        RowRandom random(settings.seed, stream_of_rows + static_cast<std::uint64_t>(row));
        const double* center =
            centers.empty() ? nullptr
                            : centers.data() + class_of_row(settings, row - settings.skip) * settings.dim;
        for (std::int64_t j = 0; j < settings.dim; ++j, out += sizeof(Element)) {
            double value = 0;
            if (settings.kind == VectorKind::clusters)
                value = center[j] + settings.spread * nearly_normal(random.bits());
            else if (settings.kind == VectorKind::uniform)
                value = random.uniform();
            else
                value = std::floor(random.uniform() * 1000 + 0.5) / 1000;
            store_as(out, element_of<Element>(value));
        }
    }
}

}  // namespace

int class_of_row(const GenerateSettings& settings, std::int64_t row) {
    if (settings.kind != VectorKind::singh)
        return static_cast<int>((settings.skip + row) % settings.clusters);
    const std::int64_t each = std::max<std::int64_t>(1, settings.n / settings.clusters);
    return static_cast<int>(std::min<std::int64_t>(row / each, settings.clusters - 1));
}

void generate_rows(const GenerateSettings& settings, std::int64_t first, std::int64_t count,
                   std::uint8_t* out) {
    if (settings.type == ElementType::int8)
        throw std::invalid_argument("generate_rows: int8 has no negative numbers to hold");
    of_type(settings.type,
            [&](auto element) { generate_as<decltype(element)>(settings, first, count, out); });
}

}  // namespace knn
