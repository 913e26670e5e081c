#include "data/core/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>

namespace knn {

namespace {

/// How many bytes the character has that `text` begins with; 0: it is a control character or no UTF-8.
std::size_t length_of_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80) return byte(0) < 0x20 || byte(0) == 0x7f ? 0 : 1;
    const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
    std::uint32_t code = byte(0) & (0x7fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
        code = code << 6 | (byte(i) & 0x3fu);
    }
    constexpr std::uint32_t least[] = {0xa0, 0x800, 0x10000};  // below 0xa0: controls again
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[length - 2] || surrogate || code > 0x10ffff ? 0 : length;
}

}  // namespace

std::string fixed(double value, int digits) {
    char text[400];  // the largest double has 309 digits before the point
    const auto result = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits);
    return {text, result.ptr};
}

std::string shortest(double value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string short_number(double value) {
    const double size = std::abs(value);
    if (size < 1e-4) return size > 0 ? "<0.0001" : "0";
    const int magnitude = static_cast<int>(std::floor(std::log10(size)));
    return fixed(value, std::clamp(2 - magnitude, 0, 4));
}

std::string percent(double share, int digits) {
    return fixed(share * 100, digits) + " %";
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
        const std::size_t length = length_of_character(text);
        result += length > 0 ? text.substr(0, length) : "?";
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return result;
}

std::string Table::text(std::size_t indent) const {
    std::vector<std::size_t> widths(columns_.size(), 0);
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows_) {
        std::string line(indent, ' ');
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space(widths[i] - row[i].size(), ' ');
            line += i > 0 ? "  " : "";
            line += columns_[i] == Align::left ? row[i] + space : space + row[i];
        }
        line.resize(line.find_last_not_of(' ') + 1);  // an empty row: npos + 1 = 0
        text += line + '\n';
    }
    return text;
}

}  // namespace knn
