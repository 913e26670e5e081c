#include "app/report/plot.h"
#include "tests/support/test.h"

#include <regex>

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

double size_of(const std::string& svg, const std::string& side) {
    const std::string before = ' ' + side + "=\"";
    return std::stod(svg.substr(svg.find(before) + before.size()));
}

}  // namespace

TEST_CASE("a drawing of zeros alone has places for them") {
    CHECK(axis_marks(0, 0, false).front() == 0);
    CHECK(axis_marks(0, 0, false).back() > 0.9);
    Panel panel = lines_panel();
    panel.log_y = false;
    panel.lines = {{"no errors", {{1, 0, 0, 0}, {2, 0, 0, 0}}}};
    CHECK(!test::contains(draw_panels("zeros", {}, {panel}), "nan"));
}

TEST_CASE("a drawing keeps within its borders") {
    Panel bars;
    bars.title = "bars";
    bars.bars = {{"naive", 200, 190, 240, "200"}, {"float4", 4, 4, 4, "4"}};
    bars.notes = {"short", std::string(700, 'x') + " and a long one, which takes several lines " +
                               std::string(90, 'y')};
    const std::string svg = draw_panels("title", {"below it", "and"}, {lines_panel(), bars, lines_panel()});
    const std::regex position(" c?(x|y)[12]?=\"([^\"]*)\"");
    std::int64_t positions = 0;
    for (std::sregex_iterator at(svg.begin(), svg.end(), position), end; at != end; ++at, ++positions) {
        const double place = std::stod((*at)[2]);
        CHECK(place >= 0);
        CHECK(place <= size_of(svg, (*at)[1] == "x" ? "width" : "height"));
    }
    CHECK(positions > 100);
}

TEST_CASE("SVG has title, axes, legend and escaped text") {
    const std::string svg = draw_panels("two & more", {"data"}, {lines_panel()});
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(svg.ends_with("</svg>\n"));
    for (const char* part : {"two &amp; more", "time &amp; k", ">k</text>", ">ms</text>", ">bitonic</text>",
                             ">rank</text>", "<circle", "rotate(-90"})
        CHECK(test::contains(svg, part));
    CHECK(!test::contains(svg, "nan"));
    CHECK(!test::contains(svg, "inf"));
}

TEST_CASE("a long title makes the picture wider, and is not cut") {
    const std::string title(80, 'm');
    const auto width = [](const std::string& heading, const std::vector<std::string>& lines) {
        return size_of(draw_panels(heading, lines, {lines_panel()}), "width");
    };
    CHECK(width(title, {}) > width("title", {}));
    CHECK(width("title", {title + title}) > width("title", {}));
}

TEST_CASE("curves that lie on each other can be told apart") {
    Panel panel = lines_panel();
    panel.lines.push_back({"near bitonic", {{1, 2, 2, 2}, {10, 2, 2, 2}, {100, 3, 3, 3}}});
    panel.lines.push_back({"bitonic again", panel.lines[0].points});
    const std::string svg = draw_panels("title", {}, {panel});
    const std::regex curve(
        "<polyline points=\"([^\"]*)\"[^>]* stroke=\"([^\"]*)\" stroke-dasharray=\"([^\"]*)\"");
    std::map<std::string, std::set<std::string>> by_place;  // places of a curve or of a line of the legend
    std::set<std::string> styles;
    for (std::sregex_iterator at(svg.begin(), svg.end(), curve), end; at != end; ++at) {
        const std::string style = (*at)[2].str() + ' ' + (*at)[3].str();
        by_place[(*at)[1]].insert(style);
        styles.insert(style);
    }
    CHECK(styles.size() == 3);  // of four lines, two of which are one
    // bitonic and near bitonic, rank, and four lines of the legend.
    CHECK(by_place.size() == 2 + 4);
    CHECK(std::ranges::count_if(by_place, [](const auto& one) { return one.second.size() == 2; }) == 1);
    CHECK(test::contains(svg, ">bitonic again</text>"));
}

TEST_CASE("a hollow point and its note") {
    Panel panel = lines_panel();
    const std::string full = draw_panels("title", {}, {panel});
    panel.lines[0].points[1].hollow = true;
    panel.notes = {"hollow: of fewer queries"};
    const std::string svg = draw_panels("title", {}, {panel});
    CHECK(test::count_of(svg, "<circle") == test::count_of(full, "<circle") + 1);
    CHECK(test::contains(svg, ">hollow: of fewer queries</text>"));
}

}  // namespace knn
