#include <array>
#include <future>
#include <optional>

#include "app/cli/command.h"
#include "app/cli/values.h"
#include "app/commands/digits.h"
#include "app/commands/expected.h"
#include "app/commands/outputs.h"
#include "app/commands/pictures.h"
#include "app/console/destinations.h"
#include "app/console/interrupt.h"
#include "app/console/notes.h"
#include "app/console/output.h"
#include "app/console/terminal.h"
#include "app/console/watched.h"
#include "app/report/answers.h"
#include "app/report/explain.h"
#include "app/report/picture.h"
#include "classifier/confidence.h"
#include "classifier/host.h"
#include "classifier/index.h"
#include "classifier/readings.h"
#include "classifier/rejection.h"
#include "classifier/sizes.h"
#include "classifier/text_rows.h"
#include "data/core/errors.h"
#include "data/picture/picture_file.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

enum ExitCode { done = 0, all_failed = 1, some_failed = 3 };

/// The digits to search for, in the order of `answers`; without those where no digit was found, unless an
/// answer is wanted at any price.
std::vector<Answer*> digits_to_search(PictureAnswers& answers, bool rejects) {
    std::vector<Answer*> digits;
    for (PictureAnswer& picture : answers.pictures) {
        expand_readings(picture.digits);
        for (Answer& digit : picture.digits) {
            if (rejects) digit.reason = digit.image.refused;
            if (digit.reason.empty()) digits.push_back(&digit);
            for (std::vector<Answer>& reading : digit.readings)
                for (Answer& part : reading)
                    digits.push_back(&part);
        }
    }
    return digits;
}

/// One search for all digits.
Results answer(std::vector<Answer*>& digits, const LoadedTraining& training, const Options& options) {
    const std::vector<std::uint8_t> rows = rows_to_search(images_of(digits));
    const std::int64_t n = std::ssize(rows) / training.set.images().dim;
    // Also without a digit, so that unsupported options are always reported.
    const Resolved resolved = resolve_for_digits(training, options, std::max<std::int64_t>(n, 1));
    note(resolved.notice);
    if (digits.empty()) return {};
    const Index index(training.set, options.method, resolved);
    const Judge judge(index, training.sample, options.classify.reject);
    return watched(options.output, "searching",
                   [&](const Watch& watch) { return answer_digits(digits, index, judge, watch); });
}

/// For explanations: the candidates of each digit as the search finds them, before they are ordered again.
void add_candidates(PictureAnswers& answers, const LoadedTraining& training, const Options& options) {
    std::vector<Answer*> digits;
    std::vector<std::uint8_t> pixels;
    for (PictureAnswer& picture :
         std::span(answers.pictures).first(std::min(answers.pictures.size(), max_explained)))
        for (Answer& digit : picture.digits) {
            if (digit.neighbors.empty()) continue;
            digits.push_back(&digit);
            pixels.insert(pixels.end(), digit.image.pixels.begin(), digit.image.pixels.end());
        }
    if (digits.empty()) return;
    const TrainingSet& set = training.set;
    Method search = options.method;
    search.rerank.kind = Reranker::none;
    search.vote = {.k = Reranking{options.method.rerank}.candidates(search.vote.k, set.size(), false)};
    const Problem problem = search.problem(set.view(), std::ssize(digits));
    const Index index(set, search, resolve_on_cpu(problem, options.wish.threads));
    const Neighbors found = index
                                .search(Rows{pixels.data(), std::ssize(digits), set.images().dim},
                                        {.vote = false, .watch = stoppable()})
                                .neighbors;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const auto row = found.row(static_cast<std::int64_t>(i));
        digits[i]->candidates.assign(row.begin(), row.end());
    }
}

/// Throws UsageError where options contradict each other.
void check(const Options& options) {
    const ClassifyOptions& classify = options.classify;
    if (classify.expected && classify.many)
        throw UsageError("--expected: a page has many digits; expected no --many");
    if (!options.output.report.empty() && !classify.expected)
        throw UsageError("--report: the names of the pictures must tell their digits; expected --expected");
    if (classify.pixels && options.output.json.empty())
        throw UsageError("--pixels: are part of the JSON; expected --json FILE");
}

/// All files that will be read.
std::vector<fs::path> inputs_of(const Options& options, const DataLocation& location,
                                const std::vector<PictureSource>& pictures) {
    std::vector<fs::path> inputs = inputs_of(options, location.files());
    for (const PictureSource& picture : pictures)
        inputs.emplace_back(picture.file);
    return inputs;
}

/// One line for each picture that failed; says how many.
std::size_t report_failures(const PictureAnswers& answers) {
    std::size_t failures = 0;
    for (const PictureAnswer& picture : answers.pictures) {
        if (picture.error.empty()) continue;
        ++failures;
        print_line_to_stderr("error: " + quoted_if_empty(picture.file) + ": " + picture.error);
    }
    return failures;
}

std::string text_of(const PictureAnswers& answers, const Options& options) {
    const bool quiet = options.output.quiet, color = use_color(options.output.color);
    return options.classify.expected ? expected_text(answers, quiet, color)
                                     : answers_text(answers, quiet, color);
}

void write_outputs(const PictureAnswers& answers, const Options& options) {
    if (!options.classify.explain.empty() && answers.pictures.size() > max_explained)
        note("--explain shows the first " + std::to_string(max_explained) + " pictures", options.output);
    write_results(
        {{options.output.json, [&](std::ostream& out) { out << answers_json(answers); }},
         {options.classify.explain, [&](std::ostream& out) { put(out, explanation_png(answers)); }}},
        text_of(answers, options));
}

}  // namespace

int classify(const Options& options, Clock::time_point start) {
    check(options);
    const Destinations outputs(options);
    if (!pictures_available())
        throw DataError("classify: this build cannot read pictures; expected a build with OpenCV");
    const PictureSources found_pictures = find_pictures(options.classify.images, options.classify.recursive);
    const std::vector<PictureSource>& sources = found_pictures.pictures;
    const DataLocation location = locate_training(options.data);
    outputs.check(inputs_of(options, location, sources));
    note(data_notice_of_pictures(location));  // first: without MNIST the answers are worth less
    const int threads = threads_or_all(options.wish.threads);

    limit_codecs();
    // The training set is read while the pictures are.
    std::future<LoadedTraining> loading =
        std::async([&] { return load_for_digits(location, options, threads); });
    const std::size_t explained = options.classify.explain.empty() ? 0 : max_explained;
    PictureAnswers answers;
    answers.pages = options.classify.many;
    answers.pixels = options.classify.pixels;
    answers.pictures = watched(options.output, "reading  ", [&](const Watch& watch) {
        return extract_pictures(
            sources, {options.classify.many, explained, threads, static_cast<int>(options.classify.rotate)},
            watch);
    });
    const LoadedTraining training = loading.get();
    const double load_ms = ms_since(start);
    stop_if_asked();
    answers.train = training.set.images();
    answers.labels = training.all.labels;
    answers.method = options.method;
    answers.calibrated = !training.sample.empty();
    for (const std::string& notice : found_pictures.notices)
        note(notice, options.output);

    std::vector<Answer*> digits = digits_to_search(answers, options.classify.reject.has_value());
    const Results found = answer(digits, training, options);
    const Measure measure = options.method.neighbor_measure();
    const UsualDistances usual(training.sample);
    for (PictureAnswer& picture : answers.pictures) {
        choose_readings(picture.digits, answers.labels, measure, usual);
        reject_text_rows(picture.digits);
    }
    if (explained > 0 && !answers.pages && options.method.rerank.has_descriptors())
        add_candidates(answers, training, options);
    if (options.classify.expected) note_expected(answers);
    const std::size_t failures = report_failures(answers);
    write_outputs(answers, options);
    if (!options.output.report.empty())
        write_expected_report(answers, training.all, training.source, found, {load_ms, ms_since(start)},
                              options);
    return failures == 0 ? done : failures == answers.pictures.size() ? all_failed : some_failed;
}

}  // namespace knn
