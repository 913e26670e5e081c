#pragma once
/// The window of `view`.

#include <vector>

#include "classifier/evaluation.h"

namespace knn {

/// What `view` can do instead, for messages.
inline constexpr const char* view_without_window = ", or one of --sheet OUT.png, --html OUT.html and --text";

/// Shows these test images, at least one, until the user quits or closes the window. Throws DeviceError, Interrupted.
void show_window(const Evaluation& evaluation, const std::vector<std::int64_t>& images);

}  // namespace knn
