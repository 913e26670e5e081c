#include "app/commands/plot_file.h"

#include <ostream>
#include <vector>

#include "app/cli/values.h"
#include "data/core/errors.h"

namespace knn {

void check_plot(const std::string& file) {
    if (has_ending(file, ".png") && !png_available())
        throw UsageError("--plot " + file + ": this build cannot draw PNG; expected a name in .svg");
}

void write_plot(std::ostream& out, const Drawing& drawing, const std::string& file) {
    if (!has_ending(file, ".png")) {
        out << svg_of(drawing);
        return;
    }
    const std::vector<std::uint8_t> png = png_of(drawing);
    out.write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
}

}  // namespace knn
