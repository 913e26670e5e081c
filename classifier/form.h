#pragma once
/// Forms and grids: fields with names, whose digits are in boxes and follow rules.

#include <cstddef>
#include <string>
#include <vector>

#include "classifier/picture_answers.h"

namespace knn {

/// Of the digits of a field, the last ones being check digits.
enum class Checksum { none, luhn, mod97 };
template <>
inline constexpr std::array name_list<Checksum>{"none", "luhn", "mod97"};

struct FormField {
    std::string name;
    std::size_t first_box = 0, n_boxes = 1;  ///< of Form::boxes; several: one digit in each
    int digits = 0;                          ///< how many there must be; 0: any number
    std::string allowed = "0123456789";
    Checksum checksum = Checksum::none;
};

struct Form {
    FormFrame frame = FormFrame::paper;
    std::vector<FormBox> boxes;
    std::vector<FormField> fields;
    int columns = 0;  ///< of a grid, whose fields have no names; 0: it is none
};

/// A frame of lines with rows × columns cells, such as a sudoku, with a digit in each or none.
Form grid_form(int rows, int columns);

/// Whether digits have the right check digits: Luhn's (ISO/IEC 7812), or the whole number is 1 modulo 97 (ISO 7064, MOD 97-10).
bool has_checksum(std::string_view digits, Checksum checksum);

/// The answers of the boxes, which are the rows of `digits`. Digits that a field does not allow are rejected. One for each field.
std::vector<FieldAnswer> read_fields(const Form& form, std::vector<Answer>& digits);

}  // namespace knn
