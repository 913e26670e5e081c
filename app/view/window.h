#pragma once
/// The window of `view`.

#include <vector>

#include "classifier/evaluation.h"

namespace knn {

/// Throws DeviceError where no window can be opened, DataError where the build or the installation lacks
/// what opens one; to be called before a search, so that nobody waits for it in vain.
void check_window();

/// Shows these test images, at least one, until the user quits or closes the window. Throws Interrupted.
void show_window(const Evaluation& evaluation, const std::vector<std::int64_t>& images);

}  // namespace knn
