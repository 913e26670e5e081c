#pragma once
/// The messages between the server and the process that decodes pictures, over a socket pair; the digits of a picture as bytes.

#include <cstdint>
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

/// To the process, followed by the bytes of the picture.
struct PictureFrame {
    std::uint64_t size = 0;
    std::uint64_t many = 0;
};

enum class Outcome : std::uint64_t {
    found,      ///< a message follows
    refused,    ///< the picture; the text of an error follows
    no_codecs,  ///< no picture can be read; the text of an error follows
};

/// From it, followed by what the outcome says.
struct AnswerFrame {
    std::uint64_t size = 0;
    Outcome outcome = Outcome::found;
};

/// More than the largest page needs.
inline constexpr std::uint64_t max_answer_bytes = 64 << 20;

}  // namespace knn::web
