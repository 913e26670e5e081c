#include "app/report/answers.h"
#include "tests/support/test.h"

#include <nlohmann/json.hpp>

using namespace knn;

namespace {

const std::vector<std::uint8_t> class_labels = {4, 9, 4};

Answer answer(int label, Box box) {
    Answer made;
    made.image.box = box;
    made.label = label;
    made.confidence = 2.0 / 3;
    made.votes = {{4, 2}, {9, 1}};
    made.neighbors = {{100, 0}, {200, 2}, {200, 1}};
    return made;
}

PictureAnswer picture(const std::string& file, std::vector<Answer> digits) {
    PictureAnswer made;
    made.file = file;
    made.digits = std::move(digits);
    return made;
}

PictureAnswers sample() {
    PictureAnswers answers;
    answers.labels = class_labels;
    answers.pictures.push_back(picture("a.png", {answer(4, {1, 2, 3, 4})}));
    PictureAnswer failed;
    failed.file = "b.png";
    failed.error = "is no picture; expected a PNG";
    answers.pictures.push_back(failed);
    Answer rejected;
    rejected.reason = "the picture is blank";
    answers.pictures.push_back(picture("c.png", {rejected}));
    Answer guessed = answer(9, {0, 0, 5, 6});
    guessed.guess = guessed.label;
    guessed.label.reset();
    guessed.reason = "near more than one class";
    guessed.neighbors.clear();
    answers.pictures.push_back(picture("d.png", {guessed}));
    return answers;
}

}  // namespace

TEST_CASE("answers as JSON") {
    const auto object = nlohmann::json::parse(answers_json(sample()));
    CHECK(object["schema"] == "mnist-knn/classify/2");
    const auto json = object["pictures"];
    CHECK(json == nlohmann::json::parse(answers_json(sample(), 1)));
    REQUIRE(json.size() == 4);
    CHECK(json[0] == nlohmann::json::parse(R"({"file": "a.png", "digit": 4, "confidence": 0.6666666666666666,
        "votes": {"4": 2, "9": 1}, "neighbors": [{"index": 0, "label": 4, "distance": 100},
        {"index": 2, "label": 4, "distance": 200}, {"index": 1, "label": 9, "distance": 200}],
        "box": [1, 2, 3, 4], "usual": 0.0, "vote_share": 0.0})"));
    CHECK(json[1] == nlohmann::json({{"file", "b.png"}, {"error", "is no picture; expected a PNG"}}));
    CHECK(json[2]["digit"].is_null());
    CHECK(json[2]["reason"] == "the picture is blank");
    CHECK(json[2]["votes"] == nlohmann::json::object());
    CHECK(json[2]["neighbors"].empty());
    CHECK(!json[2].contains("guess"));  // nothing was searched
    CHECK(json[3]["digit"].is_null());
    CHECK(json[3]["guess"] == 9);

    PictureAnswers pages = sample();
    pages.pages = true;
    pages.pictures[0].digits.push_back(answer(9, {20, 2, 3, 4}));
    pages.pictures[2].digits.clear();
    const auto many = nlohmann::json::parse(answers_json(pages))["pictures"];
    REQUIRE(many[0]["digits"].size() == 2);
    CHECK(many[0].size() == 2);
    CHECK(many[0]["digits"][1]["digit"] == 9);
    CHECK(many[0]["digits"][1]["box"] == nlohmann::json({20, 2, 3, 4}));
    CHECK(many[1].contains("error"));
    CHECK(many[2]["digits"] == nlohmann::json::array());
}

TEST_CASE("pictures of different names have different names in JSON") {
    PictureAnswers answers = sample();
    answers.pictures[0].file = "caf\xe9.png";
    answers.pictures[1].file = "caf%E9.png";
    answers.pictures[2].file = "gnp.\u202e\xc2\x9b";
    const auto json = nlohmann::json::parse(answers_json(answers))["pictures"];
    CHECK(json[0]["file"] == "caf%E9.png");
    CHECK(json[1]["file"] == "caf%25E9.png");
    CHECK(json[2]["file"] == "gnp.%E2%80%AE%C2%9B");
}

TEST_CASE("answers as text") {
    const std::string text = answers_text(sample(), false, false);
    CHECK(text ==
          "a.png: 4  (confidence 67 %)\n"
          "    label     4    4    9\n"
          "    index     0    2    1\n"
          "    distance  100  200  200\n"
          "c.png: ?  (the picture is blank)\n"
          "d.png: ? (9, 67 %)  (near more than one class)\n");
    CHECK(answers_text(sample(), true, false) == "4\nerror\n?\n?\n");  // a line for each picture
    PictureAnswers of_features = sample();
    of_features.method.transform = parse_transform("--transform", "gradients");
    CHECK(
        test::contains(answers_text(of_features, false, false), "    distance of features  100  200  200\n"));
    CHECK(answers_text(sample(), true, true) == "4\nerror\n?\n?\n");
    CHECK(test::contains(answers_text(sample(), false, true), "\x1b["));
}

TEST_CASE("a terminal shows some of many neighbors") {
    PictureAnswers answers = sample();
    answers.pictures[0].digits[0].neighbors.assign(100, {5, 1});
    CHECK(test::contains(answers_text(answers, false, false), "and 92 more\n"));
}

TEST_CASE("the digits of a page as lines") {
    PictureAnswer page;
    CHECK(page_lines(page) == std::vector<std::string>{"?"});
    page.digits = {answer(1, {10, 12, 8, 20}), answer(2, {22, 8, 12, 20}), answer(3, {90, 10, 12, 20}),
                   answer(4, {12, 50, 12, 20}), answer(5, {40, 55, 12, 20})};
    page.digits[4].label.reset();
    page.digits[3].image.row = page.digits[4].image.row = 1;
    CHECK(page_lines(page) == std::vector<std::string>{"12 3", "4?"});
    page.digits[0].label = 26;  // of letters, say: no digit
    CHECK(page_lines(page) == std::vector<std::string>{"?2 3", "4?"});

    // Digits that are all far apart are not separate one-digit numbers.
    page.digits = {answer(1, {0, 0, 10, 20}), answer(2, {40, 2, 10, 20}), answer(3, {82, 1, 10, 20}),
                   answer(4, {0, 50, 10, 20}), answer(5, {40, 52, 10, 20})};
    page.digits[3].image.row = page.digits[4].image.row = 1;
    CHECK(page_lines(page) == std::vector<std::string>{"123", "45"});
}

TEST_CASE("numbers of a page are apart where a gap is clearly wider than the next smaller one") {
    // Digits 20 pixels high and 10 wide at these places; '-' and '.' are marks, 10 and 4 wide.
    const auto line = [](const std::string& letters, const std::vector<int>& places) {
        PictureAnswer page;
        for (std::size_t i = 0; i < letters.size(); ++i)
            if (letters[i] == '-')
                page.marks.push_back({'-', {places[i], 9, 10, 2}});
            else if (letters[i] == '.')
                page.marks.push_back({'.', {places[i], 18, 4, 4}});
            else
                page.digits.push_back(answer(letters[i] - '0', {places[i], 0, 10, 20}));
        return page_lines(page).at(0);
    };
    // One gap of three is within a number; that half of all gaps are wide does not make them usual.
    CHECK(line("1234", {0, 14, 54, 94}) == "12 3 4");
    CHECK(line("123456", {0, 40, 80, 94, 134, 174}) == "1 2 34 5 6");
    CHECK(line("123456", {0, 30, 62, 96, 132, 170}) ==
          "123456");  // wider and wider, but no two kinds of gaps
    // Evenly spaced digits are one number unless they are far apart.
    CHECK(line("111", {0, 74, 148}) == "111");
    CHECK(line("111", {0, 80, 160}) == "1 1 1");
    CHECK(line("12", {0, 80}) == "1 2");
    // A minus sign belongs to the number that it is near to, a dash in the middle to both.
    CHECK(line("5-3", {0, 25, 38}) == "5 -3");
    CHECK(line("8-34", {0, 26, 40, 90}) == "8 -3 4");
    CHECK(line("5-3", {0, 16, 32}) == "5-3");
    CHECK(line("5-3", {0, 14, 26}) == "5-3");
    CHECK(line("12.5", {0, 40, 52, 60}) == "1 2.5");
}

TEST_CASE("the digits of a page are counted in one way: those answered, then those rejected") {
    PictureAnswer page;
    CHECK(digits_text(page) == "no digits");
    page.digits = {answer(1, {0, 0, 10, 20}), answer(2, {40, 2, 10, 20}), answer(3, {82, 1, 10, 20})};
    CHECK(digits_text(page) == "3 digits");
    page.digits[0].label.reset();
    CHECK(digits_text(page) == "2 digits, 1 rejected");
    page.digits[1].label.reset();
    CHECK(digits_text(page) == "1 digit, 2 rejected");
    page.digits[2].label.reset();
    CHECK(digits_text(page) == "no digits, 3 rejected");
}

TEST_CASE("the explanation says how many neighbors it does not show") {
    const std::string all = "nearest training images: label, number, squared distance";
    CHECK(neighbors_heading(1, Method{.measure = {Metric::l2}}) == all);
    CHECK(neighbors_heading(20, Method{.measure = {Metric::l2}}) == all);
    CHECK(neighbors_heading(21, Method{.measure = {Metric::l2}}) == all + "; and 1 more");
    CHECK(neighbors_heading(1024, Method{.measure = {Metric::l2}}) == all + "; and 1,004 more");
}

TEST_CASE("the explanation says where neighbors were before re-ranking") {
    const Method accurate{.transform = {{{TransformKind::gradients, 0}}},
                          .rerank = {.kind = RerankKind::both}};
    CHECK(candidates_heading(96, accurate) ==
          "before re-ranking, of 96: label, number, squared distance of features");
    Answer answer;
    answer.candidates = {{10, 7}, {20, 5}, {30, 900}};
    CHECK(rank_before(answer, {1, 900}) == "was 3 of 3");
    CHECK(rank_before(answer, {1, 7}) == "was 1 of 3");
}
