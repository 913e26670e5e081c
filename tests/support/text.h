#pragma once
/// Parts of texts.

#include <string>
#include <string_view>

namespace knn::test {

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

/// The bytes of base64.
inline std::string from_base64(const std::string& text) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    unsigned bits = 0, held = 0;
    for (const char letter : text.substr(0, text.find('='))) {
        bits = bits << 6 | static_cast<unsigned>(digits.find(letter));
        if ((held += 6) >= 8) bytes += static_cast<char>(bits >> (held -= 8));
    }
    return bytes;
}

}  // namespace knn::test
