#pragma once
/// Characters of UTF-8.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace knn {

struct Character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;
};

/// The first character of `text`, which must not be empty; 0 bytes if it is not UTF-8.
Character first_character(std::string_view text);

}  // namespace knn
