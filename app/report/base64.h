#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace knn {

/// For data: addresses in a page.
std::string base64(const std::vector<std::uint8_t>& bytes);

}  // namespace knn
