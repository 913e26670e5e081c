#pragma once
/// Converts any picture of a handwritten digit to a 28×28 image made the way MNIST was.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/core/names.h"
#include "data/picture/picture.h"

namespace knn {

/// Of DigitImage::refused: all pixels are alike.
inline constexpr const char* no_ink = "no ink found";

/// 28×28 pixels, 0 = background, 255 = ink at its strongest.
struct DigitImage {
    static constexpr int side = 28;
    using Pixels = std::array<std::uint8_t, std::size_t{side} * side>;
    Pixels pixels{};  ///< the longer side of the digit is 20 pixels, as in MNIST
    /// The same with 19; none if the picture was 28×28 like MNIST already. A long thin end of a stroke makes
    /// the rest of the digit too small or too large by that pixel.
    std::optional<Pixels> smaller;
    Box box;      ///< of the digit in the picture
    int row = 0;  ///< of a page, from the top
    /// Segmentation hypotheses for the same ink on a page, each as digits from the left, for digits that touch. The
    /// classifier chooses.
    std::vector<std::vector<DigitImage>> hypotheses;
    std::string
        refused;  ///< empty, or why there is no digit-like ink (`no_ink`); the pixels are then best effort
};

/// A minus sign '-' or a decimal point '.' of a page; a decimal comma is a point.
struct PageMark {
    char sign = '.';
    Box box;
    int row = 0;  ///< as DigitImage::row
};

/// A box of a form, in parts of the frame's width and height from its upper left corner: 0 to 1.
struct FormBox {
    double x = 0, y = 0, w = 1, h = 1;
    bool one_digit = false;  ///< all ink in it is one digit
};

/// What a form's boxes are relative to: the whole picture, the sheet of paper in it, or the largest frame of lines.
enum class FormFrame { picture, paper, lines };
template <>
inline constexpr std::array name_list<FormFrame>{"picture", "paper", "lines"};

/// An intermediate picture, for display.
struct Step {
    std::string name;
    Picture picture;
};

/// From now on OpenCV throws std::bad_alloc where memory is short, not an exception of its own, and starts no threads, for
/// which it would wait forever where the system has none (ulimit -v, -u). Before other threads begin.
void set_up_opencv();

// Both throw DataError, without the picture's name, if there are too many marks, and Interrupted if a stop is requested
// (data/file/transfer.h).

/// The one digit of a picture. `steps` (may be null) receives the input and the result of each step.
DigitImage extract_digit(const Picture& picture, std::vector<Step>* steps = nullptr);

/// The digits of a page in hypothesis order (rows from the top, each from the left); empty if there is no ink. Rows
/// may slope by up to 11 degrees. `marks` (may be null) receives the signs and points among them, by row from the left.
std::vector<DigitImage> extract_digits(const Picture& picture, std::vector<Step>* steps = nullptr,
                                       std::vector<PageMark>* marks = nullptr);

/// The digits in the boxes of a form, which may be photographed askew but not upside down; of each box from the left. `row` is the index
/// of the box. Throws DataError, too, where the picture has no such frame.
std::vector<DigitImage> extract_form(const Picture& picture, FormFrame frame, std::span<const FormBox> boxes,
                                     std::vector<Step>* steps = nullptr);

}  // namespace knn
