#pragma once
/// The digits of a picture as bytes, which the process that decodes pictures sends.

#include <string>
#include <string_view>
#include <vector>

#include "data/picture/digit_image.h"

namespace knn::web {

/// A decoded picture: its size in pixels, upright, and what was found in it.
struct FoundDigits {
    int rows = 0, cols = 0;
    std::vector<DigitImage> digits;
};

std::string message_of(const FoundDigits& found);

/// The inverse. Throws DataError for any other bytes: the sender may be in the hands of a picture.
FoundDigits read_message(std::string_view message);

}  // namespace knn::web
