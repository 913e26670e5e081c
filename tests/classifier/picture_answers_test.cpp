#include "classifier/picture_answers.h"

#include "classifier/extra_rows.h"
#include "data/synthetic/synthetic.h"
#include "tests/support/test.h"

using knn::Answer;
using knn::Measure;
using knn::Neighbor;

namespace {

const std::vector<std::uint8_t> two_labels = {1, 8};

/// An answer whose neighbor, training image `index`, is `distance` away.
Answer answer(std::uint32_t index, std::uint32_t distance, int width = 10) {
    Answer result;
    result.image.box = {0, 0, width, 10};
    Neighbor neighbor;
    neighbor.index = index;
    neighbor.distance = distance * distance;
    result.neighbors = {neighbor};
    result.label = two_labels[index];
    return result;
}

/// The usual distances: 100 for a 1, 300 for an 8.
knn::TypicalDistances typical() {
    knn::LeaveOneOut sample(2);
    sample[0].distance = 100, sample[0].nearest_label = 1;
    sample[1].distance = 300, sample[1].nearest_label = 8;
    return knn::typical_distances(sample);
}

std::size_t chosen(Answer whole, std::vector<std::vector<Answer>> hypotheses) {
    whole.hypotheses = std::move(hypotheses);
    std::vector<Answer> digits = {std::move(whole)};
    knn::choose_hypotheses(digits, two_labels, Measure{}, typical());
    for (const Answer& digit : digits)
        CHECK(digit.hypotheses.empty());
    return digits.size();
}

/// One character per mark: ? is rejected; a new line begins a row.
std::vector<Answer> page(const std::string& text) {
    std::vector<Answer> digits;
    int row = 0;
    for (const char mark : text) {
        if (mark == '\n') {
            ++row;
            continue;
        }
        Answer& digit = digits.emplace_back();
        digit.image.row = row;
        if (mark == '?')
            digit.reason = "unlike";
        else
            digit.label = mark - '0';
    }
    return digits;
}

std::string text_of(const std::vector<Answer>& digits) {
    std::string text;
    for (const Answer& digit : digits) {
        if (&digit != digits.data() && digit.image.row != (&digit - 1)->image.row) text += '\n';
        CHECK(digit.reason.empty() == digit.label.has_value());
        text += digit.label ? std::to_string(*digit.label) : "?";
    }
    return text;
}

std::string after(const std::string& text) {
    std::vector<Answer> digits = page(text);
    knn::judge_rows(digits);
    return text_of(digits);
}

}  // namespace

TEST_CASE("hypotheses: distances count in units of what is usual for the label") {
    CHECK(typical()[1] == doctest::Approx(100));
    CHECK(typical()[8] == doctest::Approx(300));
    CHECK(typical()[5] == 1);
    // 600 is twice as far as usual for an 8, and 200 for a 1.
    CHECK(chosen(answer(1, 600, 14), {{answer(0, 100), answer(0, 100)}}) == 2);
    CHECK(chosen(answer(1, 600, 14), {{answer(0, 300), answer(0, 300)}}) == 1);
}

TEST_CASE("hypotheses: ink hardly stranger than usual is one digit unless it is wide") {
    CHECK(chosen(answer(1, 450, 10), {{answer(0, 10), answer(0, 10)}}) == 1);
    CHECK(chosen(answer(1, 450, 13), {{answer(0, 10), answer(0, 10)}}) == 2);
}

TEST_CASE("hypotheses: one near digit does not make up for a strange one, and the best hypothesis is taken") {
    CHECK(chosen(answer(1, 600, 10), {{answer(0, 20), answer(0, 300)}}) == 1);
    CHECK(chosen(answer(1, 900, 16),
                 {{answer(0, 90), answer(0, 90)}, {answer(0, 50), answer(0, 50), answer(0, 50)}}) == 3);
}

TEST_CASE("hypotheses: every image is moved to an answer of its own") {
    std::vector<Answer> digits(1);
    digits[0].image.hypotheses = {{knn::DigitImage{}, knn::DigitImage{}}, {knn::DigitImage{}}};
    digits[0].image.hypotheses[1][0].pixels[5] = 7;
    knn::expand_hypotheses(digits);
    REQUIRE(digits[0].hypotheses.size() == 2);
    CHECK(digits[0].hypotheses[0].size() == 2);
    CHECK(digits[0].hypotheses[1][0].image.pixels[5] == 7);
    CHECK(digits[0].image.hypotheses.empty());
}

TEST_CASE("text rows: half of the marks, and three, make a row text") {
    CHECK(after("???123") == "??????");
    CHECK(after("???1234") == "???1234");
    CHECK(after("??1") == "??1");
    CHECK(after("???") == "???");
    CHECK(after("") == "");
}

TEST_CASE("text rows: each row by itself") {
    CHECK(after("123\n1???2\n45?") == "123\n?????\n45?");
    CHECK(after("??1\n??1") == "??1\n??1");
    std::vector<Answer> digits = page("1???2");
    knn::judge_rows(digits);
    CHECK(digits[0].reason == "in a row of text: 3 of its 5 marks are not digits");
    CHECK(digits[1].reason == "unlike");
}

TEST_CASE("rows of numbers: the narrowly rejected is accepted where at most a fifth of the row is rejected") {
    for (const bool narrowly : {false, true})
        for (const std::string text : {"1234?", "123?"}) {
            std::vector<Answer> digits = page(text);
            digits.back().guess = 6;
            digits.back().narrowly = narrowly;
            knn::judge_rows(digits);
            CHECK(text_of(digits) == (narrowly && text.size() == 5 ? "12346" : text));
            CHECK(digits.back().guess.has_value() != digits.back().label.has_value());
        }
}

TEST_CASE("pages: what is doubtful gets the label of what is like it among the sure digits of its page") {
    using namespace knn;
    const Dataset set = synthetic_digits({.n_train = 400, .n_test = 100});
    const Training all{set.train.images(), set.train.labels.span(), set.train.shape()};
    const auto begin = [&](std::int64_t first, std::size_t count) {
        return Training{Rows{all.rows.row(first), std::int64_t(count), 784},
                        all.labels.subspan(std::size_t(first), count), all.shape};
    };
    const Method& method = methods()[2].method;  // accurate
    REQUIRE(ExtraRows::suit(method));
    const Index index(TrainingSet(begin(0, 300)), method,
                      resolve_on_cpu(method.problem(begin(0, 300), 1), 1));
    const ExtraRows extra(index, TrainingSet(begin(300, 100)), {});
    const AnswerScorer scorer(index, {}, &extra);
    // A writer whose `form` means another digit than in the training set, five times; and one whose answer is doubtful.
    const Rows queries = set.test.images();
    const int usual = set.test.labels.span()[0], own = (usual + 1) % 10;
    const auto answers = [&](int sure, double usual_share, const AnswerScorer& by) {
        std::vector<Answer> digits(std::size_t(sure) + 1);
        for (Answer& digit : digits) {
            std::copy_n(queries.row(0), 784, digit.image.pixels.begin());
            digit.label = own, digit.confidence = digit.p_value = 1;
        }
        digits.back().label = usual, digits.back().p_value = usual_share;
        compare_within_page(index, by, digits, {});
        return digits;
    };
    const Answer compared = answers(5, 0.01, scorer).back();
    CHECK(compared.label == own);
    CHECK(compared.vote_share > 0);                                          // of the votes for that label
    CHECK(answers(5, 0.2, scorer).back().label == usual);                    // not doubtful
    CHECK(answers(4, 0.01, scorer).back().label == usual);                   // too few to know the hand
    CHECK(answers(5, 0.01, AnswerScorer(index, {})).back().label == usual);  // no rows vote beside this set
    // What was narrowly rejected stays rejected, with another guess; what is like a letter stays as it is.
    for (const bool narrowly : {true, false}) {
        std::vector<Answer> digits = answers(5, 1, scorer);
        Answer& last = digits.back();
        last.guess = std::exchange(last.label, {}), last.p_value = 0.01, last.narrowly = narrowly;
        compare_within_page(index, scorer, digits, {});
        CHECK_FALSE(last.label);
        CHECK(last.guess == (narrowly ? own : usual));
    }
}

TEST_CASE("sizes: the smaller one is kept where its neighbors are clearly nearer") {
    std::vector<knn::DigitImage> images(3);
    for (knn::DigitImage& image : images)
        image.pixels.fill(1);
    images[0].smaller.emplace().fill(2);
    images[2].smaller.emplace().fill(3);
    std::vector<knn::DigitImage*> digits = {&images[0], &images[1], &images[2]};
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
    for (const knn::DigitImage& image : images)
        CHECK(!image.smaller);
}
