#include "data/set/locate.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "data/core/errors.h"
#include "data/core/format.h"

namespace knn {

namespace {

namespace fs = std::filesystem;

/// Paths in the order of mnist_files, all four or the first two, the training set; empty: not found or not given.
using Files = std::vector<fs::path>;
constexpr std::size_t training_files = 2;

constexpr std::array<const char*, mnist_files.size()> option_names = {"§train-images", "§train-labels",
                                                                      "§test-images", "§test-labels"};

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

/// "train-images-idx3-ubyte" → "train-images.idx3-ubyte", as the files are called on the original page.
std::string dotted(std::string name) {
    name[name.find("-idx")] = '.';
    return name;
}

/// All accepted names of a file, the preferred one first.
std::array<fs::path, 4> spellings(const fs::path& folder, const std::string& name) {
    return {folder / name, folder / (name + ".gz"), folder / dotted(name), folder / (dotted(name) + ".gz")};
}

fs::path find_file(const fs::path& folder, const std::string& name) {
    std::error_code error;
    for (const fs::path& file : spellings(folder, name))
        if (fs::is_regular_file(file, error)) return file;
    return {};
}

constexpr const char* closed = "may not be read: permission denied";

/// Fills empty entries of `files` from the folder; returns why some stay empty, for a message: `closed`, or
/// "lacks" and the missing names.
std::string fill_from(const fs::path& folder, Files& files) {
    std::error_code error;
    if (fs::is_directory(folder, error) && ::faccessat(AT_FDCWD, folder.c_str(), X_OK, AT_EACCESS) != 0 &&
        errno == EACCES)
        return closed;
    std::vector<const char*> missing;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (files[i].empty()) files[i] = find_file(folder, mnist_files[i].name);
        if (files[i].empty()) missing.push_back(mnist_files[i].name);
    }
    return missing.empty() ? "" : "lacks " + joined(missing);
}

/// A folder named by the user, in the option or the variable, must have all missing files. `wanted`: what was expected.
void fill_from_named(const fs::path& folder, Files& files, const std::string& wanted) {
    std::error_code error;
    const std::string expected = "; expected " + wanted;
    if (!fs::exists(folder, error))
        throw DataError(folder.string() + ": " + (error ? error.message() : "no such folder") + expected);
    if (!fs::is_directory(folder, error)) throw DataError(folder.string() + ": is not a folder" + expected);
    const std::string reason = fill_from(folder, files);
    if (!reason.empty()) throw DataError(folder.string() + ": " + reason + expected);
}

/// The folders below the XDG base folders; the specification says to ignore relative ones.
std::vector<fs::path> usual_places() {
    std::vector<fs::path> places = {"data/mnist"};
    const auto add = [&](const fs::path& base) {
        if (base.is_absolute()) places.push_back(base / "mnist-knn" / "mnist");
    };
    std::string home = environment("XDG_DATA_HOME");
    if (home.empty() && !environment("HOME").empty()) home = environment("HOME") + "/.local/share";
    add(home);
    std::string shared = environment("XDG_DATA_DIRS");
    if (shared.empty()) shared = "/usr/local/share:/usr/share";
    std::istringstream list(shared);
    for (std::string base; std::getline(list, base, ':');)
        add(base);
    return places;
}

/// Fills empty entries from the first default folder that has all of them; false if there is none.
bool fill_from_usual(DataLocation& location, Files& files) {
    for (const fs::path& place : usual_places()) {
        location.looked_in.push_back(place.string());
        Files filled = files;
        const std::string reason = fill_from(place, filled);
        if (!reason.empty()) {
            if (filled != files || reason == closed)
                location.incomplete.push_back(place.string() + ": " + reason);
            continue;
        }
        files = filled;
        location.source = place.string();
        return true;
    }
    return false;
}

[[noreturn]] void fail_incomplete(const Files& given, const DataLocation& location) {
    std::vector<const char*> missing;
    for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i].empty()) missing.push_back(option_names[i]);
    std::string places = joined(location.looked_in);
    for (const std::string& place : location.incomplete)
        places += " (" + place + ")";
    throw DataError(joined(missing) + " (not given): no data set was found in " + places + "; expected " +
                    (given.size() == training_files ? "both" : "all four") +
                    " files, or §data with a folder for the rest");
}

DataLocation locate_files(const std::string& folder, Files files) {
    DataLocation location;
    std::vector<std::string> given;
    for (const fs::path& file : files)
        if (!file.empty()) given.push_back(file.string());
    const std::string named = !folder.empty() ? folder : environment("MNIST_KNN_DATA");
    if (given.size() < files.size()) {
        if (!named.empty()) {
            location.looked_in.push_back(named);
            fill_from_named(
                named, files,
                "a folder with MNIST's " +
                    std::string(files.size() == training_files ? "two training files" : "four IDX files") +
                    ", each plain or .gz" + (folder.empty() ? ", in $MNIST_KNN_DATA" : ""));
            location.source = named;
        } else if (!fill_from_usual(location, files)) {
            if (!given.empty()) fail_incomplete(files, location);
            location.source = "built-in synthetic digits";
            location.synthetic = true;
            return location;
        }
    }
    if (!given.empty())
        location.source = joined(given) + (location.source.empty() ? "" : ", rest from " + location.source);
    location.files = std::move(files);
    return location;
}

/// Whether `learn` wrote it of no picture: a header that declares zero images.
bool has_no_images(const fs::path& file) {
    constexpr std::uintmax_t header = 16;
    std::error_code none;
    if (!fs::is_regular_file(file, none) || fs::file_size(file, none) != header) return false;
    std::array<char, 8> start = {};
    std::ifstream(file, std::ios::binary).read(start.data(), start.size());
    return start == std::array<char, 8>{0, 0, 8, 3};
}

DataLocation with_extra(DataLocation location, const std::string& folder) {
    if (folder.empty()) return location;
    location.extra.resize(training_files);
    fill_from_named(folder, location.extra, "a folder that learn --out wrote");
    location.source += ", with " + folder;
    std::error_code none;
    for (const fs::path& file : spellings(folder, no_digits_file))
        if (fs::exists(fs::symlink_status(file, none))) {
            // What is damaged is an error where it is read: it has been taught, and is not left out silently.
            if (!has_no_images(file)) location.no_digits = file;
            break;
        }
    return location;
}

}  // namespace

std::vector<fs::path> other_spellings(const fs::path& file) {
    std::vector<std::string> parts = {no_digits_file};
    for (const MnistFile& part : mnist_files)
        parts.emplace_back(part.name);
    for (const std::string& part : parts) {
        const auto names = spellings(file.parent_path(), part);
        std::vector<fs::path> others(names.begin(), names.end());
        if (std::erase(others, file) > 0) return others;
    }
    return {};
}

std::vector<fs::path> dataset_files(const fs::path& folder) {
    std::error_code none;
    std::vector<fs::path> found;
    for (const MnistFile& part : mnist_files)
        for (const fs::path& file : spellings(folder, part.name))
            if (fs::exists(fs::symlink_status(file, none))) found.push_back(file);
    return found;
}

std::vector<fs::path> DataLocation::inputs() const {
    std::vector<fs::path> all = files;
    for (const auto* more : {&pictures, &extra})
        all.insert(all.end(), more->begin(), more->end());
    all.push_back(no_digits);
    std::erase(all, fs::path());  // labels that vectors do not need
    return all;
}

DataLocation locate(const DataOptions& options) {
    return with_extra(locate_files(options.folder, {options.train_images, options.train_labels,
                                                    options.test_images, options.test_labels}),
                      options.extra);
}

DataLocation locate_training(const DataOptions& options) {
    DataLocation location = locate_files(options.folder, {options.train_images, options.train_labels});
    location.training_only = true;
    return with_extra(std::move(location), options.extra);
}

}  // namespace knn
