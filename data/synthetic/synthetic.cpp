#include "data/synthetic/synthetic.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <future>
#include <span>
#include <thread>
#include <vector>

#include "data/synthetic/pen.h"

// Only + - * / sqrt and floor on float, each rounded by IEEE 754 and never fused (CMakeLists.txt), and no
// standard distributions, so that the same seed gives the same bytes with every compiler and library.

namespace knn {

namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): any seed is good, and streams of different seeds are independent.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
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
Random stream_of(std::uint64_t seed, std::uint64_t set, std::int64_t index) {
    Random mixed(seed);
    Random with_set(mixed.bits() + set);
    return Random(with_set.bits() + static_cast<std::uint64_t>(index));
}

const Skeleton& choose_skeleton(Random& random, int digit) {
    int total = 0;
    for (const Skeleton& way : skeletons())
        if (way.digit == digit) total += way.weight;
    int left = random.below(total);
    for (const Skeleton& way : skeletons())
        if (way.digit == digit && (left -= way.weight) < 0) return way;
    return skeletons().front();  // unreachable: the weights add up to the total
}

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

void draw_picture(Random random, std::span<std::uint8_t> picture, std::uint8_t& label) {
    label = static_cast<std::uint8_t>(random.below(10));
    std::vector<Stroke> strokes = choose_skeleton(random, label).strokes;
    jitter(strokes, random, 0.03f);
    affine(strokes, random);
    const Elastic elastic(random, 0.11f);
    for (Stroke& stroke : strokes) {
        stroke = smooth(stroke, 5);
        for (PenPoint& p : stroke)
            elastic.move(p);
    }
    Pen pen;
    pen.width = std::clamp(2.4f + random.normal(0.55f), 1.5f, 4.f);
    pen.pressure = random.uniform(0, 0.3f);
    pen.phase = random.uniform(0, 1);
    pen.softness = random.uniform(0.9f, 1.5f);
    pen.blur = random.uniform(0, 0.3f);
    draw_digit(strokes, pen, picture);
}

LabeledImages draw_set(std::uint64_t seed, std::uint64_t set, std::int64_t count,
                       std::pmr::memory_resource* memory) {
    LabeledImages images;
    images.count = count;
    images.rows = images.cols = digit_side;
    const auto dim = static_cast<std::size_t>(images.dim());
    images.pixels = Bytes(static_cast<std::size_t>(count) * dim, memory);
    images.labels = Bytes(static_cast<std::size_t>(count), memory);
    const auto draw_range = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const auto at = static_cast<std::size_t>(i);
            draw_picture(stream_of(seed, set, i), {images.pixels.data() + at * dim, dim},
                         images.labels.data()[at]);
        }
    };
    const std::int64_t workers = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::future<void>> done;
    for (std::int64_t w = 0; w < workers; ++w)
        done.push_back(std::async(draw_range, count * w / workers, count * (w + 1) / workers));
    for (std::future<void>& part : done)
        part.get();
    return images;
}

}  // namespace

Dataset synthetic_digits(const SyntheticOptions& options, std::pmr::memory_resource* memory) {
    Dataset data;
    data.name = "synthetic digits";
    data.source = "built-in synthetic digits";
    data.synthetic = true;
    data.train = draw_set(options.seed, 0, options.n_train, memory);
    data.test = draw_set(options.seed, 1, options.n_test, memory);
    for (std::uint8_t label = 0; label < 10; ++label)
        data.labels.push_back(label);
    return data;
}

}  // namespace knn
