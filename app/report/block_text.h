#pragma once
/// Digits as characters, for a terminal.

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/page.h"

namespace knn {

/// Characters for an image, each of which shows two pixels, one above the other: letters of increasing ink,
/// block characters, or block characters in 24 grays (escape codes for 256 colors).
enum class Blocks { ascii, unicode, color };

/// The lines of one image, 8-bit gray, rows × cols; if wider or higher than 56 pixels, it is reduced
/// first. A line has as many columns as the reduced image.
std::vector<std::string> block_lines(const std::uint8_t* gray, int rows, int cols, Blocks blocks);

/// Each digit of the gallery with its labels, votes and nearest neighbors. `found`: how many were selected
/// in all.
std::string block_text(const Evaluation& evaluation, const Gallery& gallery, std::int64_t found,
                       Blocks blocks);

}  // namespace knn
