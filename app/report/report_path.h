#pragma once
/// Names of files in a report: JSON holds UTF-8 alone, a file's name may be any bytes.

#include <filesystem>
#include <string>

namespace knn {

/// The name with "%" and each byte that is no UTF-8 as "%" and two hexadecimal digits: "100%25", "caf%E9".
std::string report_path(const std::filesystem::path& file);

/// The file that `report_path` gave this name.
std::filesystem::path path_in_report(const std::string& text);

}  // namespace knn
