#pragma once
/// File names in a report: JSON is UTF-8, a file name may be any bytes.

#include <filesystem>
#include <string>

namespace knn {

/// The name with "%" and each byte that is not UTF-8 written as "%" and two hexadecimal digits: "100%25",
/// "caf%E9".
std::string report_path(const std::filesystem::path& file);

/// The name itself if it is UTF-8, else as `report_path` writes it.
std::string name_in_answers(const std::string& file);

/// The inverse of `report_path`.
std::filesystem::path path_in_report(const std::string& text);

}  // namespace knn
