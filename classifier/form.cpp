#include "classifier/form.h"

#include <algorithm>
#include <cstdlib>

#include "data/core/format.h"

namespace knn {

namespace {

constexpr char empty_box = '.';

bool is_luhn(std::string_view digits) {
    int sum = 0;
    bool doubled = false;
    for (auto at = digits.rbegin(); at != digits.rend(); ++at, doubled = !doubled) {
        const int digit = (*at - '0') * (doubled ? 2 : 1);
        sum += digit > 9 ? digit - 9 : digit;
    }
    return sum % 10 == 0;
}

int modulo97(std::string_view digits) {
    int rest = 0;
    for (const char digit : digits)
        rest = (rest * 10 + digit - '0') % 97;
    return rest;
}

/// Whether each of the digits of a box is beside the one before, not above or below it. A form is turned by less than 45 degrees.
bool are_one_row(std::span<const Answer> digits) {
    const auto is_above = [](const Box& one, const Box& other) {
        return one.y + one.h <= other.y &&
               std::abs(2 * (other.x - one.x) + other.w - one.w) < 2 * (other.y - one.y) + other.h - one.h;
    };
    for (std::size_t i = 1; i < digits.size(); ++i) {
        const Box &one = digits[i - 1].image.box, &other = digits[i].image.box;
        if (is_above(one, other) || is_above(other, one)) return false;
    }
    return true;
}

/// Why not all of it is certain; empty if it is.
std::string doubt_about(const FormField& field, std::string_view text, std::int64_t rejected,
                        std::span<const Answer> digits) {
    if (field.n_boxes == 1 && !are_one_row(digits)) return "its digits are not in one row";
    if (rejected > 0) return std::to_string(rejected) + ' ' + noun(rejected, "digit") + " rejected";
    if (text.find(empty_box) != text.npos) return "a box between digits is empty";
    if (field.digits > 0 && std::ssize(text) != field.digits)
        return std::to_string(text.size()) + ' ' + noun(std::ssize(text), "digit") + "; expected " +
               std::to_string(field.digits);
    if (field.checksum != Checksum::none && !has_checksum(text, field.checksum))
        return std::string("the checksum (") + name(field.checksum) + ") is wrong";
    return "";
}

FieldAnswer read_field(const FormField& field, std::span<Answer> digits) {
    FieldAnswer answer;
    answer.name = field.name;
    answer.confidence = 1;
    std::int64_t rejected = 0;
    std::string text(field.n_boxes > 1 ? field.n_boxes : 0, empty_box);
    for (Answer& digit : digits) {
        if (digit.label && field.allowed.find(char('0' + *digit.label)) == std::string::npos) {
            digit.guess = digit.label;
            digit.label.reset();
            digit.reason = "is none of the digits of the field: " + field.allowed;
        }
        const char symbol = digit.label ? char('0' + *digit.label) : '?';
        rejected += !digit.label;
        answer.confidence *= digit.confidence;
        if (field.n_boxes > 1)
            text[static_cast<std::size_t>(digit.image.row) - field.first_box] = symbol;
        else
            text += symbol;
    }
    // A number need not fill its boxes.
    const std::size_t first = text.find_first_not_of(empty_box), last = text.find_last_not_of(empty_box);
    if (first != text.npos) answer.text = text.substr(first, last + 1 - first);
    if (answer.text.empty()) answer.confidence = 0;
    answer.doubt = doubt_about(field, answer.text, rejected, digits);
    return answer;
}

}  // namespace

Form grid_form(int rows, int columns) {
    Form form;
    form.frame = FormFrame::lines;
    form.columns = columns;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
            form.fields.emplace_back().first_box = form.boxes.size();
            form.boxes.push_back(
                {double(column) / columns, double(row) / rows, 1.0 / columns, 1.0 / rows, true});
        }
    return form;
}

bool has_checksum(std::string_view digits, Checksum checksum) {
    if (checksum == Checksum::luhn) return !digits.empty() && is_luhn(digits);
    return checksum == Checksum::none || modulo97(digits) == 1;
}

std::vector<FieldAnswer> read_fields(const Form& form, std::vector<Answer>& digits) {
    std::vector<FieldAnswer> answers;
    for (const FormField& field : form.fields) {
        const auto box = [](const Answer& digit) { return static_cast<std::size_t>(digit.image.row); };
        const auto begin = std::ranges::lower_bound(digits, field.first_box, {}, box);
        const auto end = std::ranges::lower_bound(digits, field.first_box + field.n_boxes, {}, box);
        answers.push_back(read_field(field, {begin, end}));
    }
    return answers;
}

}  // namespace knn
