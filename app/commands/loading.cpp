#include "app/commands/loading.h"

#include <algorithm>
#include <utility>

#include "app/commands/pictures.h"
#include "app/report/csv.h"
#include "app/report/picture.h"
#include "classifier/host.h"
#include "data/core/clock.h"
#include "data/core/errors.h"
#include "data/picture/picture_file.h"
#include "data/set/idx.h"
#include "data/set/training.h"
#include "data/vectors/sets.h"
#include "data/vectors/write.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

std::string size_text(const Picture& picture) {
    return std::to_string(picture.cols) + "x" + std::to_string(picture.rows);
}

/// Copies one picture to its row. Returns what is wrong with it; empty: nothing.
std::string read_row(const std::string& file, const Picture& first, std::uint8_t* row) {
    try {
        const Picture picture = read_picture(file);
        if (picture.rows != first.rows || picture.cols != first.cols)
            return file + ": has " + size_text(picture) + " pixels; expected " + size_text(first) +
                   ", as the first picture of the folder has";
        std::copy(picture.gray.begin(), picture.gray.end(), row);
        return "";
    } catch (const DataError& error) {
        return error.what();
    }
}

/// The gray values of all pictures, which have one size. Throws DataError for the first that does not fit.
LabeledImages read_pictures(const std::vector<std::string>& files, std::pmr::memory_resource* memory,
                            const ProgressToken& token) {
    limit_codecs();
    const StopDeadline deadline;
    const Picture first = read_picture(files.front());
    const std::size_t dim = first.gray.size();
    LabeledImages images{std::ssize(files), first.rows, first.cols, Bytes(files.size() * dim, memory), {}};
    std::vector<std::string> wrong(files.size());
    PictureMemory together;
    Team team(available_threads(), token, images.count, 1);
    team.run_pieces(images.count, 1, [&](int thread, std::int64_t i, std::int64_t) {
        const auto at = static_cast<std::size_t>(i);
        together.decode(files[at], 0,
                        [&] { wrong[at] = read_row(files[at], first, images.pixels.data() + at * dim); });
        team.advance(thread, 1);
    });
    for (const std::string& error : wrong)
        if (!error.empty()) throw DataError(error);
    return images;
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

bool needs_images(const TransformSpec& spec) {
    return std::ranges::any_of(spec.steps, [](auto& step) { return !info(step.kind).takes_features; });
}

}  // namespace

LoadedSet::LoadedSet(const Options& options, Needed needed, std::optional<DataLocation> location,
                     const std::vector<fs::path>& also_read)
    : needed_(needed),
      output_(options.output),
      planner_(options.request),
      threads_(threads_or_all(options.request.threads)) {
    if (location)
        location_ = std::move(*location);
    else
        locate_images(options);
    if (!pictures_.empty())
        files_ = {pictures_.begin(), pictures_.end()};
    else if (!images_.empty())
        files_ = {images_};
    else
        files_ = location_.inputs();
    for (const auto& more : {options.method_files, also_read})
        files_.insert(files_.end(), more.begin(), more.end());
    check_outputs(output_places(options), files_);
    read(options);
}

void LoadedSet::locate_images(const Options& options) {
    if (needed_ == Needed::points) images_ = options.graph.images;
    if (images_.empty()) {
        location_ = needed_ == Needed::both ? locate_data(options.data) : locate_training_data(options.data);
        return;
    }
    std::error_code none;
    if (fs::is_directory(images_, none)) pictures_ = pictures_in(images_);
    location_.source = images_;
}

Dataset LoadedSet::read_images(const Options& options) const {
    std::pmr::memory_resource* const memory = memory_->resource();
    const LoadOptions load_options{.first = options.first,
                                   .labels_needed = needed_ != Needed::points,
                                   .threads = threads_,
                                   .free_bytes = available_bytes(),
                                   .memory = memory};
    if (needed_ == Needed::both) return load_data(location_, load_options);
    if (pictures_.empty() && images_.empty()) return load_training_data(location_, load_options);
    Dataset data;
    data.source = location_.source;
    if (!pictures_.empty()) {
        data.train = with_progress(options.output, "reading  ", [&](const ProgressToken& token) {
            return read_pictures(pictures_, memory, token);
        });
    } else {
        IdxData read = read_idx(images_, IdxKind::images, memory, options.first.train);
        data.train = {read.count, read.rows, read.cols, std::move(read.bytes), {}};
    }
    return data;
}

void LoadedSet::read(const Options& options) {
    // Another thread creates the CUDA context while the files are read.
    memory_ = host_memory(planner_.likely_engine(), planner_.likely_device());
    const auto start = Clock::now();
    // Ranks search together: none may find in the cache what another has to fit. Only who evaluates comes back to the
    // same method.
    const bool use_cache = !options.no_cache && options.request.ranks == nullptr && needed_ == Needed::both &&
                           !location_.vectors;
    TrainingIdentity identity = use_cache ? identity_of(location_) : TrainingIdentity();
    data_ = read_images(options);
    // What changed while it was read belongs to no key.
    if (use_cache && identity_of(location_).key != identity.key) identity.key.clear();
    const LabeledImages& train = data_.train;
    training_ = std::make_unique<TrainingSet>(first_images(train.images(), train.labels.span(), train.shape(),
                                                           location_.limit(options.first.train)),
                                              identity);
    const Rows test = data_.test.images();
    queries_ = test.first(options.first.test > 0 ? options.first.test : test.count);
    stop_if_asked();
    load_ms_ = ms_since(start);
    data_notice_ = data_notice(location_);
}

/// Throws DataError where a method compares pixels beside each other, and these are no images.
void LoadedSet::require_images(const Method& method) const {
    if (data_.are_images()) return;
    if (needs_images(method.transform))
        throw DataError(not_images(data_) + " for --transform " + method.transform.text());
    if (method.rerank.has_descriptors())
        throw DataError(not_images(data_) + " for --rerank " + name(method.rerank.kind));
}

void check_elements(const std::string& file, const Rows& rows, const Method& method, int threads) {
    if (method.transform.is_raw()) return check_elements(file, rows, method.measure, rows.dim, threads);
    // What the scaling adds up: squares, or not even that.
    const bool squares = method.transform.steps.front().kind == TransformKind::zscore;
    check_elements(file, rows, {squares ? Metric::l2 : Metric::l1}, std::max(rows.count, rows.dim), threads);
}

void LoadedSet::check_elements(const Method& method) const {
    if (!data_.named_vectors) return;
    knn::check_elements(data_.files[0].string(), training_->view().rows, method, threads_);
    if (queries_.count > 0) knn::check_elements(data_.files[2].string(), queries_, method, threads_);
}

Resolved LoadedSet::resolve(const Method& method, std::int64_t n_query) {
    const auto start = Clock::now();
    require_images(method);
    check_elements(method);
    Resolved resolved = planner_.resolve(method.problem(training_->view(), n_query));
    if (resolved.engine->on_gpu) memory_->pin();
    load_ms_ += ms_since(start);
    note(std::exchange(data_notice_, ""));  // not where it is an error anyway
    const auto note_once = [&](const std::string& notice) {
        if (noted_.insert(notice).second) note(notice, output_);
    };
    note_once(resolved.notice);
    if (needed_ != Needed::both && !location_.extra.empty())  // leave-one-out, or a graph
        note_once("--extra: each of its images is there twice, and its nearest neighbor is the other copy");
    return resolved;
}

std::unique_ptr<Index> open_index(const TrainingSet& training, const Method& method, const Resolved& resolved,
                                  const OutputOptions& output) {
    if (is_fitted(training, method)) return std::make_unique<Index>(training, method, resolved, stoppable());
    return with_progress(output, "fitting  ", [&](const ProgressToken& token) {
        return std::make_unique<Index>(training, method, resolved, token);
    });
}

std::vector<OutputFile> idx_files(const fs::path& folder, const LabeledImages& images, bool test) {
    const std::size_t first = test ? 2 : 0;
    return {
        {folder / mnist_files[first].name, [&](std::ostream& out) { write_idx_images(out, images); }},
        {folder / mnist_files[first + 1].name, [&](std::ostream& out) { write_idx_labels(out, images); }}};
}

std::vector<OutputFile> npy_files(const fs::path& folder, const LabeledImages& vectors,
                                  const std::vector<std::string>& classes) {
    const OutputFile rows = {(folder / "train.npy").string(),
                             [&](std::ostream& out) { write_npy(out, vectors.images()); }};
    if (classes.empty())
        return {rows, {(folder / "train-labels.npy").string(), [&](std::ostream& out) {
                           write_npy(out, vectors.labels.span());
                       }}};
    return {rows, {(folder / "train-labels.csv").string(), [&](std::ostream& out) {
                       for (const std::uint8_t label : vectors.labels.span())
                           out << text_cell(classes[label]) << '\n';
                   }}};
}

std::vector<std::uint8_t> first_labels(const LabeledImages& images, std::int64_t count) {
    return {images.labels.data(), images.labels.data() + count};
}

Training first_images(const Rows& images, std::span<const std::uint8_t> labels, ImageShape shape,
                      std::int64_t n) {
    const Rows rows = images.first(n > 0 ? n : images.count);
    if (!labels.empty()) labels = labels.first(static_cast<std::size_t>(rows.count));
    return {rows, labels, shape};
}

}  // namespace knn
