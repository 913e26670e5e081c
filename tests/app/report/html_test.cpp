#include "app/report/page.h"

#include <nlohmann/json.hpp>

#include "app/view/shown_window.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "tests/support/png.h"
#include "tests/support/sample_evaluation.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

std::string html_page(const Evaluation& evaluation) {
    return knn::html_page(evaluation, misclassified(evaluation));
}

std::string between(const std::string& text, const std::string& before, const std::string& after) {
    const std::size_t begin = text.find(before);
    REQUIRE(begin != text.npos);
    const std::size_t end = text.find(after, begin + before.size());
    REQUIRE(end != text.npos);
    return text.substr(begin + before.size(), end - begin - before.size());
}

nlohmann::json data_of(const std::string& page) {
    return nlohmann::json::parse(
        between(page, "<script type=\"application/json\" id=\"data\">", "</script>"));
}

/// Empty in a build without OpenCV.
test::Png sprite_of(const std::string& page) {
    const std::string png = test::from_base64(between(page, "src=\"data:image/png;base64,", "\""));
    return test::has_opencv ? test::read_png({png.begin(), png.end()}) : test::Png();
}

bool tile_shows(const test::Png& sprite, const nlohmann::json& page, int tile, const std::uint8_t* image) {
    const int rows = page["dataset"]["rows"], cols = page["dataset"]["cols"],
              columns = page["sprite"]["columns"];
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            if (test::has_opencv && sprite.at(tile / columns * rows + row, tile % columns * cols + col) !=
                                        image[row * cols + col])
                return false;
    return true;
}

/// The first mismatched tag, or nothing: every element is closed in order, as in XML.
std::string misplaced_tag(const std::string& page) {
    std::vector<std::string> open;
    for (std::size_t at = page.find('<'); at != page.npos; at = page.find('<', at + 1)) {
        const std::size_t end = page.find('>', at);
        if (end == page.npos) return "<";
        const std::string tag = page.substr(at + 1, end - at - 1);
        if (tag[0] == '!' || tag.back() == '/') continue;
        const bool closes = tag[0] == '/';
        const std::string name = tag.substr(closes, tag.find_first_of(" \n") - closes);
        if (!closes) {
            open.push_back(name);
            if (name == "script" || name == "style") at = page.find("</" + name, end) - 1;
        } else if (open.empty() || open.back() != name) {
            return tag;
        } else {
            open.pop_back();
        }
    }
    return open.empty() ? "" : open.back();
}

}  // namespace

TEST_CASE("a build without OpenCV says that it draws no pictures") {
    CHECK(pictures_available() == test::has_opencv);
    if (test::has_opencv) return;
    const test::Sample sample = test::sample_evaluation();
    CHECK_THROWS_AS(confusion_png(sample.evaluation), DataError);
    CHECK_THROWS_AS(draw_scene(sample.evaluation, {sample.evaluation, {1}}), DataError);
}

TEST_CASE("the page is well-formed and needs no other file") {
    const std::string page = html_page(test::sample_evaluation().evaluation);
    CHECK(misplaced_tag(page) == "");
    CHECK(page.starts_with("<!DOCTYPE html>"));
    for (const char* outside : {"http:", "https:", "url(", "@import", "src=\"/", "{{"})
        CHECK(test::count_of(page, outside) == 0);
    CHECK(test::count_of(page, "src=") == 2);
    CHECK(test::count_of(page, "src=\"data:image/") == 2);
}

TEST_CASE("the page holds every misclassified digit and the numbers of the evaluation") {
    const test::Sample sample = test::sample_evaluation();
    const Evaluation& evaluation = sample.evaluation;
    const std::string page = html_page(evaluation);
    const nlohmann::json data = data_of(page);
    const test::Png sprite = sprite_of(page);

    std::set<std::int64_t> wrong, shown;
    for (std::int64_t i = 0; i < evaluation.n_test; ++i)
        if (evaluation.found.votes[static_cast<std::size_t>(i)].label != sample.data->test.labels.data()[i])
            wrong.insert(i);
    REQUIRE(wrong.size() > 20);
    for (const nlohmann::json& digit : data["gallery"]["digits"]) {
        const std::int64_t index = digit["index"];
        shown.insert(index);
        CHECK(digit["label"] == sample.data->test.labels.data()[index]);
        CHECK(tile_shows(sprite, data, digit["tile"], sample.data->test.images().row(index)));
        const auto row = evaluation.found.neighbors.row(index);
        REQUIRE(digit["neighbors"].size() == row.size());
        for (std::size_t rank = 0; rank < row.size(); ++rank) {
            const nlohmann::json& neighbor = digit["neighbors"][rank];
            CHECK(neighbor["index"] == row[rank].index);
            CHECK(neighbor["distance"] == row[rank].distance);
            CHECK(neighbor["label"] == sample.data->train.labels.data()[row[rank].index]);
            CHECK(
                tile_shows(sprite, data, neighbor["tile"], sample.data->train.images().row(row[rank].index)));
        }
        CHECK(digit["votes"][0]["label"] == digit["predicted"]);
        const auto at = static_cast<std::size_t>(index);
        CHECK(digit["votes"][0]["share"].get<double>() ==
              doctest::Approx(evaluation.found.votes[at].vote_share));
        CHECK(digit["confidence"] == evaluation.confidence[at]);
    }
    CHECK(shown == wrong);

    std::int64_t all = 0, right = 0;
    const nlohmann::json& confusion = data["result"]["confusion"];
    for (std::size_t row = 0; row < confusion.size(); ++row)
        for (std::size_t column = 0; column < confusion.size(); ++column) {
            all += confusion[row][column].get<std::int64_t>();
            right += row == column ? confusion[row][column].get<std::int64_t>() : 0;
        }
    CHECK(all == evaluation.n_test);
    CHECK(right == data["result"]["correct"]);
    CHECK(right + std::ssize(wrong) == all);
    CHECK(data["timing"]["stages"].size() == 2);
}

TEST_CASE("the page has its tables without JavaScript") {
    const test::Sample sample = test::sample_evaluation();
    const Score& score = sample.evaluation.score;
    std::string page = html_page(sample.evaluation);
    page.resize(page.find("<script"));
    CHECK(between(page, "<h1 id=\"headline\">", "</h1>") ==
          "<strong>" + percent(score.accuracy) + "</strong> on sample");
    CHECK(between(page, "id=\"lead\">", "</p>")
              .starts_with(std::to_string(score.correct) + " of 400 test images right, "));
    CHECK(test::count_of(page, "<table") == 3);
    const std::string matrix = between(page, "<table class=\"matrix\"", "</table>");
    for (std::size_t i = 0; i < 10; ++i)
        for (std::size_t j = 0; j < 10; ++j) {
            const std::string number = std::to_string(score.confusion[i][j]);
            const std::string cell = "title=\"true " + std::to_string(i) + ", predicted " +
                                     std::to_string(j) + ": " + number + "\"";
            CHECK(test::count_of(matrix, cell) == (score.confusion[i][j] > 0));
            if (score.confusion[i][j] > 0)
                CHECK(between(matrix.substr(matrix.find(cell)), ">", "<") == number);
        }
    const std::string classes = between(page, "Precision, recall and F1 of each class", "</table>");
    for (const ClassScore& one : score.per_class)
        CHECK(test::count_of(classes, "<th scope=\"row\">" + std::to_string(one.label) + "</th><td>" +
                                          std::to_string(one.support) + "</td>") == 1);
    const std::string times = between(page, "Time of each stage of the search", "</table>");
    // 1.2 GB in 150 ms are 8 of 20 GB/s; 9e9 operations are 60 GFLOP/s, of which no limit is known.
    CHECK(test::contains(
        times,
        "distance</th><td class=\"bar\" aria-hidden=\"true\"></td><td>150</td><td>375</td><td>8.00<small> 40 "
        "%</small></td><td>60.0</td></tr>"));

    test::SampleOptions many;
    many.classes = 65;
    CHECK(test::contains(html_page(test::sample_evaluation(many).evaluation),
                         "65 classes are too many for a table"));
}

TEST_CASE("a page with very many digits stays bounded") {
    test::SampleOptions options;
    options.n_test = 3000;
    options.error_rate = 1;
    options.k = 20;
    const test::Sample sample = test::sample_evaluation(options);
    const nlohmann::json data = data_of(html_page(sample.evaluation));
    const nlohmann::json& gallery = data["gallery"];
    CHECK(gallery["total"] == 3000);
    CHECK(gallery["digits"].size() == 1000);
    CHECK(gallery["digits"][0]["neighbors"].size() == 10);
    CHECK(gallery["digits"][0]["confidence"] >= gallery["digits"][999]["confidence"]);
    Gallery some = misclassified(sample.evaluation);
    some.found = 3000;
    some.images.resize(2000);
    CHECK(data_of(html_page(sample.evaluation, some))["words"]["held"] ==
          "the most sure of the first 2,000.");

    options = {};
    options.rows = options.cols = 250;  // 12 << 20 pixels hold 201 of them, 33 digits with 5 neighbors
    options.n_train = 60;
    options.n_test = 120;
    options.error_rate = 1;
    CHECK(data_of(html_page(test::sample_evaluation(options).evaluation))["gallery"]["digits"].size() == 33);
}

TEST_CASE("a page without mistakes, and one with the digits that a caller wants") {
    test::SampleOptions options;
    options.error_rate = 0;
    const test::Sample sample = test::sample_evaluation(options);
    const std::string page = html_page(sample.evaluation);
    CHECK(data_of(page)["gallery"]["digits"].empty());
    if (test::has_opencv) CHECK(sprite_of(page).height == options.rows);

    const nlohmann::json data = data_of(html_page(sample.evaluation, {{7, 3}, "Two digits", "index", 20}));
    REQUIRE(data["gallery"]["digits"].size() == 2);
    CHECK(data["gallery"]["total"] == 20);
    CHECK(data["words"]["held"] == "the first ones; --limit takes more.");
    CHECK(data["gallery"]["digits"][0]["index"] == 7);
    CHECK(data["gallery"]["title"] == "Two digits");
    CHECK_THROWS_AS(html_page(sample.evaluation, {{options.n_test}, "", "index"}), std::out_of_range);
}

TEST_CASE("names are on the page as they are, but harmless, and those of classes are short") {
    const std::string longest(60, 'x'), override = "\u202e";
    const test::Sample sample =
        test::sample_evaluation({.names = {"zero", longest, "c", "d", "e", "f", "g", "h", "i", "j"}});
    sample.data->name = "100% " + override + "a";
    sample.data->source = "caf\xe9/100%41";
    Evaluation evaluation = sample.evaluation;
    evaluation.pictures.assign(400, "in/50%" + override + ".png");
    const std::string page = html_page(evaluation);
    const nlohmann::json dataset = data_of(page)["dataset"];
    CHECK(dataset["name"] == "100% ?a");
    CHECK(dataset["source"] == "caf?/100%41");
    CHECK(dataset["pictures"] == std::vector<std::string>(400, "in/50%?.png"));
    CHECK(test::count_of(page, "<th scope=\"row\">" + longest.substr(0, 20) + "...</th>") == 1);
}

TEST_CASE("votes by distance are shown as such") {
    test::SampleOptions options;
    options.k = 3;
    test::Sample sample = test::sample_evaluation(options);
    sample.evaluation.method.vote.weights = knn::Weights::distance;
    const std::int64_t image = misclassified(sample.evaluation).images.front();
    const auto row = sample.evaluation.found.neighbors.row(image);
    const auto votes = [&] {
        return data_of(html_page(sample.evaluation, {{image}, "", "index"}))["gallery"]["digits"][0]["votes"];
    };
    row[0] = {10, 1};  // the sample's training image i has label i mod 10
    row[1] = {20, 2};
    row[2] = {20, 12};
    CHECK(votes()[0]["share"].get<double>() == doctest::Approx(0.5));
    row[0].distance = 30;
    CHECK(votes()[0]["label"] == 2);
    CHECK(votes()[0]["share"].get<double>() == doctest::Approx(0.75));
    row[0].distance = 0;
    CHECK(votes() == nlohmann::json::array({{{"label", 1}, {"share", 1.0}}}));
}
