#pragma once
/// A method as a small text that people can read and edit: what `tune --save` writes and `--method FILE` reads.
///
///     mnist-knn method 1
///     # any comment
///     transform gradients
///     rerank none
///     candidates 96
///     metric l2
///     vote majority
///     k 5
///     weights uniform
///     tie smallest
///
/// One "NAME VALUE" a line, with the values of the options of the same names; every name once, in any order. `p` is
/// there with the metric lp alone. Lines that begin with '#' and empty lines mean nothing.

#include <string>
#include <string_view>

#include "classifier/method.h"

namespace knn {

/// The text of a method; `comment`: one line, or empty.
std::string method_text(const Method& method, std::string_view comment = {});

/// Reads it back. Throws DataError "FILE: line N: what is wrong; what was expected".
Method parse_method_text(std::string_view text, const std::string& file);

/// No method needs more.
inline constexpr std::size_t max_method_bytes = 64 << 10;

}  // namespace knn
