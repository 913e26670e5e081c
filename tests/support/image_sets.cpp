#include <algorithm>

#include "data/synthetic/synthetic.h"
#include "tests/support/images.h"
#include "tests/support/transform_oracle.h"

namespace knn::test {

namespace {

void append(Rows& to, const Rows& more) {
    to.pixels.insert(to.pixels.end(), more.pixels.begin(), more.pixels.end());
    to.n += more.n;
}

/// Black but for one bright pixel, each image at another place.
Rows points(std::int64_t n, std::int64_t dim) {
    return made(n, dim, [&](std::int64_t i, std::int64_t p) { return p == i * 37 % dim ? 255 : 0; });
}

/// A bright stroke along a slanted line, as wide as a tenth of the image.
Rows strokes(std::int64_t n, ImageShape shape) {
    return made(n, shape.dim(), [&](std::int64_t i, std::int64_t p) {
        const std::int64_t x = p % shape.cols, y = p / shape.cols;
        const std::int64_t middle = shape.cols / 2 + (2 * i - n) * (y - shape.rows / 2) / n;
        const std::int64_t away = std::abs(x - middle) * 200 / (shape.cols / 10 + 1);
        return static_cast<int>(std::max<std::int64_t>(0, 255 - away));
    });
}

/// Some of every kind.
ImageSet set_of(int rows, int cols, std::int64_t of_each, std::uint64_t seed) {
    const ImageShape shape{rows, cols};
    const std::int64_t dim = shape.dim();
    ImageSet set{std::to_string(rows) + "x" + std::to_string(cols), shape, {{}, 0, dim}};
    append(set.images, random_rows(of_each, dim, seed));
    append(set.images, random_rows(of_each, dim, seed + 1, 2));
    append(set.images, sparse(of_each, dim, seed + 2, 8));
    append(set.images, points(of_each, dim));
    append(set.images, strokes(of_each, shape));
    for (const int gray : {0, 1, 77, 255})
        append(set.images, filled(1, dim, static_cast<std::uint8_t>(gray)));
    return set;
}

ImageSet digits() {
    const Dataset data = synthetic_digits({.seed = 3, .n_train = 150, .n_test = 10});
    const auto pixels = data.train.pixels.span();
    return {"drawn digits", data.train.shape(), {{pixels.begin(), pixels.end()}, data.train.count, 784}};
}

}  // namespace

const std::vector<ImageSet>& image_sets() {
    static const std::vector<ImageSet> sets = {
        set_of(1, 1, 2, 1),    set_of(1, 2, 2, 2),    set_of(2, 2, 3, 3),      set_of(3, 5, 9, 4),
        set_of(5, 5, 4, 5),    set_of(6, 10, 4, 6),   set_of(28, 28, 9, 7),    set_of(13, 29, 5, 8),
        set_of(31, 14, 5, 9),  set_of(4, 200, 3, 10), set_of(150, 7, 3, 11),   set_of(1, 784, 3, 12),
        set_of(784, 1, 3, 13), set_of(64, 64, 3, 14), set_of(257, 257, 1, 15), digits(),
    };
    return sets;
}

std::vector<std::string> transform_texts(const ImageSet& set) {
    std::vector<std::string> texts = {"raw",        "deskew",
                                      "deskew:0",   "deskew:0.3",
                                      "deskew:2",   "normalize",
                                      "blur",       "blur:0.1",
                                      "blur:0.7",   "hog",
                                      "gradients",  "normalize,deskew,blur",
                                      "deskew,hog", "blur:0.5,gradients"};
    // The oracle and the eigensolver take their time.
    if (set.shape.dim() <= 784) texts.emplace_back("blur:20");
    const std::string most = std::to_string(std::min(set.shape.dim(), set.images.n));
    if (set.shape.dim() <= 450)
        for (const std::string text : {"pca:1", "pca:", "deskew,pca:", "blur,normalize,pca:", "hog,pca:9",
                                       "pca:3,pca:1", "gradients,pca:9"})
            texts.push_back(text.ends_with(':') ? text + most : text);
    if (set.name == "drawn digits") texts.emplace_back("deskew,pca:50");
    std::erase_if(texts, [&](const std::string& text) {
        return refuse_transform(parse_transform("--transform", text), set.shape, set.images.n).has_value();
    });
    return texts;
}

}  // namespace knn::test
