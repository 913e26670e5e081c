#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <future>
#include <optional>
#include <ostream>
#include <set>

#include "app/cli/command_line.h"
#include "app/commands/loading.h"
#include "app/commands/pictures.h"
#include "app/console/console.h"
#include "app/report/answers.h"
#include "app/report/page.h"
#include "app/report/report_file.h"
#include "app/report/text.h"
#include "classifier/evaluation.h"
#include "classifier/host.h"
#include "classifier/index.h"
#include "classifier/picture_answers.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/picture/picture_file.h"
#include "data/vectors/sets.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

enum ExitCode { done = 0, all_failed = 1, some_failed = 3 };

/// One search for all digits. Without a digit nothing is fitted, but unsupported options are reported.
Results answer(std::span<PictureAnswer> pictures, LoadedTraining& training, const Options& options) {
    const std::vector<Answer*> digits = digits_to_search(pictures, options.classify.reject.has_value());
    const auto has_two_sizes = [](const Answer* digit) { return digit->image.smaller.has_value(); };
    const std::int64_t n = std::ssize(digits) + std::ranges::count_if(digits, has_two_sizes);
    if (digits.empty()) {
        check_for_digits(training, options);
        return {};
    }
    const DigitSearch search(training, options, n);
    Results found = with_progress(options.output, "searching",
                                  [&](const ProgressToken& token) { return search.answer(digits, token); });
    search.choose(pictures, stoppable());
    return found;
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
    search.rerank.kind = RerankKind::none;
    search.vote = {.k = FittedReranking{options.method.rerank}.candidates(search.vote.k, set.size(), false)};
    const Problem problem = search.problem(set.view(), std::ssize(digits));
    const Index index(set, search, resolve_on_cpu(problem, options.request.threads));
    const Neighbors found = index
                                .search(Rows{pixels.data(), std::ssize(digits), set.images().dim},
                                        {.vote = false, .token = stoppable()})
                                .neighbors;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const auto row = found.row(static_cast<std::int64_t>(i));
        digits[i]->candidates.assign(row.begin(), row.end());
    }
}

/// The pictures whose names tell their digits.
struct Judgment {
    std::size_t named = 0, rejected = 0, failed = 0;
    std::vector<const PictureAnswer*> answered;
    std::vector<std::uint8_t> truth;  ///< of those that were answered
    Evaluation evaluation;  ///< of the same; with the labels of the training images and the expected digits
};

Judgment judge(const PictureAnswers& answers) {
    Judgment result;
    std::set<std::uint8_t> labels(answers.labels.begin(), answers.labels.end());
    for (const PictureAnswer& picture : answers.pictures) {
        if (!picture.expected) continue;
        ++result.named;
        if (!picture.error.empty()) {
            ++result.failed;
            continue;
        }
        const Answer& answer = picture.digits.at(0);
        if (!answer.label) {
            ++result.rejected;
            continue;
        }
        result.answered.push_back(&picture);
        result.truth.push_back(static_cast<std::uint8_t>(*picture.expected));
        labels.insert(result.truth.back());
        Vote& vote = result.evaluation.found.votes.emplace_back(Vote{});
        vote.label = static_cast<decltype(vote.label)>(*answer.label);
        vote.vote_share = answer.vote_share;
        result.evaluation.confidence.push_back(answer.confidence);
    }
    result.evaluation.score =
        score(result.evaluation.found.votes, result.truth, std::vector(labels.begin(), labels.end()));
    return result;
}

std::string wrong_text(const Judgment& judgment) {
    std::string text;
    for (const PictureAnswer* one : judgment.answered)
        if (one->digits[0].label != one->expected)
            text += "    " + harmless(one->file) + ": " + std::to_string(*one->digits[0].label) +
                    ", expected " + std::to_string(*one->expected) + '\n';
    return text.empty() ? "" : "\nwrong:\n" + text;
}

/// How many are right; unless `quiet`, also the confusion matrix of those that were answered, and which are wrong.
std::string expected_text(const PictureAnswers& answers, const Judgment& judgment, bool quiet, bool color) {
    if (judgment.named == 0) return "";  // all failed, as their errors say
    const Score& found = judgment.evaluation.score;
    const auto number = [](auto count) { return with_commas(static_cast<std::int64_t>(count)); };
    std::string all = number(found.correct) + " of " +
                      counted(static_cast<std::int64_t>(judgment.named), "picture") + " right, " +
                      number(found.total - found.correct) + " wrong, " + number(judgment.rejected) +
                      " rejected, " + number(judgment.failed) + " failed";
    const std::size_t unnamed = answers.pictures.size() - judgment.named;
    if (unnamed == 1) all += "; 1 more has no digit in its name";
    if (unnamed > 1) all += "; " + number(unnamed) + " more have no digit in their names";
    if (found.total == 0) return all + '\n';
    const std::string text = all + "\nof those answered: " + accuracy_line(found);
    return quiet ? text : text + '\n' + confusion_text(found, color) + wrong_text(judgment);
}

/// Writes the files of --report for the pictures that were answered and whose names tell a digit. `location`: of the
/// training set; `load_ms`, `wall_ms`: until all was read, and in all.
void write_expected_report(const PictureAnswers& answers, Judgment& judgment, const LoadedTraining& training,
                           const DataLocation& location, const Results& found, double load_ms, double wall_ms,
                           const Options& options) {
    const std::int64_t count = std::ssize(judgment.answered);
    if (count == 0) throw DataError("--report: no picture was answered; expected at least one");
    std::vector<std::uint8_t> pixels;
    Evaluation& evaluation = judgment.evaluation;
    evaluation.found.neighbors =
        Neighbors(count, static_cast<int>(judgment.answered.front()->digits[0].neighbors.size()));
    for (std::int64_t i = 0; i < count; ++i) {
        const Answer& answer = judgment.answered[static_cast<std::size_t>(i)]->digits[0];
        pixels.insert(pixels.end(), answer.image.pixels.begin(), answer.image.pixels.end());
        std::ranges::copy(answer.neighbors, evaluation.found.neighbors.row(i).begin());
        evaluation.pictures.push_back(judgment.answered[static_cast<std::size_t>(i)]->file);
    }
    constexpr int side = DigitImage::side;
    const Training test{{pixels.data(), count, side * side}, judgment.truth, {side, side}};
    Dataset data;
    data.name = pictures_name;
    data.source = location.source;
    data.files = location.files;
    data.extra = location.extra;
    data.n_extra = count_extra(location);
    data.named_vectors = location.vectors;
    data.synthetic = location.synthetic;
    data.train = copied(training.all, all_indices(training.all.rows.count));
    data.test = copied(test, all_indices(count));
    data.labels = evaluation.score.labels;
    evaluation.data = &data;
    evaluation.n_train = answers.train.count;
    evaluation.n_test = count;
    evaluation.n_named = static_cast<std::int64_t>(judgment.named);
    evaluation.created = utc_now();
    evaluation.method = options.method;
    evaluation.calibrated = answers.calibrated;
    evaluation.found.plan = found.plan;
    evaluation.found.timeline = found.timeline;
    evaluation.found.search_ms = found.search_ms;
    evaluation.load_ms = load_ms;
    evaluation.wall_ms = wall_ms;
    write_outputs_together(report_folder(evaluation, options.output), options.output.report);
}

/// Throws if none of the pictures has a name that tells its digit. Errors of those that are not there say more.
void check_names(const std::vector<PictureSource>& sources) {
    const auto is_named = [](const PictureSource& one) { return expected_digit(one.file).has_value(); };
    const auto is_there = [](const PictureSource& one) {
        std::error_code none;
        return one.error.empty() && (one.file == "-" || fs::exists(one.file, none));
    };
    if (std::ranges::none_of(sources, is_named) && std::ranges::any_of(sources, is_there))
        throw DataError(
            "--expected: no name of a picture tells its digit; expected folders 0 to 9, or names such as "
            "four_4.png");
}

void check(const Options& options) {
    const ClassifyOptions& classify = options.classify;
    const bool reads_picture = std::ranges::count(options.operands, "-") > 0;
    if (classify.form == "-" && (reads_picture || !classify.review.empty()))
        throw UsageError("--template -: standard input is also read for " +
                         std::string(reads_picture ? "a picture" : "--review") +
                         "; expected the name of a file");
    if (!classify.review.empty() && reads_picture)
        throw UsageError("--review: the answers are read from standard input; expected no picture -");
}

constexpr double sure = 0.9;
constexpr int digit_side = DigitImage::side;

bool is_doubtful(const Answer& answer) {
    return !answer.neighbors.empty() && (!answer.label || answer.confidence < sure);
}

/// The first characters of a line of standard input, without blanks; "q" where there is none.
std::string ask() {
    std::string line;
    for (;;) {
        pollfd input = {STDIN_FILENO, POLLIN, 0};
        do
            stop_if_asked();
        while (::poll(&input, 1, 100) <= 0);
        char byte = 0;
        if (::read(STDIN_FILENO, &byte, 1) != 1) {
            print_to_stderr("\n");
            return line.empty() ? "q" : line;
        }
        if (byte == '\n') return line;
        if (byte != '\r' && byte != ' ' && line.size() < 2) line += byte;
    }
}

/// A name in the folder that nothing has yet; not hidden, as `learn` would not find it, nor longer than a name may be.
fs::path free_name(const fs::path& folder, const std::string& picture) {
    std::string stem = picture == "-" ? "stdin" : fs::path(picture).stem().string();
    stem.erase(0, stem.find_first_not_of('.'));
    std::size_t length = std::min<std::size_t>(stem.size(), 200);
    while (length > 0 && length < stem.size() && static_cast<std::uint8_t>(stem[length]) >> 6 == 2)
        --length;  // whole characters of UTF-8
    stem.resize(length);
    for (int number = 1;; ++number) {
        const fs::path file = folder / (stem + '-' + std::to_string(number) + ".png");
        std::error_code none;
        if (!fs::exists(fs::symlink_status(file, none))) return file;
    }
}

void keep(const Answer& answer, const fs::path& folder, const std::string& picture) {
    const auto png = encode_png(answer.image.pixels.data(), digit_side, digit_side, 1);
    write_outputs_together(std::array{OutputFile{free_name(folder, picture).string(),
                                                 [&](std::ostream& out) { put(out, png); }}},
                           folder.string());
}

/// Shows each digit that was rejected or is right with less than 90 % on standard error, asks on standard input which it is, and writes
/// its 28×28 pixels to FOLDER/DIGIT/NAME.png, a new name each time. Enter skips one, q ends. Returns how many it wrote.
std::int64_t review(const PictureAnswers& answers, const std::string& folder) {
    std::int64_t doubtful = 0, number = 0, kept = 0;
    for (const PictureAnswer& picture : answers.pictures)
        doubtful += std::ranges::count_if(picture.digits, is_doubtful);
    for (const PictureAnswer& picture : answers.pictures)
        for (const Answer& answer : picture.digits) {
            if (!is_doubtful(answer)) continue;
            std::string shown;
            for (const std::string& line : block_lines(answer.image.pixels.data(), digit_side, digit_side))
                shown += line + '\n';
            print_to_stderr(shown + harmless(picture.file) + ", " + std::to_string(++number) + " of " +
                            with_commas(doubtful) + ": " + symbol_and_guess(answer) +
                            (answer.label ? ", " + percent(answer.confidence, 0) : "") +
                            ". Which digit is it?");
            std::string line;
            do {
                print_to_stderr(" 0 to 9, ?: no digit, Enter: skip, q: quit > ");
                line = ask();
            } while (line.size() == 2 || line.find_first_not_of("0123456789?q") != std::string::npos);
            if (line == "q") return kept;
            if (line.empty()) continue;
            keep(answer, fs::path(folder) / line, picture.file);
            ++kept;
        }
    return kept;
}

}  // namespace

int classify(const Options& options, Clock::time_point start) {
    check(options);
    if (!pictures_available())
        throw DataError("classify: this build cannot read pictures; expected a build with OpenCV");
    const PictureSources found_pictures =
        find_pictures(options.operands, options.classify.recursive ? Subfolders::read : Subfolders::with_r);
    const std::vector<PictureSource>& sources = found_pictures.pictures;
    if (options.classify.expected) check_names(sources);
    const DataLocation location = locate_training_data(options.data);
    std::vector<fs::path> inputs = location.inputs();
    inputs.insert(inputs.end(), options.method_files.begin(), options.method_files.end());
    for (const PictureSource& picture : sources)
        inputs.emplace_back(picture.file);
    std::optional<Form> form;
    if (options.classify.grid) form = grid_form((*options.classify.grid)[0], (*options.classify.grid)[1]);
    if (!options.classify.form.empty()) {
        inputs.emplace_back(options.classify.form);
        form = read_form(options.classify.form);
    }
    check_outputs(output_places(options), inputs);
    note(data_notice(location, true));  // first: without MNIST the answers are worth less
    const int threads = threads_or_all(options.request.threads);

    limit_codecs();
    // The training set is read while the pictures are.
    std::future<LoadedTraining> loading = std::async([&] { return load_for_digits(location, options); });
    PictureAnswers answers;
    answers.pages = options.classify.reads_pages();
    answers.numbers = options.classify.numbers;
    answers.columns = form ? form->columns : 0;
    answers.pixels = options.classify.pixels;
    answers.pictures = with_progress(options.output, "reading  ", [&](const ProgressToken& token) {
        return extract_pictures(sources, options.classify, threads, token, form ? &*form : nullptr);
    });
    LoadedTraining training = loading.get();
    const double load_ms = ms_since(start);
    stop_if_asked();
    answers.train = training.set.images();
    answers.labels = training.all.labels;
    answers.method = options.method;
    for (const std::string& notice : found_pictures.notices)
        note(notice, options.output);

    const Results found = answer(answers.pictures, training, options);
    answers.calibrated = !training.sample.empty();
    for (PictureAnswer& picture : answers.pictures)
        if (form && picture.error.empty()) picture.fields = read_fields(*form, picture.digits);
    const bool explains = !options.classify.explain.empty();
    if (explains && !answers.pages && options.method.rerank.has_descriptors())
        add_candidates(answers, training, options);
    answers.expected = options.classify.expected;
    for (PictureAnswer& picture : answers.pictures)
        if (answers.expected) picture.expected = expected_digit(picture.file);
    const std::size_t failures = report_failures(answers.pictures);
    if (explains && answers.pictures.size() > max_explained)
        note("--explain draws the first " + std::to_string(max_explained) + " of " +
                 counted(std::ssize(answers.pictures), "picture"),
             options.output);
    const bool quiet = options.output.quiet, color = use_color(options.output.color);
    Judgment judgment;
    if (answers.expected) judgment = judge(answers);
    write_results(
        {{options.output.json,
          [&](std::ostream& out) { out << answers_json(answers, options.classify.json_version); }},
         {options.classify.explain, [&](std::ostream& out) { put(out, explanation_png(answers)); }}},
        answers.expected ? expected_text(answers, judgment, quiet, color)
                         : answers_text(answers, quiet, color));
    if (!options.output.report.empty())
        write_expected_report(answers, judgment, training, location, found, load_ms, ms_since(start),
                              options);
    if (!options.classify.review.empty()) {
        const std::int64_t kept = review(answers, options.classify.review);
        note(counted(kept, "digit") + " written to " + options.classify.review, options.output);
    }
    return failures == 0 ? done : failures == answers.pictures.size() ? all_failed : some_failed;
}

}  // namespace knn
