#pragma once
/// Forms that are drawn as training rows for pictures, beside MNIST's: of digits that MNIST has few of, such as a 1 with a base and
/// a 7 with a bar, and of letters and signs, whose label says that they are no digit. docs/classify.md has what they bring.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/core/dataset.h"
#include "data/synthetic/pen.h"

namespace knn {

/// The label of rows that are no digit.
inline constexpr std::uint8_t no_digit = 10;

struct DrawnForm {
    std::uint8_t label;   ///< 0 to 9, or no_digit
    const char* name;     ///< of what is no digit: "the letter A"
    int weight;           ///< how many rows, relative to others
    const char* strokes;  ///< points "xy", 00 to 99, y down; "xy!" breaks a curve; "/" lifts the pen
};

std::span<const DrawnForm> drawn_forms();
std::vector<Stroke> strokes_of(const DrawnForm& form);

/// All rows, form by form: the same bytes on every machine.
LabeledImages drawn_rows();
/// Null behind the last one.
const DrawnForm* form_of_row(std::int64_t row);
/// Another text where the rows are others.
std::string drawn_edition();

}  // namespace knn
