/// Cache files of training sets and of features: any bytes, and files of the program with one byte changed.

#include <algorithm>
#include <array>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "classifier/training_set.h"
#include "data/set/cache.h"
#include "data/set/training.h"
#include "tests/fuzz/input.h"

namespace knn {

namespace {

using test::require;
using View = std::span<const std::uint8_t>;

constexpr ImageShape shape{4, 5};
constexpr const char* key = "key";

std::optional<CachedBytes> opened(View file) {
    const auto bytes = std::make_shared<std::vector<std::uint8_t>>(file.begin(), file.end());
    return open_cached({bytes, bytes->data()}, bytes->size(), key, 1);
}

/// Reads every byte of the rows, which a sanitizer watches.
void read_all(const Rows& rows) {
    volatile std::uint8_t seen = 0;
    for (std::int64_t i = 0; i < rows.count * rows.dim; ++i)
        seen = rows.pixels[i];
    (void)seen;
}

void use(const CachedBytes& cached, const TransformSpec& spec, std::int64_t count) {
    TrainingImages set;
    if (show_cached(cached, set)) {
        require(set.images.count == std::ssize(set.labels), "each image has a label");
        require(set.images.dim == set.shape.dim(), "images have rows and columns");
        read_all(set.images);
        read_all({set.labels.data(), std::ssize(set.labels), 1});
    }
    Features features;
    if (restore_features(cached.span(), spec, shape, count, features)) {
        require(features.rows.count == count && features.rows.dim == output_dim(spec, shape),
                "features have the size that their transform makes");
        read_all(features.rows);
    }
}

TransformSpec spec_of(unsigned choice) {
    constexpr std::array texts = {"deskew",       "pca:3", "gradients",    "hog,pca:2",
                                  "deskew,pca:4", "blur",  "deskew,zscore"};
    return parse_transform("transform", texts[choice % texts.size()]);
}

}  // namespace

}  // namespace knn

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace knn;
    test::Input input(data, size);
    const TransformSpec spec = spec_of(input.byte());
    const auto count = static_cast<std::int64_t>(input.number(2));
    const std::size_t changed = input.number(2);
    const unsigned change = input.byte();
    if (const auto cached = opened(input.rest())) use(*cached, spec, count);

    std::ostringstream stream;
    put_cached(stream, key, std::array{input.rest()});
    const std::string text = stream.str();
    std::vector<std::uint8_t> file(text.begin(), text.end());
    const auto whole = opened(file);
    test::require(whole && std::ranges::equal(whole->span(), input.rest()), "what is kept comes back");
    use(*whole, spec, count);
    file[changed % file.size()] ^= static_cast<std::uint8_t>(change);
    if (const auto damaged = opened(file))
        test::require(std::ranges::equal(damaged->span(), input.rest()),
                      "what is damaged does not come back");
    file.resize(changed % file.size());
    test::require(!opened(file), "what is cut short does not come back");
    return 0;
}
