#include "data/core/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <istream>
#include <iterator>

namespace knn {

namespace {

/// Control characters, line and paragraph separators, the blank of Braille, and Unicode's Default_Ignorable_Code_Point: all that
/// shows nothing, or changes how its surroundings are shown, such as writing direction (U+202E), fillers, selectors and tags.
bool is_invisible(std::uint32_t code) {
    constexpr std::pair<std::uint32_t, std::uint32_t> ranges[] = {
        {0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},
        {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
        {0x2060, 0x206f}, {0x2800, 0x2800}, {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
        {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [&](const auto& range) { return code >= range.first && code <= range.second; });
}

}  // namespace

std::size_t characters_of(std::string_view text) {
    const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; };
    return static_cast<std::size_t>(std::ranges::count_if(text, begins));
}

Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80) return {byte(0), 1};
    const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return {};
    std::uint32_t code = byte(0) & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        code = code << 6 | (byte(i) & 0x3fu);
    }
    constexpr std::uint32_t least[] = {0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (code < least[length - 2] || surrogate || code > 0x10ffff) return {};
    return {code, length};
}

std::size_t visible_length(std::string_view text) {
    const auto [code, bytes] = first_character(text);
    return is_invisible(code) ? 0 : bytes;
}

std::string fixed(double value, int digits) {
    char text[400];  // the largest double has 309 digits before the point
    const auto result = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits);
    return {text, result.ptr};
}

std::string shortest(double value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

double shortest_number(float value) {
    char text[32];
    const char* const end = std::to_chars(text, text + sizeof text, value).ptr;
    double read = 0;
    std::from_chars(text, end, read);
    return read;
}

double with_digits(double value, int digits) {
    char text[64];
    const char* end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr;
    double read = 0;
    std::from_chars(text, end, read);
    return read;
}

std::string short_number(double value) {
    const double size = std::abs(value);
    if (size < 1e-4) return size > 0 ? "<0.0001" : "0";
    const int magnitude = static_cast<int>(std::floor(std::log10(size)));
    return fixed(value, std::clamp(2 - magnitude, 0, 4));
}

std::string percent(double share, int digits) {
    const std::string text = fixed(share * 100, digits);
    if (share >= 1 || text != fixed(100, digits)) return text + " %";
    return digits < 1 ? percent(share, 1) : "> " + fixed(100 - std::pow(10.0, -digits), digits) + " %";
}

std::string short_percent(double share) {
    std::string text = percent(share, 0);
    std::erase(text, ' ');
    return text;
}

std::string with_commas(std::int64_t number) {
    const std::string digits = std::to_string(number);
    std::string result;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) result += ',';
        result += digits[i];
    }
    return result;
}

std::string gibibytes(std::int64_t bytes) {
    return fixed(static_cast<double>(bytes) / (1 << 30), 1) + " GiB";
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts = {};
    gmtime_r(&now, &parts);
    char text[sizeof "2000-01-01T00:00:00Z" + 8];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string harmless(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const auto [code, bytes] = first_character(text);
        result += bytes > 0 && !is_invisible(code) ? text.substr(0, bytes) : "?";
        text.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return result;
}

bool next_line(std::istream& stream, std::string& line, bool first) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (!std::getline(stream, line)) return false;
    if (line.ends_with('\r')) line.pop_back();
    if (first && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    return true;
}

std::string Table::text(std::size_t indent) const {
    std::vector<std::size_t> widths(columns_.size(), 0);
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], characters_of(row[i]));
    std::string text;
    for (const auto& row : rows_) {
        std::string line(indent, ' ');
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space(widths[i] - characters_of(row[i]), ' ');
            line += i > 0 ? "  " : "";
            line += columns_[i] == Align::left ? row[i] + space : space + row[i];
        }
        line.resize(line.find_last_not_of(' ') + 1);  // an empty row: npos + 1 = 0
        text += line + '\n';
    }
    return text;
}

}  // namespace knn
