#pragma once
/// The window of `view`.

#include <vector>

#include "classifier/evaluation.h"

namespace knn {

/// Throws DeviceError if no window can be opened, DataError if the build or the installation has no window
/// support. Call it before a search, to fail early.
void check_window();

/// Shows these test images, at least one, until the user quits or closes the window. Throws Interrupted.
void show_window(const Evaluation& evaluation, const std::vector<std::int64_t>& images);

}  // namespace knn
