#pragma once

#include <cstddef>
#include <string>

namespace knn {

/// The whole content of a small file; "-" is standard input. Waits for a pipe's writer. `expected`: what the file should
/// be, for the message: "a report.json". Throws DataError ("FILE: no such file; expected ..."), also where there are more
/// than `max_bytes`, and Interrupted.
std::string read_text(const std::string& file, std::size_t max_bytes, const std::string& expected);

}  // namespace knn
