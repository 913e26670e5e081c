#include "app/console/destinations.h"

#include "app/console/output.h"
#include "data/core/errors.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

/// The same for all spellings of one file.
fs::path place_of(const std::string& file) {
    if (is_standard_output(file)) return "-";
    std::error_code none;
    const fs::path end = fs::absolute(follow_links(file), none);
    const fs::path place = fs::weakly_canonical(end, none);
    const fs::path known = none ? end.lexically_normal() : place;
    return known.has_filename() ? known : known.parent_path();  // "folder/" is "folder"
}

}  // namespace

Destinations::Destinations(const Options& options) {
    for (OutputPlace& place : output_places(options))
        add(std::move(place));
}

void Destinations::add(OutputPlace added) {
    for (const OutputPlace& other : all_)
        if (place_of(added.file) == place_of(other.file))
            throw UsageError(other.option + ' ' + other.file + " and " + added.option + ' ' + added.file +
                             ": the same place; expected two");
    all_.push_back(std::move(added));
}

void Destinations::check(const std::vector<fs::path>& inputs) const {
    std::error_code none;
    for (const OutputPlace& output : all_)
        for (const fs::path& input : inputs)
            if (fs::is_regular_file(input, none) && fs::equivalent(output.file, input, none))
                throw DataError(output.file + ": is read by this command (" + input.string() +
                                "); expected another file for " + output.option);
    for (const OutputPlace& output : all_) {
        if (output.is_folder)
            check_output_folder(output.file);
        else if (!output.in_folder || fs::is_directory(fs::path(output.file).parent_path(), none))
            check_output_file(output.file);
    }
}

}  // namespace knn
