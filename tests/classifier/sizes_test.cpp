#include "classifier/picture_answers.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "data/core/dataset.h"
#include "data/picture/picture_file.h"
#include "data/set/locate.h"
#include "tests/support/photo.h"
#include "tests/support/search.h"
#include "tests/support/skip.h"

using namespace knn::test;
using knn::DigitImage;

namespace {

knn::Dataset mnist() {
    knn::DataOptions options;
    options.folder = mnist_folder();
    return knn::load(knn::locate(options));
}

Request request_for(const knn::Dataset& data, const std::vector<std::uint8_t>& rows) {
    Request request;
    request.train = data.train.images();
    request.train_labels = data.train.labels.span();
    request.query = {rows.data(), std::int64_t(rows.size() / 784), 784};
    return request;
}

std::vector<int> raw_labels(const knn::Dataset& data, std::int64_t count) {
    const std::vector<std::uint8_t> rows(data.test.pixels.data(), data.test.pixels.data() + count * 784);
    std::vector<int> labels;
    for (const knn::Vote& vote : search_on_cpu(request_for(data, rows)).votes)
        labels.push_back(vote.label);
    return labels;
}

/// What `classify --reject off` answers.
std::vector<int> labels_of(const knn::Dataset& data, std::vector<DigitImage>& images) {
    std::vector<DigitImage*> digits;
    for (DigitImage& image : images)
        digits.push_back(&image);
    const std::vector<std::uint8_t> rows = knn::rows_to_search(digits);
    const Request request = request_for(data, rows);
    const knn::Results found = search_on_cpu(request);
    std::vector<int> labels;
    for (const std::int64_t row : knn::choose_sizes(digits, request.measure, found.neighbors))
        labels.push_back(found.votes[std::size_t(row)].label);
    return labels;
}

double share(const knn::Dataset& data, const std::vector<int>& labels) {
    int right = 0;
    for (std::size_t i = 0; i < labels.size(); ++i)
        right += labels[i] == data.test.labels.data()[i];
    return 100.0 * right / double(labels.size());
}

}  // namespace

TEST_CASE("sizes: the smaller one is kept where its neighbors are clearly nearer") {
    std::vector<DigitImage> images(3);
    for (DigitImage& image : images)
        image.pixels.fill(1);
    images[0].smaller.emplace().fill(2);
    images[2].smaller.emplace().fill(3);
    std::vector<DigitImage*> digits = {&images[0], &images[1], &images[2]};
    const std::vector<std::uint8_t> rows = knn::rows_to_search(digits);
    REQUIRE(rows.size() == 5 * 784);
    for (std::size_t row = 0; row < 5; ++row)
        CHECK(rows[row * 784] == std::array{1, 2, 1, 1, 3}[row]);
    knn::Neighbors found(5, 2);
    const std::uint32_t squares[5] = {10000, 9603, 1, 10000, 9216};  // 100, 98, 1, 100 and 96 away
    for (int row = 0; row < 5; ++row)
        for (knn::Neighbor& neighbor : found.row(row))
            neighbor.distance = squares[row];
    CHECK(knn::choose_sizes(digits, {}, found) == std::vector<std::int64_t>{0, 2, 4});
    CHECK(images[0].pixels[0] == 1);
    CHECK(images[2].pixels[0] == 3);
    for (const DigitImage& image : images)
        CHECK(!image.smaller);
}

TEST_CASE("digit image: the sample photos") {
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    if (photos_folder().empty()) return skip("there are no photos: set MNIST_KNN_PHOTOS");
    std::vector<std::filesystem::path> files;
    std::vector<DigitImage> images;
    for (const auto& entry : std::filesystem::directory_iterator(photos_folder())) {
        images.push_back(knn::extract_digit(knn::read_picture(entry.path().string())));
        CHECK_MESSAGE(images.back().refused.empty(), entry.path().string());
        files.push_back(entry.path());
    }
    const std::vector<int> labels = labels_of(mnist(), images);
    for (std::size_t i = 0; i < files.size(); ++i) {
        CAPTURE(files[i].string());
        CHECK(labels[i] == files[i].stem().string().back() - '0');
    }
}

TEST_CASE("digit image: MNIST's test images as photos") {
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    const knn::Dataset data = mnist();
    // All distortions together are tested on 500 images, each alone on 100, to keep the test within
    // minutes.
    constexpr std::int64_t all = 500, few = 100;
    const double raw_all = share(data, raw_labels(data, all)), raw_few = share(data, raw_labels(data, few));
    for (const Damage& damage : damages()) {
        const std::int64_t n = damage.name.starts_with("all of it, upright") ? all : few;
        const double raw = n == all ? raw_all : raw_few;
        std::mt19937 random(7);
        std::vector<DigitImage> images;
        int refused = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            images.push_back(knn::extract_digit(photo_of(data.test.images().row(i), damage, random)));
            refused += !images.back().refused.empty();
        }
        const double found = share(data, labels_of(data, images));
        MESSAGE(damage.name, ": ", found, " % of ", n, " (raw ", raw, " %), refused: ", refused);
        // Rotation and other stroke widths differ from MNIST; they may lose more.
        const bool changed = damage.rotation > 0 || damage.pen != 0;
        CHECK(found >= raw - (changed ? 4 : 1.5));
        CHECK(refused <= 5);
    }
}
