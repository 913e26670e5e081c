#pragma once
/// The file of --plot: PNG or SVG by its name.

#include <string>

#include "app/report/drawing.h"

namespace knn {

/// Throws UsageError if this build cannot draw that form. `file` may be empty.
void check_plot(const std::string& file);

/// The content of the file.
std::string plot_of(const Drawing& drawing, const std::string& file);

}  // namespace knn
