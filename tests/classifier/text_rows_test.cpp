#include "classifier/picture_answers.h"

#include <doctest/doctest.h>

#include <string>

using knn::Answer;

namespace {

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
    knn::reject_text_rows(digits);
    return text_of(digits);
}

}  // namespace

TEST_CASE("text rows: a third of the marks, and three, make a row text") {
    CHECK(after("???123456") == "?????????");
    CHECK(after("???1234567") == "???1234567");
    CHECK(after("??1") == "??1");
    CHECK(after("???") == "???");
    CHECK(after("") == "");
}

TEST_CASE("text rows: each row by itself") {
    CHECK(after("123\n1???2\n45?") == "123\n?????\n45?");
    CHECK(after("??1\n??1") == "??1\n??1");
    std::vector<Answer> digits = page("1???2");
    knn::reject_text_rows(digits);
    CHECK(digits[0].reason == "in a row of text: 3 of its 5 marks are no digits");
    CHECK(digits[1].reason == "unlike");
}
