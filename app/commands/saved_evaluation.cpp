#include "app/commands/saved_evaluation.h"

#include <algorithm>

#include "app/console/console.h"
#include "app/report/json.h"
#include "app/report/text.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/vectors/sets.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

void adopt(Options& options, const SavedReport& report) {
    options.method = report.evaluation.method;
    options.first = {report.evaluation.n_train - report.n_extra, report.evaluation.n_test};
    const bool free = !options.request.engine && options.request.device.kind == DeviceKind::automatic;
    if (free && report.evaluation.found.plan.device.kind == Device::Kind::cpu) options.request.engine = "cpu";
}

/// What is wrong with a file that is no regular file which can be found.
std::string failure_of(const fs::path& file) {
    std::error_code error;
    const fs::file_type type = fs::status(file, error).type();
    if (type == fs::file_type::not_found) return ", was not found: " + file.string() + " is missing";
    return ", cannot be read: " + file.string() + (error ? ": " + error.message() : " is no regular file");
}

/// The data set that a report names, of pictures its training set.
DataLocation named_by(const SavedReport& report) {
    std::error_code none;
    DataLocation location = report.data;
    if (!location.synthetic && location.files.empty() && fs::is_directory(location.source, none)) {
        DataOptions options;
        options.folder = location.source;
        return locate_data(options);
    }
    // The user named none of them: a pipe may never be written to.
    if (location.vectors && location.files.size() > 1) {
        location.train_labels_named = !location.files[1].empty();
        location.test_labels_named = location.files.size() > 3 && !location.files[3].empty();
    }
    const std::vector<fs::path> inputs = location.inputs();
    const auto missing = std::ranges::find_if_not(
        inputs, [&](const fs::path& file) { return fs::is_regular_file(file, none); });
    if ((location.files.empty() && !location.synthetic) || missing != inputs.end())
        throw DataError(report.file + ": its data set, " + location.source +
                        (missing != inputs.end() ? failure_of(*missing) : ", was not found") +
                        "; expected it there, or " +
                        (location.extra.empty() ? "--data with its new folder"
                                                : "--data and --extra with their new folders"));
    return location;
}

}  // namespace

DataLocation location_of(const SavedReport& report, const Options& options) {
    DataLocation location = !names_data(options)   ? named_by(report)
                            : report.of_pictures() ? locate_training_data(options.data)
                                                   : locate_data(options.data);
    if (!report.of_pictures()) return location;
    std::error_code none;
    for (const char* name : std::span(report_files).last(2)) {
        const fs::path file = fs::path(report.file).parent_path() / name;
        if (!fs::is_regular_file(file, none))  // a pipe may never be written to
            throw DataError(file.string() + ": no such file; expected the pictures of " + report.file +
                            " beside it");
        location.pictures.push_back(file);
    }
    return location;
}

fs::path predictions_of(const SavedReport& report) {
    return fs::path(report.file).parent_path() / "predictions.csv";
}

Predictions predictions_beside(const SavedReport& report, Score& score) {
    const std::string file = predictions_of(report).string();
    const Score& said = report.evaluation.score;
    Predictions read = read_predictions(file, report.evaluation.n_test, said.classes);
    const auto known = [&](int label) { return std::ranges::binary_search(said.labels, label); };
    Score counted;
    if (std::ranges::all_of(read.truth, known) && std::ranges::all_of(read.votes, known, &Vote::label))
        counted = knn::score(read.votes, read.truth, said.labels);
    if (counted.confusion != said.confusion)
        throw DataError(file +
                        ": is not of the report beside it; expected the one that 'mnist-knn evaluate "
                        "--report' wrote with it");
    counted.classes = said.classes;
    score = std::move(counted);
    return read;
}

ShownEvaluation::ShownEvaluation(const Options& options, const std::optional<SavedReport>& report,
                                 Clock::time_point start, const DataCheck& check)
    : options_(options) {
    if (report) {
        open(*report);
        if (check) check(*evaluation_.data, evaluation_.n_test);
        return;
    }
    Evaluated made = evaluate_test_set(options, start, true, check);
    set_ = std::move(made.set);
    evaluation_ = std::move(made.evaluation);
    neighbors_known_ = true;
}

void ShownEvaluation::open(const SavedReport& report) {
    of_pictures_ = report.of_pictures();
    adopt(options_, report);
    const std::vector<fs::path> also_read = {options_.view.from, report.file, predictions_of(report)};
    set_ = std::make_unique<LoadedSet>(options_, Needed::both, location_of(report, options_), also_read);
    if (!set_->data().are_images()) throw DataError(not_images(set_->data()));
    try {
        options_.method.problem(set_->training().view(), set_->queries().count);
    } catch (const UsageError& error) {
        throw DataError(report.file + ": " + error.what());
    }
    resolved_ = set_->resolve(options_.method, set_->queries().count);
    check_data(report);
    evaluation_ = report.evaluation;
    evaluation_.data = &set_->data();
    if (!take_predictions(report)) search_again(report);
}

Results ShownEvaluation::search(const Rows& images) {
    if (index_ == nullptr) {
        index_ = open_index(set_->training(), options_.method, resolved_, options_.output);
        evaluation_.method = index_->method();  // which knows of what type the distances are
    }
    return with_progress(options_.output, "searching", [&](const ProgressToken& token) {
        return index_->search(images, {.token = token});
    });
}

void ShownEvaluation::check_data(const SavedReport& report) const {
    const Dataset& data = set_->data();
    const auto differ = [&](const std::string& what) {
        throw DataError(report.file + ": needs " + what + ", which " + data.source +
                        " does not have; expected the data set that it was made from (--data DIR)");
    };
    const auto images = [](std::int64_t train, std::int64_t test) {
        return with_commas(train) + " training and " + counted(test, "test image");
    };
    const Evaluation& saved = report.evaluation;
    if (report.n_extra != data.n_extra)
        throw DataError(report.file + ": was made " +
                        (report.n_extra == 0 ? std::string("without --extra")
                                             : "with " + counted(report.n_extra, "image") + " of --extra") +
                        ", not with " + with_commas(data.n_extra) + "; expected the same");
    if (saved.n_train > data.train.count || saved.n_test > data.test.count)
        differ(images(saved.n_train, saved.n_test));
    if (report.rows != data.test.rows || report.cols != data.test.cols)
        differ("images of " + std::to_string(report.rows) + "x" + std::to_string(report.cols));
    if (saved.score.labels != data.labels) differ("other classes");
    if (!report.test_checksum.empty() && report.test_checksum != test_checksum(data, saved.n_test))
        differ("other test images or labels");
}

bool ShownEvaluation::take_predictions(const SavedReport& report) {
    if (report.file == "standard input") return false;
    const fs::path file = predictions_of(report);
    std::error_code none;
    if (!fs::is_regular_file(file, none)) return false;
    try {
        Predictions read = predictions_beside(report, evaluation_.score);
        if (read.truth != first_labels(evaluation_.data->test, evaluation_.n_test))
            throw DataError(file.string() + ": has other labels than the data set");
        evaluation_.found.votes = std::move(read.votes);
        evaluation_.confidence = std::move(read.confidence);
        evaluation_.found.neighbors = Neighbors(evaluation_.n_test, evaluation_.method.vote.k);
        evaluation_.score.classes = evaluation_.data->classes;
        return true;
    } catch (const DataError& error) {
        note(std::string(error.what()) + ": searching again", options_.output);
        return false;
    }
}

void ShownEvaluation::search_again(const SavedReport& report) {
    Results found = search(set_->queries());
    const std::vector<std::uint8_t> truth = first_labels(evaluation_.data->test, evaluation_.n_test);
    evaluation_.score = score(found.votes, truth, evaluation_.data->labels);
    evaluation_.score.classes = evaluation_.data->classes;
    if (evaluation_.score.confusion != report.evaluation.score.confusion)
        throw DataError(
            report.file + ": another confusion matrix than " + evaluation_.data->source +
            " gives; expected the data set that it was made from (--data DIR)" +
            (of_pictures_ ? ", or predictions.csv beside it: classify may read pictures otherwise" : ""));
    evaluation_.found.votes = std::move(found.votes);
    evaluation_.found.neighbors = std::move(found.neighbors);
    evaluation_.found.confidence_features = std::move(found.confidence_features);
    with_progress(options_.output, "fitting  ",
                  [&](const ProgressToken& token) { add_confidence(evaluation_, *index_, token); });
    neighbors_known_ = true;
}

void ShownEvaluation::complete(const std::vector<std::int64_t>& images) {
    if (neighbors_known_ || images.empty()) return;
    const Rows& all = set_->queries();
    std::vector<std::uint8_t> pixels;
    pixels.reserve(images.size() * static_cast<std::size_t>(all.dim));
    for (const std::int64_t image : images)
        pixels.insert(pixels.end(), all.row(image), all.row(image) + all.dim);
    const Results found = search({pixels.data(), std::ssize(images), all.dim});
    for (std::size_t i = 0; i < images.size(); ++i) {
        const Vote& saved = evaluation_.found.votes[static_cast<std::size_t>(images[i])];
        // Rows beside the training set may have voted on a picture.
        if (!of_pictures_ && found.votes[i] != saved)
            throw DataError(options_.view.from + ": another answer for test image " +
                            std::to_string(images[i]) + " than " + evaluation_.data->source +
                            " gives; expected the data set that it was made from (--data DIR)");
        const auto row = found.neighbors.row(static_cast<std::int64_t>(i));
        std::copy(row.begin(), row.end(), evaluation_.found.neighbors.row(images[i]).begin());
    }
}

}  // namespace knn
