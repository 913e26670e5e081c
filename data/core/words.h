#pragma once
/// Words that depend on numbers.

#include <cstdint>
#include <string>

namespace knn {

/// "image" for 1, else "images"; "class", "classes".
inline std::string noun(std::int64_t count, const std::string& one) {
    return count == 1 ? one : one + (one.ends_with('s') ? "es" : "s");
}

}  // namespace knn
