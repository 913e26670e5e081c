#include "app/commands/expected.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "app/commands/outputs.h"
#include "app/report/report_file.h"
#include "app/report/text.h"
#include "classifier/evaluation.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

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
    std::array<bool, 256> seen = {};
    for (const std::uint8_t label : training)
        seen[label] = true;
    for (const Judged& one : judgment.answered)
        seen[one.truth] = true;
    std::vector<std::uint8_t> labels;
    for (std::size_t label = 0; label < seen.size(); ++label)
        if (seen[label]) labels.push_back(static_cast<std::uint8_t>(label));
    return labels;
}

LabeledImages images_of(std::span<const std::uint8_t> pixels, std::span<const std::uint8_t> labels, int rows,
                        int cols) {
    LabeledImages images{std::ssize(labels), rows, cols, Bytes(pixels.size()), Bytes(labels.size())};
    std::copy(pixels.begin(), pixels.end(), images.pixels.data());
    std::copy(labels.begin(), labels.end(), images.labels.data());
    return images;
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

}  // namespace

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

void note_expected(PictureAnswers& answers) {
    answers.expected = true;
    for (PictureAnswer& picture : answers.pictures)
        picture.expected = expected_digit(picture.file);
}

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

void write_expected_report(const PictureAnswers& answers, const Training& train, const std::string& source,
                           const Results& found, const RunTimes& times, const Options& options) {
    const Judgment judgment = judge(answers);
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
    data.source = source;
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
    evaluation.load_ms = times.load_ms;
    evaluation.wall_ms = times.wall_ms;
    write_report(evaluation, options.output);
}

}  // namespace knn
