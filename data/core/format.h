#pragma once
/// Numbers, words and tables as text, the same in every locale.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace knn {

/// With `digits` digits after the point.
std::string fixed(double value, int digits);

/// The shortest form that identifies this double: "3", "0.5".
std::string shortest(double value);
/// The number in the shortest form that identifies this float, as files have it.
double shortest_number(float value);

/// The number rounded to so many significant digits.
double with_digits(double value, int digits);

/// Three significant digits, without an exponent: "0.0123", "1.23", "12.3", "1234".
std::string short_number(double value);

/// A share of 1 as "96.88 %". Less than all is never rounded up to 100 %: it has one digit more, or is "> 99.9 %".
std::string percent(double share, int digits = 2);

/// A probability where there is little room: "97%", ">99.9%".
std::string short_percent(double share);

/// "1,234,567".
std::string with_commas(std::int64_t number);

/// "139.8 GiB".
std::string gibibytes(std::int64_t bytes);

/// The current time as ISO 8601: "2000-01-01T00:00:00Z".
std::string utc_now();

/// "image" for 1, else "images"; "class", "classes"; "query", "queries".
inline std::string noun(std::int64_t count, const std::string& one) {
    if (count == 1) return one;
    if (one.ends_with('y')) return one.substr(0, one.size() - 1) + "ies";
    return one + (one.ends_with('s') ? "es" : "s");
}

/// "1,234 images", "1 image".
inline std::string counted(std::int64_t count, const std::string& one) {
    return with_commas(count) + ' ' + noun(count, one);
}

/// The texts of a list with the separator between them.
template <class List, class TextOf = std::identity>
std::string joined(const List& list, const TextOf& text_of = {}, const char* separator = ", ") {
    std::string all;
    for (const auto& one : list)
        all.append(all.empty() ? "" : separator).append(std::invoke(text_of, one));
    return all;
}

/// The number that all of the text is; nothing if it is none of this type.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && last == end ? std::optional(number) : std::nullopt;
}

/// A character of UTF-8.
struct Character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;
};

/// The first character of `text`, which must not be empty; 0 bytes if it is not UTF-8.
Character first_character(std::string_view text);

/// Number of bytes of the first character; 0 if it is not UTF-8, or would be a question mark in `harmless` text. `text` must
/// not be empty.
std::size_t visible_length(std::string_view text);

/// Characters of UTF-8, not bytes: names may be in any script.
std::size_t characters_of(std::string_view text);

/// Safe for one line on a terminal: control characters, invisible ones that change the writing direction, and
/// bytes that are not UTF-8 become question marks. File names may contain anything.
std::string harmless(std::string_view text);

/// Reads a line, which ends with LF or CRLF, without its end; the first also without a byte order mark. Returns whether there was
/// one.
bool next_line(std::istream& stream, std::string& line, bool first = false);

/// Alignment of a cell in its column.
enum class Align { left, right };

/// Cells in columns that are as wide as their widest cell, two spaces apart.
class Table {
  public:
    explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// Each row indented by `indent` spaces, without trailing spaces.
    std::string text(std::size_t indent = 2) const;

  private:
    std::vector<Align> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace knn
