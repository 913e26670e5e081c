#include "app/console/destinations.h"

#include <sys/stat.h>

#include <algorithm>

#include "app/console/output.h"
#include "data/core/errors.h"
#include "data/file/atomic_file.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

fs::path place_of(const std::string& file) {
    if (is_standard_output(file)) return "-";
    if (const auto number = named_descriptor(file)) return "descriptor " + std::to_string(*number);
    std::error_code none;
    const fs::path end = fs::absolute(follow_links(file), none);
    const fs::path place = fs::weakly_canonical(end, none);
    const fs::path known = none ? end.lexically_normal() : place;
    return known.has_filename() ? known : known.parent_path();  // "folder/" is "folder"
}

/// Whether `inner` lies somewhere below `outer`.
bool is_below(const fs::path& inner, const fs::path& outer) {
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

bool is_same_file(const std::string& a, const fs::path& b) {
    struct stat one = {}, other = {};
    return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 && S_ISREG(one.st_mode) &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

void Destinations::add(const std::string& option, const std::string& file) {
    if (!file.empty()) add({option, file, place_of(file)});
}

void Destinations::add_folder(const std::string& option, const std::string& folder,
                              std::span<const char* const> names) {
    if (folder.empty()) return;
    add({option, folder, place_of(folder), true});
    for (const char* name : names) {
        const std::string file = (fs::path(folder) / name).string();
        add({option, file, place_of(file), false, true});
    }
}

void Destinations::add(Destination added) {
    for (const Destination& other : all_) {
        const bool same = added.place == other.place ||
                          (!other.is_folder && is_below(added.place, other.place)) ||
                          (!added.is_folder && is_below(other.place, added.place));
        if (same)
            throw UsageError(other.option + ' ' + other.file + " and " + added.option + ' ' + added.file +
                             ": the same place; expected two");
    }
    all_.push_back(std::move(added));
}

void Destinations::check(const std::vector<fs::path>& inputs) const {
    for (const Destination& output : all_)
        for (const fs::path& input : inputs)
            if (is_same_file(output.file, input))
                throw DataError(output.file + ": is read by this command (" + input.string() +
                                "); expected another file for " + output.option);
    std::error_code none;
    for (const Destination& output : all_) {
        if (output.is_folder)
            check_output_folder(output.file);
        else if (!output.in_folder || fs::is_directory(fs::path(output.file).parent_path(), none))
            check_output_file(output.file);
    }
}

}  // namespace knn
