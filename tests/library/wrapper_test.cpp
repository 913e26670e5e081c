/// mnist_knn/knn.hpp, and pictures through it.

#include "mnist_knn/knn.hpp"

#include "tests/library/api.h"
#include "tests/library/drawn_set.h"

namespace knn::test {

namespace {

struct Wrapped {
    DrawnSet drawn{400, 3};
    mnist_knn::set set{mnist_knn::images(drawn.pixels, 28, 28), drawn.labels};
};

}  // namespace

TEST_CASE_FIXTURE(Wrapped, "knn.hpp: searches, classifies, saves, and throws errors with their status") {
    const mnist_knn::index index(set, {.method = "gradients", .device = "cpu", .k = 1});
    CHECK(std::string(index.info().engine) == "cpu");
    CHECK(std::string(index.info().device) == "cpu");
    CHECK(std::string(index.info().method) == "custom");
    const knn_vectors asked = mnist_knn::images(std::span(drawn.pixels).first(5 * DrawnSet::dim), 28, 28);
    const mnist_knn::neighbors found = index.search(asked, 2);
    for (std::uint32_t q = 0; q < 5; ++q) {
        CHECK(found.indices_of(q)[0] == q);
        CHECK(found.distances_of(q)[0] == 0);
    }
    const std::vector<std::uint32_t> rows = {4, 1};
    CHECK(index.search_first(400, 1).indices[4] == index.search_rows(rows, 1).indices[0]);
    const mnist_knn::answers answers = index.classify(asked, {.probabilities = true, .reject = 0.01});
    CHECK(std::equal(answers.labels.begin(), answers.labels.end(), drawn.labels.begin()));
    CHECK(answers.probabilities.size() == 5);
    CHECK(answers.rejected.size() == 5);
    CHECK(index.classify_rows(rows).labels.size() == 2);

    const TempFolder folder;
    index.save((folder / "index").string());
    const mnist_knn::index saved = mnist_knn::index::saved(set, (folder / "index").string());
    CHECK_THROWS_AS(index.save((folder / "index").string() + std::string("\0.knn", 5)), mnist_knn::error);
    CHECK(saved.classify(asked).vote_shares == index.classify(asked).vote_shares);
    set.add(asked, std::span(drawn.labels).first(5));
    CHECK(set.count() == 405);
    CHECK(set.read(400, 1) == set.read(0, 1));
    CHECK(set.read_labels(0, 400) == drawn.labels);
    CHECK(index.search(asked, 2).indices_of(0)[1] == 400);

    try {
        index.search(asked, 0);
        FAIL("no error");
    } catch (const mnist_knn::error& error) {
        CHECK(error.status() == KNN_INVALID);
        CHECK(std::string(error.what()).find("k 0") != std::string::npos);
    }
    CHECK_THROWS_AS(index.search_first(-1, 1), mnist_knn::error);
    CHECK_THROWS_AS(index.search(asked, std::numeric_limits<std::int32_t>::max()), mnist_knn::error);
    CHECK_THROWS_AS(index.search_first(std::int64_t{1} << 40, 1),
                    mnist_knn::error);  // no memory is asked for
    CHECK_THROWS_AS(index.search_first(std::int64_t{1} << 62, 8), mnist_knn::error);
    CHECK_THROWS_AS(set.read(0, std::int64_t{1} << 60), mnist_knn::error);
    const double real[] = {0.5, 1};
    knn_vectors reals = KNN_VECTORS(real, 2, 1);
    reals.type = KNN_FLOAT64;
    CHECK_THROWS_AS(mnist_knn::set(reals).read(0, 2), std::invalid_argument);  // bytes would be too few
    CHECK_THROWS_AS(mnist_knn::set(mnist_knn::files{.folder = "/no/such"}), mnist_knn::error);
    CHECK_THROWS_AS(mnist_knn::vectors(drawn.pixels, 0), std::invalid_argument);
    CHECK_THROWS_AS(mnist_knn::vectors(drawn.pixels, 1000), std::invalid_argument);
    CHECK_THROWS_AS(set.add(asked, drawn.labels), std::invalid_argument);
}

TEST_CASE_FIXTURE(Wrapped, "knn.hpp: a progress function stops a search, or throws through it") {
    const mnist_knn::index index(set, {.device = "cpu"});
    const knn_vectors asked = mnist_knn::vectors(drawn.pixels, 784);
    std::int64_t last = 0;
    index.search(asked, 1, [&](std::int64_t done, std::int64_t) { return last = done, false; });
    CHECK(last == 400);
    try {
        index.classify(asked, {}, [](std::int64_t, std::int64_t) { return true; });
        FAIL("no error");
    } catch (const mnist_knn::error& error) {
        CHECK(error.status() == KNN_STOPPED);
    }
    const mnist_knn::progress thrower = [](std::int64_t, std::int64_t) -> bool {
        throw std::logic_error("mine");
    };
    CHECK_THROWS_AS(index.search(asked, 1, thrower), std::logic_error);
    CHECK_THROWS_AS(mnist_knn::index(set, {.method = "accurate", .device = "cpu"}, thrower),
                    std::logic_error);
}

TEST_CASE_FIXTURE(Wrapped, "knn.hpp: digits of a picture") {
    const mnist_knn::index index(set, {.method = "gradients", .device = "cpu"});
    constexpr int rows = 60, cols = 150;
    std::vector<std::uint8_t> pixels(std::size_t{rows} * cols, 255);
    const auto draw = [&](int left) {
        for (int y = 10; y < 50; ++y)
            for (int x = left; x < left + 6; ++x)
                pixels[static_cast<std::size_t>(y * cols + x)] = 0;
    };
    draw(30);
    knn_picture picture{};
    picture.data = pixels.data();
    picture.rows = rows;
    picture.cols = cols;
    if (knn_has("pictures") == 0) {
        CHECK_THROWS_AS(index.read_digits(picture), mnist_knn::error);
        return;
    }
    const mnist_knn::digits one = index.read_digits(picture);
    REQUIRE(one.size() == 1);
    CHECK(std::abs(one[0].x - 30) <= 1);
    CHECK(std::abs(one[0].h - 40) <= 2);
    CHECK((one[0].label >= 0 && one[0].label <= 9));
    CHECK(std::string(one[0].reason).empty());
    CHECK(std::count_if(one[0].pixels, one[0].pixels + 784, [](int p) { return p > 0; }) > 20);
    CHECK_THROWS_AS(one[1], mnist_knn::error);
    draw(110);
    picture.many = 1;
    CHECK(index.read_digits(picture).size() == 2);
    CHECK(index.read_digits(picture, 0.99)[0].label == -1);
    int calls = 0;
    index.read_digits(picture, 0, [&](std::int64_t, std::int64_t) { return ++calls, false; });
    CHECK(calls > 5);  // of several steps of reading a picture, not of the search alone
    CHECK_THROWS_AS(index.read_digits(picture, 0, [](std::int64_t, std::int64_t) { return true; }),
                    mnist_knn::error);
    // A PGM file, and what is none.
    const std::string head = "P5 150 60 255\n";
    std::vector<std::uint8_t> file(head.begin(), head.end());
    file.insert(file.end(), pixels.begin(), pixels.end());
    const mnist_knn::digits read = index.read_digits(file, true);
    REQUIRE(read.size() == 2);
    CHECK(read[1].label == index.read_digits(picture)[1].label);
    file[1] = 'x';
    CHECK_THROWS_AS(index.read_digits(file), mnist_knn::error);
    CHECK_THROWS_AS(index.read_digits(std::span<const std::uint8_t>()), std::invalid_argument);
    std::fill(pixels.begin(), pixels.end(), 255);
    CHECK(index.read_digits(picture).size() == 0);
    picture.many = 0;
    CHECK(index.read_digits(picture)[0].probability == 0);
    for (const int size : {0, -1, 1 << 20}) {
        picture.rows = picture.cols = size;
        CHECK_THROWS_AS(index.read_digits(picture), mnist_knn::error);
    }
    picture.rows = picture.cols = 2;
    picture.pitch = std::numeric_limits<std::int64_t>::max() / 2 + 1;
    CHECK_THROWS_AS(index.read_digits(picture), mnist_knn::error);
    const mnist_knn::set flat(mnist_knn::vectors(drawn.pixels, 784), drawn.labels);
    CHECK_THROWS_AS(mnist_knn::index(flat).read_digits(file), mnist_knn::error);
}

}  // namespace knn::test
