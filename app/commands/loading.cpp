#include "app/commands/loading.h"

#include <algorithm>
#include <utility>

#include "app/commands/pictures.h"
#include "app/console/console.h"
#include "app/report/csv.h"
#include "app/report/page.h"
#include "classifier/host.h"
#include "data/core/clock.h"
#include "data/core/errors.h"
#include "data/core/format.h"
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
    const ImageShape shape{first.rows, first.cols};
    const std::int64_t n = std::ssize(files);
    require_max_dim(files.front() + ": has ", shape);
    require_memory(n * shape.dim(), [&] {
        return "reading " + counted(n, "picture") + " of " + counted(shape.dim(), "pixel");
    });
    LabeledImages images{n, first.rows, first.cols, Bytes(files.size() * dim, memory), {}};
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

std::vector<std::string> pictures_in(const std::string& folder, const OutputOptions& output) {
    if (!pictures_available())
        throw DataError("--images " + folder +
                        ": this build cannot read pictures; expected an IDX file, or a build with OpenCV");
    std::vector<std::string> files;
    const PictureSources found = find_pictures({folder}, Subfolders::never);
    for (const PictureSource& source : found.pictures) {
        if (!source.error.empty()) throw DataError(source.file + ": " + source.error);
        files.push_back(source.file);
    }
    for (const std::string& notice : found.notices)
        note(notice, output);
    return files;
}

/// Up to here a CPU has answered before a GPU has started: 0.3 s for a CUDA context, 0.1 s for 1,000 digits
/// on two cores.
constexpr std::int64_t few_digits = 1000;

/// Of more training images a fit takes seconds.
constexpr std::int64_t few_images = 10'000;

bool is_all_fitted(const LoadedTraining& training, const Method& method) {
    return is_fitted(training.set, method) &&
           (!training.drawn || ExtraRows::are_fitted(*training.drawn, method));
}

/// What is fitted to the training set comes from the cache, or is fitted on the CPU and kept there.
LeaveOneOut fit(const LoadedTraining& training, const Options& options, int threads) {
    const TrainingSet& set = training.set;
    const Method& method = options.method;
    const bool is_all = is_all_fitted(training, method);
    if (auto kept = find_sample(set, method, training.drawn.has_value()); kept && is_all)
        return std::move(*kept);
    const bool samples = set.size() >= min_sampled_images && method.vote.k < set.size();
    if (!samples && is_all) return {};
    if (!is_fitted(set, method) && set.size() > few_images)
        note("fitting the re-ranking to the training set" +
                 std::string(set.is_cached() ? ", once unless it changes" : ""),
             options.output);
    const Problem problem = method.problem(set.view(), std::ssize(strided_sample(set.size())));
    const Index index(set, method, resolve_on_cpu(problem, threads), stoppable());
    const auto extra =
        training.drawn ? std::make_unique<ExtraRows>(index, *training.drawn, stoppable()) : nullptr;
    return fitted_sample(index, stoppable(), extra.get());
}

const TrainingSet& fitted(LoadedTraining& training, const Options& options, int threads) {
    Timeline timeline;
    training.set.features(options.method.transform, threads, &stop_flag(), timeline);
    training.sample = fit(training, options, threads);
    stop_if_asked();
    return training.set;
}

Resolved resolve_for_digits(const TrainingSet& set, const Options& options, std::int64_t n_query) {
    PlanRequest request = options.request;
    if (!request.chooses() && n_query <= few_digits) request.device.kind = DeviceKind::cpu;
    Resolved resolved = Planner(request).resolve(options.method.problem(set.view(), n_query));
    note(resolved.notice, options.output);
    return resolved;
}

/// The training set; that of --train is in no cache.
TrainingImages read_training(const DataLocation& location, const Options& options, int threads) {
    if (!location.vectors) return load_training(location, !options.no_cache, threads, options.first.train);
    const auto loaded = std::make_shared<const Dataset>(
        load_data(location, {.first = options.first, .threads = threads, .free_bytes = available_bytes()}));
    if (!loaded->are_images() || !loaded->classes.empty())
        throw DataError(loaded->are_images() ? location.files[0].string() +
                                                   ": its labels have names; expected numbers, as digits have"
                                             : not_images(*loaded));
    TrainingImages set;
    set.source = location.files[0].string();
    set.owner = loaded;
    set.images = loaded->train.images();
    set.labels = loaded->train.labels.span();
    set.shape = loaded->train.shape();
    return set;
}

}  // namespace

LoadedSet::LoadedSet(const Options& options, Needed needed, std::optional<DataLocation> location,
                     const std::vector<fs::path>& also_read)
    : needed_(needed),
      output_(options.output),
      planner_(options.request),
      threads_(threads_or_all(options.request.threads)) {
    if (location) {
        location_ = std::move(*location);
    } else if (const std::string& images = options.graph.images; !images.empty()) {
        std::error_code none;
        if (fs::is_directory(images, none)) pictures_ = pictures_in(images, output_);
        location_.source = images;
        location_.files = {images};
    } else {
        location_ = needed == Needed::both ? locate_data(options.data) : locate_training_data(options.data);
    }
    files_ =
        pictures_.empty() ? location_.inputs() : std::vector<fs::path>(pictures_.begin(), pictures_.end());
    for (const auto& more : {options.method_files, also_read})
        files_.insert(files_.end(), more.begin(), more.end());
    check_outputs(output_places(options), files_);
    read(options);
}

Dataset LoadedSet::read_images(const Options& options) const {
    std::pmr::memory_resource* const memory = memory_->resource();
    const LoadOptions load_options{.first = options.first,
                                   .labels_needed = needed_ != Needed::points,
                                   .threads = threads_,
                                   .free_bytes = available_bytes(),
                                   .memory = memory};
    if (options.graph.images.empty()) return load_data(location_, load_options);
    Dataset data;
    data.source = location_.source;
    if (!pictures_.empty()) {
        data.train = with_progress(options.output, "reading  ", [&](const ProgressToken& token) {
            return read_pictures(pictures_, memory, token);
        });
    } else {
        IdxData read = read_idx(location_.source, IdxKind::images, memory, options.first.train);
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

void check_elements(const std::string& file, const Rows& rows, const Method& method, int threads) {
    if (method.transform.is_raw()) return check_elements(file, rows, method.measure, rows.dim, threads);
    // What the scaling adds up: squares, or not even that.
    const bool squares = method.transform.steps.front().kind == TransformKind::zscore;
    check_elements(file, rows, {squares ? Metric::l2 : Metric::l1}, std::max(rows.count, rows.dim), threads);
}

Resolved LoadedSet::resolve(const Method& method, std::int64_t n_query) {
    const auto start = Clock::now();
    if (const std::string part = method.part_for_images(); !data_.are_images() && !part.empty())
        throw DataError(not_images(data_) + " for " + part);
    if (data_.named_vectors) {
        check_elements(data_.files[0].string(), training_->view().rows, method, threads_);
        if (queries_.count > 0) check_elements(data_.files[2].string(), queries_, method, threads_);
    }
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

std::vector<OutputFile> npy_files(const fs::path& folder, const LabeledImages& set,
                                  const std::vector<std::string>& classes) {
    const OutputFile rows = {(folder / "train.npy").string(), [&](std::ostream& out) {
                                 write_npy(out, set.images(),
                                           set.are_images ? std::optional(set.shape()) : std::nullopt);
                             }};
    if (classes.empty())
        return {rows, {(folder / "train-labels.npy").string(), [&](std::ostream& out) {
                           write_npy(out, set.labels.span());
                       }}};
    return {rows, {(folder / "train-labels.csv").string(), [&](std::ostream& out) {
                       out << "label\n";  // else a class of this name would be taken for it
                       for (const std::uint8_t label : set.labels.span())
                           out << text_cell(classes[label]) << '\n';
                   }}};
}

int given_k(const Options& options, std::int64_t others) {
    constexpr std::int64_t usual = 10;
    return options.given.contains("-k") ? options.method.vote.k
                                        : static_cast<int>(std::clamp<std::int64_t>(others, 1, usual));
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

LoadedTraining load_for_digits(const DataLocation& location, const Options& options) {
    const int threads = threads_or_all(options.request.threads);
    const TrainingImages read = read_training(location, options, threads);
    const ImageShape shape = read.shape;
    const Training all{read.images, read.labels, shape};
    LoadedTraining training{
        TrainingSet(first_images(all.rows, all.labels, shape, location.limit(options.first.train)),
                    read.identity, read.owner),
        read.source, all};
    if (shape.rows != DigitImage::side || shape.cols != DigitImage::side)
        throw DataError(training.source + ": has images of " + std::to_string(shape.rows) + "x" +
                        std::to_string(shape.cols) +
                        "; expected 28x28 pixels, as pictures are scaled to these");
    require_novelty(options.method);
    if (ExtraRows::suit(options.method) && is_mnist(training.set.labels())) {
        const TrainingImages drawn = load_drawn_rows(!options.no_cache, threads);
        const auto set_of = [](const TrainingImages& rows) {
            return TrainingSet(Training{rows.images, rows.labels, rows.shape}, rows.identity, rows.owner);
        };
        training.drawn = set_of(drawn);
        if (!location.no_digits.empty()) training.taught = set_of(with_no_digits(drawn, location.no_digits));
    } else if (!location.no_digits.empty()) {
        note("--extra: its pictures of no digit are left out; they need all of MNIST and --method accurate",
             options.output);
    }
    // What an earlier run has fitted is read while the pictures are; what is missing waits until there is a digit.
    if (find_sample(training.set, options.method, training.drawn.has_value()) &&
        is_all_fitted(training, options.method))
        fitted(training, options, threads);
    return training;
}

void check_for_digits(const LoadedTraining& training, const Options& options) {
    resolve_for_digits(training.set, options, 1);
}

DigitSearch::DigitSearch(LoadedTraining& training, const Options& options, std::int64_t n_query)
    : index_(fitted(training, options, threads_or_all(options.request.threads)), options.method,
             resolve_for_digits(training.set, options, n_query)),
      extra_(training.drawn ? std::make_unique<ExtraRows>(
                                  index_, training.taught ? *training.taught : *training.drawn, stoppable())
                            : nullptr),
      sample_(training.sample),
      scorer_(index_, training.sample, extra_.get()),
      loss_(options.classify.reject) {}

Results DigitSearch::answer(std::span<Answer* const> digits, const ProgressToken& token) const {
    return answer_digits(index_, scorer_, loss_, digits, token);
}

void DigitSearch::choose(std::span<PictureAnswer> pictures, const ProgressToken& token) const {
    choose_answers(pictures, index_, scorer_, sample_, token);
}

}  // namespace knn
