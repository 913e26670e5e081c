#include "classifier/form.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

/// A digit in a box; rejected: none was found.
Answer in_box(int box, std::optional<int> label, double confidence = 0.9) {
    Answer answer;
    answer.image.row = box;
    answer.label = label;
    answer.confidence = confidence;
    return answer;
}

FieldAnswer read_one(FormField field, std::vector<Answer> digits) {
    Form form;
    form.boxes.resize(field.first_box + field.n_boxes);
    form.fields = {std::move(field)};
    return read_fields(form, digits).at(0);
}

}  // namespace

TEST_CASE("check digits: Luhn's and those of an IBAN") {
    // The number that ISO/IEC 7812 is usually explained by, and numbers for tests of payments.
    for (const char* right : {"79927398713", "4539578763621486", "6011000990139424", "0"})
        CHECK(has_checksum(right, Checksum::luhn));
    for (const char* wrong : {"79927398710", "4539578763621487", "97927398713", ""})
        CHECK_FALSE(has_checksum(wrong, Checksum::luhn));
    // GB82 WEST 1234 5698 7654 32, with the letters as numbers and the first four characters last.
    CHECK(has_checksum("3214282912345698765432161182", Checksum::mod97));
    CHECK_FALSE(has_checksum("3214282912345698765432161128", Checksum::mod97));
    CHECK_FALSE(has_checksum("", Checksum::mod97));
    CHECK(has_checksum("", Checksum::none));
}

TEST_CASE("a field: its digits, the boxes between them, and what makes it doubtful") {
    FormField comb;
    comb.first_box = 2;
    comb.n_boxes = 5;
    FieldAnswer answer = read_one(comb, {in_box(1, 9), in_box(3, 1), in_box(4, 2, 0.5), in_box(9, 9)});
    CHECK(answer.text == "12");
    CHECK(answer.confidence == doctest::Approx(0.45));
    CHECK(answer.doubt.empty());
    answer = read_one(comb, {in_box(2, 1), in_box(5, 2)});
    CHECK(answer.text == "1..2");
    CHECK(answer.doubt == "a box between digits is empty");
    answer = read_one(comb, {in_box(2, 1), in_box(3, std::nullopt)});
    CHECK(answer.text == "1?");
    CHECK(answer.doubt == "1 digit rejected");
    answer = read_one(comb, {});
    CHECK(answer.text.empty());
    CHECK(answer.doubt.empty());
    CHECK(answer.confidence == 0);

    FormField free;
    free.digits = 3;
    CHECK(read_one(free, {in_box(0, 1), in_box(0, 2)}).doubt == "2 digits; expected 3");
    CHECK(read_one(free, {}).doubt == "0 digits; expected 3");
    CHECK(read_one(free, {in_box(0, 1), in_box(0, 2), in_box(0, 3)}).doubt.empty());
    free.checksum = Checksum::luhn;
    CHECK(read_one(free, {in_box(0, 1), in_box(0, 2), in_box(0, 3)}).doubt == "the checksum (luhn) is wrong");
}

TEST_CASE("a field without boxes: digits above one another are no number, those of a sloped row are") {
    const auto at = [](int x, int y) {
        Answer digit = in_box(0, 1);
        digit.image.box = {x, y, 20, 40};
        return digit;
    };
    CHECK(read_one({}, {at(0, 0), at(30, 5), at(60, 10)}).doubt.empty());
    CHECK(read_one({}, {at(0, 0), at(200, 120)}).doubt.empty());  // far from each other, at 31 degrees
    CHECK(read_one({}, {at(0, 0), at(5, 60), at(30, 0)}).doubt == "its digits are not in one row");
    CHECK(read_one({}, {at(0, 60), at(5, 0)}).doubt == "its digits are not in one row");
}

TEST_CASE("a field: a digit that it does not allow is rejected") {
    Form form;
    form.boxes.resize(2);
    form.fields.resize(1);
    form.fields[0].n_boxes = 2;
    form.fields[0].allowed = "01";
    std::vector<Answer> digits = {in_box(0, 7), in_box(1, 1)};
    const FieldAnswer answer = read_fields(form, digits).at(0);
    CHECK(answer.text == "?1");
    CHECK_FALSE(digits[0].label);
    CHECK(digits[0].guess == 7);
    CHECK(digits[0].reason == "is none of the digits of the field: 01");
    CHECK(digits[1].label == 1);
}

TEST_CASE("a grid: a cell for each field, row by row") {
    const Form form = grid_form(2, 3);
    REQUIRE(form.fields.size() == 6);
    REQUIRE(form.boxes.size() == 6);
    CHECK(form.columns == 3);
    CHECK(form.boxes[5].x == doctest::Approx(2.0 / 3));
    CHECK(form.boxes[5].y == doctest::Approx(0.5));
    CHECK(form.boxes[5].one_digit);
    std::vector<Answer> digits = {in_box(1, 4), in_box(5, std::nullopt)};
    const std::vector<FieldAnswer> cells = read_fields(form, digits);
    CHECK(cells[0].text.empty());
    CHECK(cells[1].text == "4");
    CHECK(cells[5].text == "?");
}
