#include "data/synthetic/synthetic.h"

#include <cstddef>
#include <span>

#include "data/file/transfer.h"
#include "data/synthetic/handwriting.h"

namespace knn {

namespace {

const Skeleton& choose_skeleton(Random& random, int digit) {
    int total = 0;
    for (const Skeleton& way : skeletons())
        if (way.digit == digit) total += way.weight;
    int left = random.below(total);
    for (const Skeleton& way : skeletons())
        if (way.digit == digit && (left -= way.weight) < 0) return way;
    return skeletons().front();  // unreachable: the weights add up to the total
}

void draw_picture(Random random, std::span<std::uint8_t> picture, std::uint8_t& label) {
    label = static_cast<std::uint8_t>(random.below(10));
    write_by_hand(choose_skeleton(random, label).strokes, {}, random, picture);
}

LabeledImages draw_set(std::uint64_t seed, std::uint64_t set, std::int64_t count,
                       std::pmr::memory_resource* memory) {
    LabeledImages images = LabeledImages::sized(count, {digit_side, digit_side}, memory);
    const auto dim = static_cast<std::size_t>(images.dim());
    for_pieces(count, 0, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        draw_picture(stream_of(seed, set, i), {images.pixels.data() + at * dim, dim},
                     images.labels.data()[at]);
    });
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
