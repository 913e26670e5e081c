#pragma once
/// The two messages between the server and the process that decodes pictures, over a socket pair.

#include <cstdint>

namespace knn::web {

/// Followed by the bytes of the picture.
struct PictureFrame {
    std::uint64_t size = 0;
    std::uint64_t many = 0;
};

/// Followed by a message (digit_message.h), or by the text of an error.
struct AnswerFrame {
    std::uint64_t size = 0;
    std::uint64_t failed = 0;
};

/// More than the largest page needs.
inline constexpr std::uint64_t max_answer_bytes = 64 << 20;

}  // namespace knn::web
