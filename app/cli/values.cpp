#include "app/cli/values.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "classifier/ranks.h"
#include "data/core/errors.h"
#include "data/core/format.h"

namespace fs = std::filesystem;

namespace knn {

std::int64_t parse_integer(std::string_view option, std::string_view text, std::int64_t low,
                           std::int64_t high) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool number = end != text.data() && end == text.data() + text.size();
    if (number && error == std::errc{} && value >= low && value <= high) return value;
    const std::string expected =
        high == unlimited && error != std::errc::result_out_of_range
            ? "expected a whole number of at least " + std::to_string(low)
            : "expected a whole number from " + std::to_string(low) + " to " + std::to_string(high);
    throw UsageError(as_given(option, text) + (number ? ": out of range; " : ": not a whole number; ") +
                     expected);
}

double parse_number(std::string_view option, std::string_view text, double low, double high,
                    std::string_view unit, std::string_view suffix) {
    double value = 0;
    const std::string_view digits =
        text.ends_with(suffix) ? text.substr(0, text.size() - suffix.size()) : std::string_view();
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool number = !digits.empty() && end == digits.data() + digits.size();
    if (number && error == std::errc{} && value >= low && value <= high) return value;
    throw UsageError(as_given(option, text) + (number ? ": out of range; " : ": not a number; ") +
                     "expected a number from " + shortest(low) + " to " + shortest(high) +
                     (unit.empty() ? "" : " ") + std::string(unit));
}

std::int64_t parse_size(std::string_view option, std::string_view text) {
    constexpr std::string_view units = "bkmgt";
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string unit = lower_case(text.substr(static_cast<std::size_t>(end - text.data())));
    const std::size_t power = unit.empty() ? 0 : units.find(unit[0]);
    const std::string_view rest = std::string_view(unit).substr(unit.empty() ? 0 : 1);
    const bool known = rest.empty() || (power > 0 && (rest == "b" || rest == "ib"));
    const bool too_large = error == std::errc::result_out_of_range;
    if (power == units.npos || !known || (error != std::errc{} && !too_large) || (value == 0 && !too_large))
        throw UsageError(as_given(option, text) +
                         ": no size; expected a number of bytes, or one with K, M, G or T, such as 500M");
    const std::size_t shift = 10 * power;
    const auto most = static_cast<std::uint64_t>(unlimited >> shift);
    return too_large || value > most ? unlimited : static_cast<std::int64_t>(value << shift);
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream words(text);
    return {std::istream_iterator<std::string>(words), {}};
}

std::size_t parse_name(std::string_view option, std::string_view text, std::span<const std::string> names) {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    throw UsageError(as_given(option, text) + ": unknown name; expected " + one_of(names) +
                     suggestion(text, names));
}

std::string parse_file_name(std::string_view option, std::string_view text) {
    if (text.empty()) throw UsageError(as_given(option, text) + ": empty; expected a name");
    return std::string(text);
}

std::string parse_input(std::string_view option, std::string_view text) {
    std::error_code none;
    if (fs::is_other(text, none) && started_job().size > 1)
        throw UsageError(as_given(option, text) +
                         ": is a pipe, which one rank alone can read; expected a file");
    return parse_file_name(option, text);
}

std::string parse_folder_name(std::string_view option, std::string_view text) {
    if (text == "-")
        throw UsageError(as_given(option, text) +
                         ": several files are written; expected the name of a folder");
    return parse_file_name(option, text);
}

bool is_no_file(const std::string& name) {
    std::error_code none;
    const fs::file_status status = fs::status(name, none);
    return fs::exists(status) && !fs::is_regular_file(status);
}

std::string parse_picture_file(std::string_view option, std::string_view text, std::string_view ending) {
    const std::string name = parse_file_name(option, text);
    if (has_ending(name, ending) || name == "-" || is_no_file(name)) return name;
    std::string form(ending.substr(1));
    std::transform(form.begin(), form.end(), form.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    throw UsageError(as_given(option, text) + ": the output is " + form + "; expected a name that ends in " +
                     std::string(ending));
}

std::string quoted_if_blank(std::string_view word) {
    const bool is_blank = word.find_first_not_of(' ') == word.npos;
    return is_blank ? '\'' + std::string(word) + '\'' : std::string(word);
}

std::string as_given(std::string_view option, std::string_view value) {
    return std::string(option) + " " + quoted_if_blank(value);
}

bool has_ending(std::string_view name, std::string_view ending) {
    return lower_case(name).ends_with(lower_case(ending));
}

std::string one_of(std::span<const std::string> names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
        text += names[i];
    }
    return text;
}

}  // namespace knn
