#include "app/report/plot.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace knn {

TEST_CASE("marks of an axis enclose its values") {
    for (const bool logarithmic : {false, true})
        for (const double low : {0.0003, 0.7, 1.0, 12.0, 900.0})
            for (const double factor : {1.0, 1.3, 7.0, 1e3, 1e7}) {
                const double high = low * factor;
                const std::vector<double> marks = axis_marks(low, high, logarithmic);
                CAPTURE(low);
                CAPTURE(high);
                CHECK(marks.size() >= 2);
                CHECK(marks.size() < 15);
                CHECK(marks.front() <= low * (1 + 1e-9));
                CHECK(marks.back() >= high * (1 - 1e-9));
                CHECK(std::is_sorted(marks.begin(), marks.end()));
                if (logarithmic) CHECK(marks.front() > 0);
            }
}

TEST_CASE("numbers of an axis are short") {
    CHECK(axis_text(0) == "0");
    CHECK(axis_text(0.002) == "0.002");
    CHECK(axis_text(5) == "5");
    CHECK(axis_text(2.5) == "2.5");
    CHECK(axis_text(1000) == "1000");
    CHECK(axis_text(10'000) == "10k");
    CHECK(axis_text(262'144) == "262.1k");
    CHECK(axis_text(2e6) == "2M");
}

namespace {

Panel lines_panel() {
    return {"time & k",
            "k",
            "ms",
            true,
            true,
            {{"bitonic", {{1, 2, 1.5, 3}, {10, 2, 2, 2}, {100, 3, 3, 3}}}, {"rank", {{1, 40, 40, 40}}}},
            {},
            {}};
}

}  // namespace

TEST_CASE("a drawing keeps within its borders") {
    Panel bars;
    bars.title = "bars";
    bars.bars = {{"naive", 200, 190, 240, "200"}, {"float4", 4, 4, 4, "4"}};
    bars.notes = {"short", std::string(700, 'x') + " and a long one, which takes several lines " +
                               std::string(90, 'y')};
    const Drawing drawing = draw_panels("title", {"below it", "and"}, {lines_panel(), bars, lines_panel()});
    for (const Shape& shape : drawing.shapes) {
        const auto inside = [&](double x, double y) {
            CHECK(x >= 0);
            CHECK(y >= 0);
            CHECK(x <= drawing.width);
            CHECK(y <= drawing.height);
        };
        if (const auto* line = std::get_if<DrawnLine>(&shape)) {
            inside(line->x1, line->y1);
            inside(line->x2, line->y2);
        } else if (const auto* box = std::get_if<DrawnBox>(&shape)) {
            inside(box->x + box->width, box->y + box->height);
        } else if (const auto* disc = std::get_if<DrawnDisc>(&shape)) {
            inside(disc->x, disc->y);
        } else {
            inside(std::get<DrawnText>(shape).x, std::get<DrawnText>(shape).y);
        }
    }
}

TEST_CASE("SVG has title, axes, legend and escaped text") {
    const std::string svg = svg_of(draw_panels("two & more", {"data"}, {lines_panel()}));
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(svg.ends_with("</svg>\n"));
    for (const char* part : {"two &amp; more", "time &amp; k", ">k</text>", ">ms</text>", ">bitonic</text>",
                             ">rank</text>", "<circle", "rotate(-90"})
        CHECK(svg.find(part) != std::string::npos);
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
}

TEST_CASE("a long title makes the picture wider, and is not cut") {
    const std::string title(80, 'm');
    CHECK(draw_panels(title, {}, {lines_panel()}).width > draw_panels("title", {}, {lines_panel()}).width);
    CHECK(draw_panels("title", {title + title}, {lines_panel()}).width >
          draw_panels("title", {}, {lines_panel()}).width);
}

TEST_CASE("a hollow point and its note") {
    Panel panel = lines_panel();
    const std::string full = svg_of(draw_panels("title", {}, {panel}));
    panel.lines[0].points[1].hollow = true;
    panel.notes = {"hollow: of fewer queries"};
    const std::string svg = svg_of(draw_panels("title", {}, {panel}));
    const auto discs = [](const std::string& text) {
        std::size_t n = 0;
        for (std::size_t at = text.find("<circle"); at != std::string::npos;
             at = text.find("<circle", at + 1))
            ++n;
        return n;
    };
    CHECK(discs(svg) == discs(full) + 1);
    CHECK(svg.find(">hollow: of fewer queries</text>") != std::string::npos);
}

TEST_CASE("PNG if the build can draw") {
    const Drawing drawing = draw_panels("title", {"data"}, {lines_panel()});
    if (!png_available()) {
        CHECK_THROWS(png_of(drawing));
        return;
    }
    const std::vector<std::uint8_t> png = png_of(drawing);
    CHECK(png.size() > 1000);
    CHECK(png[1] == 'P');
}

}  // namespace knn
