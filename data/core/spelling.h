#pragma once
/// Suggestions for misspelled names.

#include <span>
#include <string>
#include <string_view>

namespace knn {

/// A to Z as small letters; other bytes stay.
std::string lower_case(std::string_view text);

/// The name that was probably meant: the one with the smallest edit distance (swaps count once), below a third of its
/// length, or one that begins with `text`; capitals count as small letters. Empty if none is near.
std::string nearest_name(std::string_view text, std::span<const std::string> names);

}  // namespace knn
