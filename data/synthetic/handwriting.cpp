#include "data/synthetic/handwriting.h"

#include <algorithm>
#include <array>
#include <cstddef>

// Only + - * / sqrt and floor on float, each rounded by IEEE 754 and never fused (CMakeLists.txt), and no
// standard distributions, so that the same seed gives the same bytes with every compiler and library.

namespace knn {

namespace {

/// Handwriting jitter: moves each point of the skeleton a little.
void jitter(std::vector<Stroke>& strokes, Random& random, float sigma) {
    for (Stroke& stroke : strokes)
        for (PenPoint& p : stroke) {
            p.x += random.normal(sigma);
            p.y += random.normal(sigma);
        }
}

/// Rotation, slant and proportions about the middle of the unit square.
void affine(std::vector<Stroke>& strokes, Random& random) {
    const float slant = 0.14f + random.normal(0.2f);
    const float aspect = 0.78f + random.normal(0.14f);
    const float t = random.normal(0.07f);  // tangent of half the angle, which needs no libm
    const float cosine = (1 - t * t) / (1 + t * t), sine = 2 * t / (1 + t * t);
    for (Stroke& stroke : strokes)
        for (PenPoint& p : stroke) {
            const float y = p.y - 0.5f, x = aspect * (p.x - 0.5f) - slant * y;
            p.x = cosine * x - sine * y;
            p.y = sine * x + cosine * y;
        }
}

/// A smooth random displacement: cubic B-splines over a lattice whose middle cells cover -0.5 .. 0.5.
class Elastic {
  public:
    Elastic(Random& random, float sigma) {
        for (auto& row : lattice_)
            for (PenPoint& knot : row)
                knot = {random.normal(sigma), random.normal(sigma), false};
    }
    void move(PenPoint& p) const {
        const Place x = place(p.x), y = place(p.y);
        PenPoint by;
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t j = 0; j < 4; ++j) {
                const float weight = y.weights[i] * x.weights[j];
                const PenPoint& knot = lattice_[y.first + i][x.first + j];
                by.x += weight * knot.x;
                by.y += weight * knot.y;
            }
        p.x += by.x;
        p.y += by.y;
    }

  private:
    static constexpr int cells = 4;  // along each axis, covering -1 .. 1
    struct Place {
        std::size_t first;
        std::array<float, 4> weights;
    };
    static Place place(float at) {
        const float scaled = std::clamp((at + 1) * (cells / 2.f), 0.f, cells - 0.001f);
        const int cell = static_cast<int>(scaled);
        const float t = scaled - static_cast<float>(cell), s = 1 - t;
        return {static_cast<std::size_t>(cell),
                {s * s * s / 6, (4 - 6 * t * t + 3 * t * t * t) / 6, (4 - 6 * s * s + 3 * s * s * s) / 6,
                 t * t * t / 6}};
    }
    std::array<std::array<PenPoint, cells + 3>, cells + 3> lattice_;
};

}  // namespace

Random stream_of(std::uint64_t seed, std::uint64_t set, std::int64_t index) {
    Random mixed(seed);
    Random with_set(mixed.bits() + set);
    return Random(with_set.bits() + static_cast<std::uint64_t>(index));
}

void write_by_hand(std::vector<Stroke> strokes, const PenWidth& width, Random& random,
                   std::span<std::uint8_t> picture) {
    jitter(strokes, random, 0.03f);
    affine(strokes, random);
    const Elastic elastic(random, 0.11f);
    for (Stroke& stroke : strokes) {
        stroke = smooth(stroke, 5);
        for (PenPoint& p : stroke)
            elastic.move(p);
    }
    Pen pen;
    pen.width = std::clamp(width.mean + random.normal(width.deviation), 1.5f, 4.f);
    pen.pressure = random.uniform(0, 0.3f);
    pen.phase = random.uniform(0, 1);
    pen.softness = random.uniform(0.9f, 1.5f);
    pen.blur = random.uniform(0, 0.3f);
    draw_digit(strokes, pen, picture);
}

}  // namespace knn
