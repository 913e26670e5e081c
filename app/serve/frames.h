#pragma once
/// The two messages between the server and the process that decodes pictures, over a socket pair.

#include <cstdint>

namespace knn::web {

/// Followed by the bytes of the picture.
struct PictureFrame {
    std::uint64_t size = 0;
    std::uint64_t many = 0;
};

enum class Outcome : std::uint64_t {
    found,      ///< a message follows (digit_message.h)
    refused,    ///< the picture; the text of an error follows
    no_codecs,  ///< no picture can be read; the text of an error follows
};

struct AnswerFrame {
    std::uint64_t size = 0;
    Outcome outcome = Outcome::found;
};

/// More than the largest page needs.
inline constexpr std::uint64_t max_answer_bytes = 64 << 20;

}  // namespace knn::web
