#pragma once
/// Reads the values of options, and suggests the probable name for a wrong one.

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/core/names.h"

namespace knn {

inline constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// A whole number from `low` to `high`, which may be `unlimited`. Throws UsageError "OPTION TEXT: ...;
/// expected ...".
std::int64_t parse_integer(std::string_view option, std::string_view text, std::int64_t low,
                           std::int64_t high);

/// A number from `low` to `high`, with a point or without, then `suffix`; `unit` names what it counts, for the
/// message. Throws UsageError as parse_integer does.
double parse_number(std::string_view option, std::string_view text, double low, double high,
                    std::string_view unit = {}, std::string_view suffix = {});

/// Bytes: a whole number of at least 1, or one with K, M, G or T for 2^10, 2^20, 2^30, 2^40, also as KB or KiB; more than any
/// memory is `unlimited`. Throws UsageError as parse_integer does.
std::int64_t parse_size(std::string_view option, std::string_view text);

/// The field `name` of each row of a table: of engines, kernels, methods or commands.
template <class Table>
std::vector<std::string> names_of(const Table& table) {
    std::vector<std::string> names;
    for (const auto& row : table)
        names.emplace_back(row.name);
    return names;
}

/// The words of a text, which blanks separate.
std::vector<std::string> words_of(const std::string& text);

/// The index of `text` in `names`. Throws UsageError that lists them.
std::size_t parse_name(std::string_view option, std::string_view text, std::span<const std::string> names);

/// The name of a file, not empty; of one that is read, no pipe where several ranks read it; of a folder, not "-". Throw UsageError.
std::string parse_file_name(std::string_view option, std::string_view text);
std::string parse_input(std::string_view option, std::string_view text);
std::string parse_folder_name(std::string_view option, std::string_view text);

/// The name of a picture to be written, with this ending, such as ".png"; capitals count as small letters. Devices, pipes
/// and "-" need no ending. Throws UsageError.
std::string parse_picture_file(std::string_view option, std::string_view text, std::string_view ending);

/// Whether something of this name exists that is no regular file: a folder, a device, a pipe.
bool is_no_file(const std::string& name);

/// A word of the command line as errors name it: in quotes if it is empty or blanks.
std::string quoted_if_blank(std::string_view word);

/// "OPTION VALUE", as errors begin.
std::string as_given(std::string_view option, std::string_view value);

/// Whether a file's name has this ending, in small letters or capitals.
bool has_ending(std::string_view name, std::string_view ending);

/// "a", "a or b", "a, b or c".
std::string one_of(std::span<const std::string> names);

}  // namespace knn
