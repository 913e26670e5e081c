#include <algorithm>
#include <future>
#include <optional>
#include <set>

#include "app/cli/command_line.h"
#include "app/cli/values.h"
#include "app/commands/digits.h"
#include "app/commands/evaluated.h"
#include "app/commands/pictures.h"
#include "app/console/interrupt.h"
#include "app/console/output.h"
#include "app/console/terminal.h"
#include "app/report/answers.h"
#include "app/report/picture.h"
#include "app/report/text.h"
#include "classifier/confidence.h"
#include "classifier/evaluation.h"
#include "classifier/host.h"
#include "classifier/index.h"
#include "classifier/rejection.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/core/words.h"
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

/// A picture that was answered, and what it should show.
struct Judged {
    const std::string* file;
    const Answer* answer;
    std::uint8_t truth;
};

struct Judgment {
    std::vector<Judged> answered;
    std::size_t named = 0, unnamed = 0;  ///< pictures whose names tell a digit, and others
    std::size_t rejected = 0, failed = 0;
};

Judgment judge(const PictureAnswers& answers) {
    Judgment result;
    for (const PictureAnswer& picture : answers.pictures) {
        const std::optional<int> truth = picture.expected;
        ++(truth ? result.named : result.unnamed);
        if (!truth) continue;
        if (!picture.error.empty())
            ++result.failed;
        else if (const Answer& answer = picture.digits.at(0); !answer.label)
            ++result.rejected;
        else
            result.answered.push_back({&picture.file, &answer, static_cast<std::uint8_t>(*truth)});
    }
    if (result.named == 0)
        throw DataError(
            "--expected: no name of a picture tells its digit; expected folders 0 to 9, or names "
            "such as four_4.png");
    return result;
}

Score score_of(const Judgment& judgment, std::vector<std::uint8_t> labels) {
    std::vector<Vote> votes;
    std::vector<std::uint8_t> truth;
    for (const auto& [file, answer, digit] : judgment.answered) {
        Vote vote{};
        vote.label = static_cast<decltype(vote.label)>(*answer->label);
        votes.push_back(vote);
        truth.push_back(digit);
    }
    return score(votes, truth, labels);
}

/// All labels that occur among the training images and the expected digits.
std::vector<std::uint8_t> labels_of(const Judgment& judgment, std::span<const std::uint8_t> training) {
    std::set<std::uint8_t> seen(training.begin(), training.end());
    for (const Judged& one : judgment.answered)
        seen.insert(one.truth);
    return {seen.begin(), seen.end()};
}

/// The digit that the name of a file tells: its folder is called 3, or its name without the ending is 3 or ends
/// with _3 or -3. The folder is asked first.
std::optional<int> expected_digit(const std::string& file) {
    const auto digit_of = [](const std::string& text) -> std::optional<int> {
        if (text.empty() || text.back() < '0' || text.back() > '9') return std::nullopt;
        if (text.size() > 1 && text[text.size() - 2] != '_' && text[text.size() - 2] != '-')
            return std::nullopt;
        return text.back() - '0';
    };
    const fs::path path(file);
    // "a.png" and "./a.png" lie in the current folder, whatever it is called.
    std::error_code none;
    const fs::path whole = file == "-" ? path : fs::absolute(path, none).lexically_normal();
    const std::string folder = whole.parent_path().filename().string();
    if (folder.size() == 1)
        if (const std::optional<int> digit = digit_of(folder)) return digit;
    return digit_of(path.stem().string());
}

/// A line for each picture with a wrong answer.
std::string wrong_text(const Judgment& judgment) {
    std::string text;
    for (const auto& [file, answer, digit] : judgment.answered)
        if (*answer->label != digit)
            text += "    " + harmless(*file) + ": " + std::to_string(*answer->label) + ", expected " +
                    std::to_string(digit) + '\n';
    return text.empty() ? "" : "\nwrong:\n" + text;
}

/// How many are right; unless `quiet`, also the confusion matrix of those that were answered, and which are wrong.
std::string expected_text(const PictureAnswers& answers, bool quiet, bool color) {
    const Judgment judgment = judge(answers);
    const Score found = score_of(judgment, labels_of(judgment, answers.labels));
    const std::string all = std::to_string(found.correct) + " of " + std::to_string(judgment.named) + ' ' +
                            noun(static_cast<std::int64_t>(judgment.named), "picture") + " right, " +
                            std::to_string(found.total - found.correct) + " wrong, " +
                            std::to_string(judgment.rejected) + " rejected, " +
                            std::to_string(judgment.failed) + " failed";
    const std::string others =
        judgment.unnamed == 0 ? ""
        : judgment.unnamed == 1
            ? "; the name of 1 more tells no digit"
            : "; the names of " + std::to_string(judgment.unnamed) + " more tell no digit";
    if (found.total == 0) return all + others + '\n';
    const std::string text = all + others + "\nof those answered: " + accuracy_line(found);
    return quiet ? text : text + '\n' + confusion_text(found, color) + wrong_text(judgment);
}

LabeledImages images_of(std::span<const std::uint8_t> pixels, std::span<const std::uint8_t> labels, int rows,
                        int cols) {
    LabeledImages images{std::ssize(labels), rows, cols, Bytes(pixels.size()), Bytes(labels.size())};
    std::copy(pixels.begin(), pixels.end(), images.pixels.data());
    std::copy(labels.begin(), labels.end(), images.labels.data());
    return images;
}

/// Writes the files of --report for the pictures that were answered and whose names tell a digit. `load_ms`, `wall_ms`:
/// until all was read, and in all.
void write_expected_report(const PictureAnswers& answers, const LoadedTraining& training,
                           const Results& found, double load_ms, double wall_ms, const Options& options) {
    const Judgment judgment = judge(answers);
    const Training& train = training.all;
    const std::int64_t count = std::ssize(judgment.answered);
    if (count == 0) throw DataError("--report: no picture was answered; expected at least one");
    std::vector<std::uint8_t> pixels, truth;
    Evaluation evaluation;
    const int k = static_cast<int>(judgment.answered.front().answer->neighbors.size());
    evaluation.found.neighbors = Neighbors(count, k);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto& [file, answer, digit] = judgment.answered[static_cast<std::size_t>(i)];
        pixels.insert(pixels.end(), answer->image.pixels.begin(), answer->image.pixels.end());
        truth.push_back(digit);
        Vote vote{};
        vote.label = static_cast<decltype(vote.label)>(*answer->label);
        vote.confidence = answer->vote_share;
        evaluation.found.votes.push_back(vote);
        evaluation.confidence.push_back(answer->confidence);
        std::copy(answer->neighbors.begin(), answer->neighbors.end(),
                  evaluation.found.neighbors.row(i).begin());
    }
    Dataset data;
    data.name = pictures_name;
    data.source = training.source;
    data.train = images_of({train.rows.row(0), static_cast<std::size_t>(train.rows.count * train.rows.dim)},
                           train.labels, train.shape.rows, train.shape.cols);
    data.test = images_of(pixels, truth, DigitImage::side, DigitImage::side);
    data.labels = labels_of(judgment, train.labels);
    evaluation.data = &data;
    evaluation.n_train = answers.train.count;
    evaluation.n_test = count;
    evaluation.created = utc_now();
    evaluation.method = options.method;
    evaluation.calibrated = answers.calibrated;
    evaluation.found.plan = found.plan;
    evaluation.found.timeline = found.timeline;
    evaluation.found.search_ms = found.search_ms;
    evaluation.score = score_of(judgment, data.labels);
    evaluation.load_ms = load_ms;
    evaluation.wall_ms = wall_ms;
    write_report(evaluation, options.output);
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

}  // namespace

int classify(const Options& options, Clock::time_point start) {
    check(options);
    const Destinations outputs(options);
    if (!pictures_available())
        throw DataError("classify: this build cannot read pictures; expected a build with OpenCV");
    const PictureSources found_pictures = find_pictures(options.classify.images, options.classify.recursive);
    const std::vector<PictureSource>& sources = found_pictures.pictures;
    const DataLocation location = locate_training(options.data);
    std::vector<fs::path> inputs = location.files();
    inputs.insert(inputs.end(), options.method_files.begin(), options.method_files.end());
    for (const PictureSource& picture : sources)
        inputs.emplace_back(picture.file);
    outputs.check(inputs);
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
    const UsualDistances usual = usual_distances(training.sample);
    for (PictureAnswer& picture : answers.pictures) {
        choose_readings(picture.digits, answers.labels, measure, usual);
        reject_text_rows(picture.digits);
    }
    if (explained > 0 && !answers.pages && options.method.rerank.has_descriptors())
        add_candidates(answers, training, options);
    answers.expected = options.classify.expected;
    for (PictureAnswer& picture : answers.pictures)
        if (answers.expected) picture.expected = expected_digit(picture.file);
    const std::size_t failures = report_failures(answers);
    if (explained > 0 && answers.pictures.size() > explained)
        note("--explain shows the first " + std::to_string(explained) + " pictures", options.output);
    write_results(
        {{options.output.json, [&](std::ostream& out) { out << answers_json(answers); }},
         {options.classify.explain, [&](std::ostream& out) { put(out, explanation_png(answers)); }}},
        text_of(answers, options));
    if (!options.output.report.empty())
        write_expected_report(answers, training, found, load_ms, ms_since(start), options);
    return failures == 0 ? done : failures == answers.pictures.size() ? all_failed : some_failed;
}

}  // namespace knn
