#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "data/core/names.h"
#include "data/vectors/csv.h"

namespace knn {

namespace {

using Text = std::string_view;

constexpr std::array<Text, 6> missing_values = {"na", "n/a", "nil", "none", "null", "missing"};

/// Whether a decimal number that no double holds is too large, not too small.
bool is_too_large(Text number) {
    const std::size_t e = std::min(number.find_first_of("eE"), number.size());
    std::int64_t exponent = 0;
    Text written = number.substr(std::min(e + 1, number.size()));
    if (written.starts_with('+')) written.remove_prefix(1);
    const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), exponent);
    if (error == std::errc::result_out_of_range) return !written.starts_with('-');
    const std::size_t point = std::min(number.find('.'), e);
    const std::size_t digit = std::min(number.find_first_of("123456789"), e);
    return exponent + static_cast<std::int64_t>(point) - static_cast<std::int64_t>(digit) > 0;
}

/// Code points of an underscore and of Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Indic, Thai, Japanese, Chinese and Korean
/// letters, without digits and signs beside them.
constexpr std::pair<std::uint32_t, std::uint32_t> letter_ranges[] = {
    {'A', 'Z'},       {'_', '_'},       {'a', 'z'},       {0xc0, 0xd6},    {0xd8, 0xf6},   {0xf8, 0x2af},
    {0x370, 0x481},   {0x48a, 0x587},   {0x5d0, 0x5ea},   {0x620, 0x64a},  {0x904, 0x939}, {0xe01, 0xe2e},
    {0x1e00, 0x1fff}, {0x3041, 0x30ff}, {0x3400, 0x9fff}, {0xac00, 0xd7a3}};

bool begins_with_letter(Text text) {
    return std::ranges::any_of(letter_ranges, [code = first_character(text).code](const auto& range) {
        return code >= range.first && code <= range.second;
    });
}

}  // namespace

std::size_t record_end(std::string_view text, std::size_t begin) {
    bool quoted = false;
    for (std::size_t at = begin;;) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        quoted ^= std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                             text.begin() + static_cast<std::ptrdiff_t>(end), '"') &
                  1;
        if (end == text.size()) return end;
        if (!quoted) return end + 1;
        at = end + 1;
    }
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() &&
           (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' || text.back() == '\n'))
        text.remove_suffix(1);
    return text;
}

bool CsvFields::next(Text& field, std::string& buffer) {
    Text start = rest_;
    while (!start.empty() && start[0] == ' ')
        start.remove_prefix(1);
    quoted_ = start.starts_with('"');
    if (quoted_) return next_quoted(start, field, buffer);
    const std::size_t end = rest_.find(delimiter_);
    field = trimmed(rest_.substr(0, end));
    pass(end);
    return true;
}

bool CsvFields::next_quoted(Text start, Text& field, std::string& buffer) {
    buffer.clear();
    std::size_t at = 1;
    for (;; at += 2) {
        const std::size_t quote = start.find('"', at);
        if (quote == start.npos) return false;
        buffer.append(start.substr(at, quote - at));
        at = quote;
        if (at + 1 == start.size() || start[at + 1] != '"') break;
        buffer += '"';
    }
    field = buffer;
    rest_ = start.substr(at + 1);
    const std::size_t end = rest_.find(delimiter_);
    if (!trimmed(rest_.substr(0, end)).empty()) return false;
    pass(end);
    return true;
}

void CsvFields::pass(std::size_t end) {
    more_ = end != rest_.npos;
    rest_.remove_prefix(more_ ? end + 1 : rest_.size());
}

ParsedReal parse_real(Text field, double& value) {
    if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (end != field.data() + field.size()) return ParsedReal::not_one;
    if (error == std::errc()) return ParsedReal::number;
    if (error != std::errc::result_out_of_range) return ParsedReal::not_one;
    if (is_too_large(field)) return ParsedReal::too_large;
    value = field.starts_with('-') ? -0.0 : 0.0;
    return ParsedReal::number;
}

bool is_number(Text field) {
    double value;
    return parse_real(field, value) == ParsedReal::number;
}

bool is_column_name(Text field) {
    if (field.empty() || is_number(field)) return false;
    return begins_with_letter(field) &&
           std::ranges::find(missing_values, lower_case(field)) == missing_values.end();
}

}  // namespace knn
