#pragma once
/// Names of the values of an enum, as users type them and files contain them. The table is next to the enum:
///
///   enum class Tie { smallest, nearest };
///   template <> struct Names<Tie> { static constexpr std::array list{"smallest", "nearest"}; };

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace knn {

template <class Enum>
struct Names;  ///< `list`: one name per value, in the order of the values, which start at 0

template <class Enum>
constexpr const char* name(Enum value) {
    return Names<Enum>::list.at(static_cast<std::size_t>(value));
}

/// Empty if no value has this name.
template <class Enum>
constexpr std::optional<Enum> named(std::string_view text) {
    const auto& list = Names<Enum>::list;
    const auto found = std::find(list.begin(), list.end(), text);
    if (found == list.end()) return std::nullopt;
    return static_cast<Enum>(found - list.begin());
}

}  // namespace knn
