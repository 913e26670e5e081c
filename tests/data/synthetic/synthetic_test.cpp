#include "data/synthetic/synthetic.h"

#include <zlib.h>

#include "classifier/evaluation.h"
#include "data/synthetic/drawn_forms.h"
#include "data/synthetic/pen.h"
#include "tests/support/search.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

std::uint32_t crc_of(const knn::Bytes& bytes) {
    return static_cast<std::uint32_t>(crc32_z(0, bytes.data(), bytes.size()));
}

bool same(const knn::Bytes& a, const knn::Bytes& b, std::size_t size) {
    return std::memcmp(a.data(), b.data(), size) == 0;
}

}  // namespace

TEST_CASE("synthetic: names and classes, and the same bytes on every machine") {
    const Dataset data = knn::synthetic_digits();
    CHECK(data.synthetic);
    CHECK(data.name == "synthetic digits");
    CHECK(data.train.count == 6000);
    CHECK(data.test.count == 1000);
    CHECK(data.train.shape() == knn::ImageShape{28, 28});
    CHECK(data.labels == std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    for (const std::uint8_t label : data.labels) {
        const auto count = std::ranges::count(data.train.labels.span(), label);
        CHECK(count >= 500);
        CHECK(count <= 700);
    }
    CHECK(crc_of(data.train.pixels) == 587024239);
    CHECK(crc_of(data.train.labels) == 3590832186);
    CHECK(crc_of(data.test.pixels) == 3487147922);
    CHECK(crc_of(data.test.labels) == 3498055593);
}

TEST_CASE("synthetic: a picture depends on seed, set and position alone") {
    const Dataset all = knn::synthetic_digits({3, 200, 100}), few = knn::synthetic_digits({3, 7, 1});
    CHECK(same(all.train.pixels, few.train.pixels, 7 * 784));
    CHECK(same(all.train.labels, few.train.labels, 7));
    CHECK(same(all.test.pixels, few.test.pixels, 784));
    CHECK_FALSE(same(all.train.pixels, all.test.pixels, 784));
    CHECK_FALSE(same(all.train.pixels, knn::synthetic_digits({4, 7, 1}).train.pixels, 784));
}

TEST_CASE("synthetic: framed as MNIST is") {
    const Dataset data = knn::synthetic_digits({5, 500, 1});
    for (std::int64_t i = 0; i < data.train.count; ++i) {
        CAPTURE(i);
        double mass = 0, x = 0, y = 0;
        int top = 28, bottom = -1, left = 28, right = -1, darkest = 0;
        for (int row = 0; row < 28; ++row)
            for (int col = 0; col < 28; ++col) {
                const int ink = data.train.images().row(i)[row * 28 + col];
                mass += ink;
                x += ink * (col + 0.5);
                y += ink * (row + 0.5);
                darkest = std::max(darkest, ink);
                if (ink < 128) continue;
                top = std::min(top, row);
                bottom = std::max(bottom, row);
                left = std::min(left, col);
                right = std::max(right, col);
            }
        REQUIRE(mass > 0);
        CHECK(std::abs(x / mass - 14) <= 0.6);
        CHECK(std::abs(y / mass - 14) <= 0.6);
        CHECK(darkest >= 200);
        const int extent = std::max(right - left, bottom - top) + 1;
        CHECK(extent >= 18);
        CHECK(extent <= 22);
    }
}

TEST_CASE("synthetic: hard enough to err, easy enough to be read") {
    for (const std::uint64_t seed : {1, 2}) {
        CAPTURE(seed);
        const Dataset data = knn::synthetic_digits({seed, 6000, 400});
        knn::test::Request request;
        request.train = data.train.images();
        request.train_labels = data.train.labels.span();
        request.query = data.test.images();
        const auto votes = knn::test::search_on_cpu(request).votes;
        const std::int64_t right = knn::score(votes, data.test.labels.span(), data.labels).correct;
        CHECK(right >= 372);  // 93 %
        CHECK(right <= 398);  // 99.5 %
    }
}

TEST_CASE("skeletons: every digit is written in several ways, inside the unit square") {
    std::array<int, 10> ways = {};
    for (const knn::Skeleton& way : knn::skeletons()) {
        REQUIRE(way.digit >= 0);
        REQUIRE(way.digit <= 9);
        ++ways[static_cast<std::size_t>(way.digit)];
        CHECK(way.weight > 0);
        for (const knn::Stroke& stroke : way.strokes) {
            CHECK(stroke.size() >= 2);
            for (const PenPoint& p : stroke)
                CHECK((p.x >= 0 && p.x <= 1 && p.y >= 0 && p.y <= 1));
        }
    }
    for (const int n : ways)
        CHECK(n >= 3);
}

TEST_CASE("skeletons: smooth goes through all points, straight between corners") {
    const knn::Stroke stroke = {{0, 0}, {1, 0, true}, {1, 1, true}, {0, 2}};
    const knn::Stroke fine = knn::smooth(stroke, 4);
    REQUIRE(fine.size() == 13);
    for (std::size_t i = 0; i < stroke.size(); ++i) {
        CHECK(fine[4 * i].x == stroke[i].x);
        CHECK(fine[4 * i].y == stroke[i].y);
    }
    for (std::size_t i = 4; i <= 8; ++i)
        CHECK(fine[i].x == 1);
    CHECK(knn::smooth({}, 4).empty());
}

TEST_CASE("pen: a straight bar is as wide and as long as asked") {
    std::vector<knn::Stroke> bar = {{{0, 0}, {0, 0.5f}, {0, 1}}};
    knn::Pen pen;
    pen.width = 4;
    pen.pressure = 0;
    pen.softness = 0.01f;
    std::array<std::uint8_t, 784> picture = {};
    knn::draw_digit(bar, pen, picture);
    for (int row = 0; row < 28; ++row)
        for (int col = 0; col < 28; ++col) {
            CAPTURE(row);
            CAPTURE(col);
            const int ink = picture[static_cast<std::size_t>(row * 28 + col)];
            const bool outside = col < 12 || col > 15 || row < 4 || row > 23;
            const bool inside = col >= 12 && col <= 15 && row >= 6 && row <= 21;  // the ends are round
            if (outside) CHECK(ink == 0);
            if (inside) CHECK(ink == 255);
        }
}

TEST_CASE("drawn forms: every digit and no digit, the same bytes each time, a form for each row") {
    const LabeledImages rows = drawn_rows(), again = drawn_rows();
    REQUIRE(rows.count > 5'000);
    REQUIRE(again.count == rows.count);
    CHECK(std::memcmp(rows.pixels.data(), again.pixels.data(), rows.pixels.size()) == 0);
    CHECK(rows.shape() == ImageShape{28, 28});
    std::set<int> labels;
    for (std::int64_t i = 0; i < rows.count; ++i) {
        const std::uint8_t label = rows.labels.span()[static_cast<std::size_t>(i)];
        labels.insert(label);
        CHECK(form_of_row(i)->label == label);
        const auto row = rows.pixels.span().subspan(static_cast<std::size_t>(i * rows.dim()), 784);
        CHECK(std::ranges::max(row) > 100);
    }
    CHECK(labels == std::set<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    CHECK(form_of_row(rows.count) == nullptr);
}

TEST_CASE("drawn forms: strokes are points of two digits, corners and lifts, what is no digit has a name") {
    for (const DrawnForm& form : drawn_forms()) {
        CAPTURE(form.strokes);
        const std::string text = form.strokes;
        CHECK(text.find_first_not_of("0123456789!/ ") == std::string::npos);
        CHECK(form.weight > 0);
        CHECK(std::string(form.name).empty() == (form.label != no_digit));
        for (const Stroke& stroke : strokes_of(form))
            CHECK(stroke.size() >= 2);
    }
    const auto strokes = strokes_of({1, "", 1, "09 40! 89 / 16 76"});
    REQUIRE(strokes.size() == 2);
    REQUIRE(strokes[0].size() == 3);
    CHECK(strokes[0][1].x == doctest::Approx(4 / 9.0));
    CHECK(strokes[0][1].y == 0);
    CHECK(strokes[0][1].corner);
    CHECK_FALSE(strokes[0][2].corner);
    CHECK(strokes[1][1].x == doctest::Approx(7 / 9.0));
}
