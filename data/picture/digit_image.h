#pragma once
/// Any picture of a handwritten digit to a 28×28 image made the way MNIST was.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/picture/picture.h"

namespace knn {

/// 28×28 pixels, 0 = background, 255 = ink at its strongest.
struct DigitImage {
    static constexpr int side = 28;
    using Pixels = std::array<std::uint8_t, side * side>;
    Pixels pixels{};  ///< the longer side of the digit is 20 pixels, as in MNIST
    /// The same with 19; none where the picture was 28×28 as it should be. A long thin end that reaches out
    /// of a digit makes the rest of it too small or too large by that pixel.
    std::optional<Pixels> smaller;
    Box box;              ///< of the digit in the picture
    std::string refused;  ///< empty, or why there is no digit-like ink here ("the picture is blank"); pixels
                          ///< then best effort
};

/// A picture on the way, for people to look at.
struct Step {
    std::string name;
    Picture picture;
};

/// The one digit of a picture. `steps` (may be null) gets the input and what each step made of it.
DigitImage extract_digit(const Picture& picture, std::vector<Step>* steps = nullptr);

/// The digits of a page in reading order (rows from the top, each from the left); empty where there is no
/// ink.
std::vector<DigitImage> extract_digits(const Picture& picture, std::vector<Step>* steps = nullptr);

}  // namespace knn
