#include "classifier/text_rows.h"

#include <algorithm>
#include <string>

namespace knn {

namespace {

constexpr std::ptrdiff_t min_rejected = 3;
constexpr std::ptrdiff_t max_marks_per_rejected = 3;

}  // namespace

void reject_text_rows(std::vector<Answer>& digits) {
    for (auto begin = digits.begin(); begin != digits.end();) {
        const auto end = std::find_if(
            begin, digits.end(), [&](const Answer& digit) { return digit.image.row != begin->image.row; });
        const auto rejected =
            std::count_if(begin, end, [](const Answer& digit) { return !digit.label.has_value(); });
        const auto marks = end - begin;
        const bool is_text = rejected >= min_rejected && marks <= max_marks_per_rejected * rejected;
        for (; begin != end; ++begin) {
            if (!is_text || !begin->label) continue;
            begin->guess = begin->label;
            begin->label.reset();
            begin->reason = "in a row of text: " + std::to_string(rejected) + " of its " +
                            std::to_string(marks) + " marks are no digits";
        }
    }
}

}  // namespace knn
