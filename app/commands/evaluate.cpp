#include "app/commands/evaluate.h"

#include <algorithm>
#include <array>
#include <ostream>

#include "app/cli/command_line.h"
#include "app/cli/option_table.h"
#include "app/commands/ranks.h"
#include "app/console/interrupt.h"
#include "app/report/json.h"
#include "app/report/page.h"
#include "app/report/picture.h"
#include "app/report/text.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/set/idx.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

/// The files of --report, with all that takes long done before the first is written.
std::vector<OutputFile> files_of_report(const Evaluation& evaluation, const OutputOptions& output) {
    std::vector<OutputFile> files;
    const auto name = [&](std::size_t file) {
        return (fs::path(output.report) / report_files[file]).string();
    };
    const auto add = [&](std::size_t file, std::string content) {
        stop_if_asked();
        files.push_back({name(file), [content = std::move(content)](std::ostream& out) { out << content; }});
    };
    add(0, json_report(evaluation));
    files.push_back({name(1), [&](std::ostream& out) { write_predictions_csv(out, evaluation); }});
    if (pictures_available()) {
        const std::vector<std::uint8_t> png = confusion_png(evaluation);
        add(2, {png.begin(), png.end()});
    } else {
        note(name(2) + " is left out: this build has no OpenCV", output);
    }
    add(3, html_page(evaluation, misclassified(evaluation)));
    if (!evaluation.pictures.empty()) {
        const LabeledImages& images = evaluation.data->test;
        files.push_back({name(4), [&images](std::ostream& out) { write_idx_images(out, images); }});
        files.push_back({name(5), [&images](std::ostream& out) { write_idx_labels(out, images); }});
    }
    return files;
}

/// Whether an output of `evaluate` shows confidences. It asks what was given, because only the first rank keeps its outputs.
bool shows_confidence(const Options& options) {
    return std::ranges::any_of(std::array{"json", "predictions", "report"},
                               [&](const char* output) { return options.given.contains(output); });
}

/// Sets the options to those of the report's evaluation.
void adopt(Options& options, const SavedReport& report) {
    options.method = report.evaluation.method;
    options.first = {report.evaluation.n_train, report.evaluation.n_test};
    const bool free = !options.request.engine && options.request.device.kind == DeviceKind::automatic;
    if (free && report.evaluation.found.plan.device.kind == Device::Kind::cpu) options.request.engine = "cpu";
}

/// The data set that a report names, of pictures its training set.
DataLocation named_by(const SavedReport& report) {
    std::error_code none;
    if (!report.synthetic && report.files.empty() && fs::is_directory(report.source, none)) {
        DataOptions options;
        options.folder = report.source;
        return locate(options);
    }
    DataLocation location;
    location.source = report.source;
    location.synthetic = report.synthetic;
    if (report.synthetic) return location;
    // The user named none of them: a pipe may never be written to.
    const auto is_there = [&](const fs::path& file) { return fs::is_regular_file(file, none); };
    if (report.files.empty() || !std::ranges::all_of(report.files, is_there))
        throw DataError(report.file + ": its data set, " + report.source +
                        ", was not found; expected it there, or --data with its new folder");
    location.files = report.files;
    return location;
}

}  // namespace

void write_report(const Evaluation& evaluation, const OutputOptions& output) {
    write_outputs_together(files_of_report(evaluation, output), output.report);
}

DataLocation location_of(const SavedReport& report, const Options& options) {
    DataLocation location = !names_data(options)   ? named_by(report)
                            : report.of_pictures() ? locate_training(options.data)
                                                   : locate(options.data);
    if (!report.of_pictures()) return location;
    std::error_code none;
    for (const char* name : std::span(report_files).last(2)) {
        const fs::path file = fs::path(report.file).parent_path() / name;
        if (!fs::exists(file, none))
            throw DataError(file.string() + ": no such file; expected the pictures of " + report.file +
                            " beside it");
        location.pictures.push_back(file);
    }
    return location;
}

fs::path predictions_of(const SavedReport& report) {
    return fs::path(report.file).parent_path() / "predictions.csv";
}

void check_source(const Options& options) {
    if (options.view.from.empty()) return;
    Options ignored;
    for (const Option& option : options_of(ignored, "view"))
        if (option.in_report && options.given.contains(option.key()))
            throw UsageError(option.shown() +
                             ": conflicts with --from, whose report determines it; expected one of them");
}

std::optional<Score> score_of(const Predictions& predictions, const std::vector<std::uint8_t>& labels) {
    const auto known = [&](int label) { return std::ranges::binary_search(labels, label); };
    const bool fits = std::ranges::all_of(predictions.truth, known) &&
                      std::ranges::all_of(predictions.votes, known, &Vote::label);
    if (!fits) return std::nullopt;
    return score(predictions.votes, predictions.truth, labels);
}

Source::Source(const Options& options, const std::optional<SavedReport>& report, Clock::time_point start,
               bool with_confidence)
    : options_(options) {
    if (report) {
        from_report(*report);
        return;
    }
    open({}, {});
    const Index& opened = index();
    evaluation_ = with_progress(options_.output, "searching", [&](const ProgressToken& token) {
        Evaluation made = classify_and_score(opened, set_->data(), set_->queries().count, token);
        if (with_confidence) add_confidence(made, opened, token);
        return made;
    });
    evaluation_.load_ms = set_->load_ms();
    evaluation_.wall_ms = ms_since(start);
}

void Source::open(std::optional<DataLocation> location, const std::vector<fs::path>& also_read) {
    set_ = std::make_unique<LoadedSet>(options_, Needed::both, std::move(location), also_read);
    resolved_ = set_->resolve(options_.method, set_->queries().count);
    agree_on({set_->training().images(), set_->queries()}, set_->training().labels());
}

const Index& Source::index() {
    if (index_ == nullptr) index_ = open_index(set_->training(), options_.method, resolved_, options_.output);
    return *index_;
}

Results Source::search(const Rows& images) {
    const Index& opened = index();
    return with_progress(options_.output, "searching",
                         [&](const ProgressToken& token) { return opened.search(images, {.token = token}); });
}

void Source::from_report(const SavedReport& report) {
    adopt(options_, report);
    open(location_of(report, options_), {options_.view.from, report.file, predictions_of(report)});
    check_data(report);
    evaluation_ = report.evaluation;
    evaluation_.data = &set_->data();
    neighbors_known_ = false;
    if (!take_predictions(report)) search_again(report);
}

void Source::check_data(const SavedReport& report) const {
    const Dataset& data = set_->data();
    const auto differ = [&](const std::string& what) {
        throw DataError(report.file + ": needs " + what + ", which " + data.source +
                        " does not have; expected the data set that it was made from (--data DIR)");
    };
    const auto images = [](std::int64_t train, std::int64_t test) {
        return with_commas(train) + " training and " + counted(test, "test image");
    };
    const Evaluation& saved = report.evaluation;
    if (saved.n_train > data.train.count || saved.n_test > data.test.count)
        differ(images(saved.n_train, saved.n_test));
    if (report.rows != data.test.rows || report.cols != data.test.cols)
        differ("images of " + std::to_string(report.rows) + "x" + std::to_string(report.cols));
    if (saved.score.labels != data.labels) differ("other classes");
}

bool Source::take_predictions(const SavedReport& report) {
    if (report.file == "standard input") return false;
    const fs::path file = predictions_of(report);
    std::error_code none;
    if (!fs::is_regular_file(file, none)) return false;
    try {
        Predictions read = read_predictions(file, evaluation_.n_test);
        if (read.truth != first_labels(evaluation_.data->test, evaluation_.n_test))
            throw DataError(file.string() + ": has other labels than the data set");
        const std::optional<Score> counted = score_of(read, evaluation_.data->labels);
        if (!counted) throw DataError(file.string() + ": has labels that are not classes of the data set");
        if (counted->confusion != report.evaluation.score.confusion)
            throw DataError(file.string() + ": is not of this report");
        evaluation_.found.votes = std::move(read.votes);
        evaluation_.confidence = std::move(read.confidence);
        evaluation_.found.neighbors = Neighbors(evaluation_.n_test, evaluation_.method.vote.k);
        evaluation_.score = *counted;
        return true;
    } catch (const DataError& error) {
        note(std::string(error.what()) + ": searching again", options_.output);
        return false;
    }
}

void Source::search_again(const SavedReport& report) {
    Results found = search(set_->queries());
    const std::vector<std::uint8_t> truth = first_labels(evaluation_.data->test, evaluation_.n_test);
    evaluation_.score = score(found.votes, truth, evaluation_.data->labels);
    if (evaluation_.score.confusion != report.evaluation.score.confusion)
        throw DataError(report.file + ": another confusion matrix than " + evaluation_.data->source +
                        " gives; expected the data set that it was made from (--data DIR)");
    evaluation_.found.votes = std::move(found.votes);
    evaluation_.found.neighbors = std::move(found.neighbors);
    evaluation_.found.confidence_features = std::move(found.confidence_features);
    with_progress(options_.output, "searching",
                  [&](const ProgressToken& token) { add_confidence(evaluation_, *index_, token); });
    neighbors_known_ = true;
}

void Source::complete(const std::vector<std::int64_t>& images) {
    if (neighbors_known_ || images.empty()) return;
    const Rows& all = set_->queries();
    std::vector<std::uint8_t> pixels;
    pixels.reserve(images.size() * static_cast<std::size_t>(all.dim));
    for (const std::int64_t image : images)
        pixels.insert(pixels.end(), all.row(image), all.row(image) + all.dim);
    const Results found = search({pixels.data(), std::ssize(images), all.dim});
    for (std::size_t i = 0; i < images.size(); ++i) {
        const Vote& saved = evaluation_.found.votes[static_cast<std::size_t>(images[i])];
        if (found.votes[i] != saved)
            throw DataError(options_.view.from + ": another answer for test image " +
                            std::to_string(images[i]) + " than " + evaluation_.data->source +
                            " gives; expected the data set that it was made from (--data DIR)");
        const auto row = found.neighbors.row(static_cast<std::int64_t>(i));
        std::copy(row.begin(), row.end(), evaluation_.found.neighbors.row(images[i]).begin());
    }
}

int evaluate(const Options& options, Clock::time_point start) {
    const Source source(options, {}, start, shows_confidence(options));
    const Evaluation& evaluation = source.evaluation();
    const OutputOptions& output = options.output;
    std::vector<OutputFile> files = {
        {output.json, [&](std::ostream& out) { out << json_report(evaluation); }},
        {output.predictions, [&](std::ostream& out) { write_predictions_csv(out, evaluation); }},
        {output.neighbors_csv, [&](std::ostream& out) { write_neighbors_csv(out, evaluation); }}};
    if (!output.report.empty())
        for (OutputFile& file : files_of_report(evaluation, output))
            files.push_back(std::move(file));
    const std::string text =
        output.quiet ? accuracy_line(evaluation.score) : text_report(evaluation, use_color(output.color));
    write_results(files, text, output.report);
    return 0;
}

}  // namespace knn
