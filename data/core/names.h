#pragma once
/// Names of the values of an enum, as users type them and files contain them. The table is next to the enum:
///
///   enum class Tie { smallest, nearest };
///   template <> inline constexpr std::array name_list<Tie>{"smallest", "nearest"};

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace knn {

/// One name per value, in the order of the values, which start at 0.
template <class Enum>
inline constexpr std::array<const char*, 0> name_list = {};

template <class Enum>
constexpr const char* name(Enum value) {
    return name_list<Enum>.at(static_cast<std::size_t>(value));
}

/// Empty if no value has this name.
template <class Enum>
constexpr std::optional<Enum> named(std::string_view text) {
    constexpr auto& list = name_list<Enum>;
    const auto found = std::find(list.begin(), list.end(), text);
    if (found == list.end()) return std::nullopt;
    return static_cast<Enum>(found - list.begin());
}

/// The row of a table whose field `name` is this text; null if there is none.
template <class Table>
auto* row_named(Table&& table, std::string_view text) {
    const auto found = std::ranges::find_if(table, [&](const auto& row) { return row.name == text; });
    return found != std::ranges::end(table) ? &*found : nullptr;
}

/// A to Z as small letters; other bytes stay.
std::string lower_case(std::string_view text);

/// The name that was probably meant: the one with the smallest edit distance (swaps count once), below a third of its
/// length, or one that begins with `text`; capitals count as small letters. Empty if none is near.
std::string nearest_name(std::string_view text, std::span<const std::string> names);

/// " (did you mean NAME?)" of the nearest, or nothing.
std::string suggestion(std::string_view text, std::span<const std::string> names);
template <class Enum>
std::string suggestion(std::string_view text) {
    const auto& list = name_list<Enum>;
    return suggestion(text, std::vector<std::string>(list.begin(), list.end()));
}

}  // namespace knn
