#pragma once
/// The picture in the window of `view`, by OpenCV. A build without it links scene_none.cpp, which throws.

#include <cstdint>
#include <vector>

#include "app/view/viewer.h"

namespace knn {

/// rows × cols contiguous pixels of 8-bit blue, green, red.
struct Frame {
    int rows = 0, cols = 0;
    std::vector<std::uint8_t> bgr;
};

/// The digit enlarged, its labels and votes, its neighbors, the position in the list, keys, help and message.
Frame draw_scene(const Evaluation& evaluation, const Viewer& viewer);

/// The same as a PNG to save: without keys, help and message.
std::vector<std::uint8_t> scene_png(const Evaluation& evaluation, const Viewer& viewer);

}  // namespace knn
