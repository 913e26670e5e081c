#include "app/commands/points.h"

#include <algorithm>
#include <optional>

#include "app/commands/pictures.h"
#include "app/console/interrupt.h"
#include "app/console/notes.h"
#include "app/console/watched.h"
#include "app/report/picture.h"
#include "cpu/search.h"
#include "cpu/threads.h"
#include "data/core/clock.h"
#include "data/picture/picture_file.h"
#include "data/set/idx.h"
#include "data/synthetic/synthetic.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

std::string size_text(const Picture& picture) {
    return std::to_string(picture.cols) + "x" + std::to_string(picture.rows);
}

/// Copies one picture to its row, or returns what is wrong with it.
std::optional<std::string> read_row(const std::string& file, const Picture& first, std::uint8_t* row) {
    try {
        const Picture picture = read_picture(file);
        if (picture.rows != first.rows || picture.cols != first.cols)
            return file + ": has " + size_text(picture) + " pixels; expected " + size_text(first) +
                   ", as the first picture of the folder has";
        std::copy(picture.gray.begin(), picture.gray.end(), row);
        return std::nullopt;
    } catch (const DataError& error) {
        return error.what();
    }
}

/// The gray values of all pictures, which have one size. Throws DataError for the first that does not fit.
LabeledImages read_pictures(const std::vector<std::string>& files, std::pmr::memory_resource* memory,
                            const Watch& watch) {
    limit_codecs();
    const Picture first = read_picture(files.front());
    const std::size_t dim = first.gray.size();
    LabeledImages images{std::ssize(files), first.rows, first.cols, Bytes(files.size() * dim, memory), {}};
    std::vector<std::optional<std::string>> wrong(files.size());
    cpu::Team team(cpu::available_threads(), watch, images.count, 1);
    team.run_pieces(images.count, 1, [&](int thread, std::int64_t i, std::int64_t) {
        const auto at = static_cast<std::size_t>(i);
        wrong[at] = read_row(files[at], first, images.pixels.data() + at * dim);
        team.advance(thread, 1);
    });
    for (const auto& error : wrong)
        if (error) throw DataError(*error);
    return images;
}

LabeledImages read_points(const PointsLocation& location, std::pmr::memory_resource* memory,
                          const OutputOptions& output) {
    if (!location.pictures.empty())
        return watched(output, "reading  ",
                       [&](const Watch& watch) { return read_pictures(location.pictures, memory, watch); });
    if (!location.images.empty()) {
        IdxImages read = read_idx_images(location.images, memory);
        return {read.count, read.rows, read.cols, std::move(read.pixels), {}};
    }
    if (location.training.synthetic) return std::move(synthetic_digits({}, memory).train);
    return load_training_files(location.training, memory);
}

std::vector<std::string> pictures_in(const std::string& folder) {
    if (!pictures_available())
        throw DataError("--images " + folder +
                        ": this build cannot read pictures; expected an IDX file, or a build with OpenCV");
    std::vector<std::string> files;
    for (const PictureSource& source : find_pictures({folder}).pictures) {
        if (!source.error.empty()) throw DataError(source.file + ": " + source.error);
        files.push_back(source.file);
    }
    return files;
}

}  // namespace

std::vector<fs::path> PointsLocation::files() const {
    if (!pictures.empty()) return {pictures.begin(), pictures.end()};
    if (!images.empty()) return {images};
    return training.files();
}

PointsLocation locate_points(const Options& options) {
    PointsLocation location;
    location.images = options.graph.images;
    if (location.images.empty()) {
        location.training = locate_training(options.data);
        return location;
    }
    for (const char* name : {"data", "train-images", "train-labels"})
        if (options.given.contains(name))
            throw UsageError("--" + std::string(name) + " and --images " + location.images +
                             ": both say where the images are; expected one of them");
    std::error_code none;
    if (fs::is_directory(location.images, none)) location.pictures = pictures_in(location.images);
    location.training.source = location.images;
    return location;
}

Points::Points(const Planner& planner, const PointsLocation& location, const Options& options) {
    memory_ = host_memory(planner.likely_engine(), planner.likely_device());
    const auto start = Clock::now();
    images_ = read_points(location, memory_->resource(), options.output);
    const Rows rows = images_.images().first(options.first.train > 0 ? options.first.train : images_.count);
    training_.rows = rows;
    training_.shape = images_.shape();
    if (images_.labels.size() > 0)
        training_.labels = images_.labels.span().first(static_cast<std::size_t>(rows.count));
    stop_if_asked();
    load_ms_ = ms_since(start);
    note(data_notice(location.training));
}

Resolved Points::resolve(Planner& planner, const Method& method) const {
    Resolved resolved = planner.resolve(method.problem(training_, training_.rows.count));
    if (resolved.engine->on_gpu) memory_->pin();
    note(resolved.notice);
    return resolved;
}

}  // namespace knn
