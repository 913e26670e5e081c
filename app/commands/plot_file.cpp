#include "app/commands/plot_file.h"

#include <vector>

#include "app/cli/values.h"
#include "data/core/errors.h"

namespace knn {

void check_plot(const std::string& file) {
    if (has_ending(file, ".png") && !png_available())
        throw UsageError("--plot " + file + ": this build cannot draw PNG; expected a name in .svg");
}

std::string plot_of(const Drawing& drawing, const std::string& file) {
    if (!has_ending(file, ".png")) return svg_of(drawing);
    const std::vector<std::uint8_t> png = png_of(drawing);
    return {png.begin(), png.end()};
}

}  // namespace knn
