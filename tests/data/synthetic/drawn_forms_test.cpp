#include "data/synthetic/drawn_forms.h"
#include "tests/support/test.h"

using namespace knn;

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
