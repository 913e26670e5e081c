#include "app/commands/loading.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "app/commands/pictures.h"
#include "app/console/interrupt.h"
#include "app/console/terminal.h"
#include "app/report/picture.h"
#include "classifier/host.h"
#include "data/core/clock.h"
#include "data/core/errors.h"
#include "data/picture/picture_file.h"
#include "data/set/idx.h"
#include "data/set/training.h"
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
    Team team(available_threads(), watch, images.count, 1);
    team.run_pieces(images.count, 1, [&](int thread, std::int64_t i, std::int64_t) {
        const auto at = static_cast<std::size_t>(i);
        wrong[at] = read_row(files[at], first, images.pixels.data() + at * dim);
        team.advance(thread, 1);
    });
    for (const auto& error : wrong)
        if (error) throw DataError(*error);
    return images;
}

Dataset read_images(const ImagesLocation& location, std::pmr::memory_resource* memory,
                    const OutputOptions& output) {
    if (location.needed == Needed::both) return load(location.data, memory);
    Dataset data;
    data.source = location.data.source;
    data.synthetic = location.data.synthetic;
    if (!location.pictures.empty()) {
        data.train = watched(output, "reading  ", [&](const Watch& watch) {
            return read_pictures(location.pictures, memory, watch);
        });
    } else if (!location.images.empty()) {
        IdxImages read = read_idx_images(location.images, memory);
        data.train = {read.count, read.rows, read.cols, std::move(read.pixels), {}};
    } else if (location.data.synthetic) {
        data.train = std::move(synthetic_digits({}, memory).train);
    } else {
        data.train = load_training_files(location.data, memory);
    }
    return data;
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

/// Throws UsageError (--images with a data set), DataError.
ImagesLocation locate_images(const Options& options, Needed needed) {
    ImagesLocation location{.needed = needed, .data = {}, .images = {}, .pictures = {}};
    if (needed == Needed::points) location.images = options.graph.images;
    if (location.images.empty()) {
        location.data = needed == Needed::both ? locate(options.data) : locate_training(options.data);
        return location;
    }
    for (const char* name : {"data", "train-images", "train-labels"})
        if (options.given.contains(name))
            throw UsageError("--" + std::string(name) + " and --images " + location.images +
                             ": both say where the images are; expected one of them");
    std::error_code none;
    if (fs::is_directory(location.images, none)) location.pictures = pictures_in(location.images);
    location.data.source = location.images;
    return location;
}

}  // namespace

std::vector<fs::path> ImagesLocation::files() const {
    if (!pictures.empty()) return {pictures.begin(), pictures.end()};
    if (!images.empty()) return {images};
    return data.files();
}

LoadedSet::LoadedSet(const Options& options, Needed needed, std::optional<DataLocation> location,
                     const std::vector<fs::path>& also_read)
    : outputs_(options), planner_(options.wish) {
    if (location)
        location_ = {.needed = needed, .data = std::move(*location), .images = {}, .pictures = {}};
    else
        location_ = locate_images(options, needed);
    files_ = location_.files();
    for (const auto& more : {options.method_files, also_read})
        files_.insert(files_.end(), more.begin(), more.end());
    outputs_.check(files_);
    read(options);
}

void LoadedSet::read(const Options& options) {
    // Another thread creates the CUDA context while the files are read.
    memory_ = host_memory(planner_.likely_engine(), planner_.likely_device());
    const auto start = Clock::now();
    // Ranks search together: none may find in the cache what another has to fit. Only who evaluates comes back to the
    // same method.
    const bool use_cache =
        !options.no_cache && options.wish.ranks == nullptr && location_.needed == Needed::both;
    TrainingIdentity identity = use_cache ? identity_of(location_.data) : TrainingIdentity();
    data_ = read_images(location_, memory_->resource(), options.output);
    // What changed while it was read belongs to no key.
    if (use_cache && identity_of(location_.data).key != identity.key) identity.key.clear();
    const LabeledImages& train = data_.train;
    training_ = std::make_unique<TrainingSet>(
        first_images(train.images(), train.labels.span(), train.shape(), options.first.train), identity);
    const Rows test = data_.test.images();
    queries_ = test.first(options.first.test > 0 ? options.first.test : test.count);
    stop_if_asked();
    load_ms_ = ms_since(start);
    data_notice_ = data_notice(location_.data);
}

Resolved LoadedSet::resolve(const Method& method, std::int64_t n_query) {
    const auto start = Clock::now();
    Resolved resolved = planner_.resolve(method.problem(training_->view(), n_query));
    if (resolved.engine->on_gpu) memory_->pin();
    load_ms_ += ms_since(start);
    note(std::exchange(data_notice_, ""));  // not where it is an error anyway
    note(resolved.notice);
    return resolved;
}

std::unique_ptr<Index> open_index(const TrainingSet& training, const Method& method, const Resolved& resolved,
                                  const OutputOptions& output) {
    if (is_fitted(training, method)) return std::make_unique<Index>(training, method, resolved, stoppable());
    return watched(output, "fitting  ", [&](const Watch& watch) {
        return std::make_unique<Index>(training, method, resolved, watch);
    });
}

Training first_images(const Rows& images, std::span<const std::uint8_t> labels, ImageShape shape,
                      std::int64_t n) {
    const Rows rows = images.first(n > 0 ? n : images.count);
    if (!labels.empty()) labels = labels.first(static_cast<std::size_t>(rows.count));
    return {rows, labels, shape};
}

}  // namespace knn
