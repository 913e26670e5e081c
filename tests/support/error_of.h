#pragma once
/// Texts to compare with what is expected: errors, and parts of texts.

#include <doctest/doctest.h>
#include <string>
#include <string_view>

namespace knn::test {

/// What `work` throws as an `Error`, which must be one line; empty if it throws nothing.
template <class Error, class Work>
std::string error_of(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        const std::string text = error.what();
        CHECK(text.find('\n') == std::string::npos);
        return text;
    }
    return "";
}

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
