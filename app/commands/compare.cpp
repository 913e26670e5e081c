#include "classifier/evaluation.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "app/cli/command_line.h"
#include "app/commands/saved_evaluation.h"
#include "app/console/console.h"
#include "app/report/csv.h"
#include "app/report/json.h"
#include "app/report/page.h"
#include "app/report/text.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/vectors/sets.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

struct Side {
    std::string name;  ///< as the user gave it
    SavedReport report;
    Predictions predictions;

    explicit Side(const std::string& file) : name(file), report(read_report(file)) {
        predictions = predictions_beside(report, report.evaluation.score);
    }

    const Score& score() const { return report.evaluation.score; }
    bool are_images() const { return report.type.empty(); }
    /// With what differs from `other` beside: how many training images, or their files.
    std::string settings(const Side& other) const {
        const auto n_train = [](const Side& side) { return side.report.evaluation.n_train; };
        std::string text = settings_text(report.evaluation.method);
        if (n_train(*this) != n_train(other))
            text += ", " + counted(n_train(*this), are_images() ? "training image" : "training row");
        if (report.data.source != other.report.data.source) text += ", " + harmless(report.data.source);
        return text;
    }
    /// "9,688 of 10,000 right".
    std::string right() const {
        return with_commas(score().correct) + " of " + with_commas(score().total) + " right";
    }
    Json json() const {
        return {{"report", report_path(name)},
                {"train", report.evaluation.n_train},
                {"settings", settings_json(report.evaluation.method, report.evaluation.found.plan)},
                {"correct", score().correct},
                {"accuracy", score().accuracy},
                {"accuracy_low", score().accuracy_low},
                {"accuracy_high", score().accuracy_high}};
    }
};

/// Numbers the classes of both by the same list of names: each numbers those of its training and test set.
void unify_classes(Side& a, Side& b) {
    if (a.score().classes == b.score().classes) return;
    std::vector<std::string> names;
    std::array<std::array<std::uint8_t, 256>, 2> number_of{};
    for (const Side* side : {&a, &b})
        for (const std::uint8_t label : side->score().labels) {
            const std::string name = side->score().class_name(label);
            const auto found = std::ranges::find(names, name);
            if (found == names.end() && names.size() == 256) return;  // and the sets differ
            number_of[side == &b][label] = static_cast<std::uint8_t>(found - names.begin());
            if (found == names.end()) names.push_back(name);
        }
    for (Side* side : {&a, &b}) {
        const auto& numbers = number_of[side == &b];
        for (std::uint8_t& label : side->predictions.truth)
            label = numbers[label];
        for (Vote& vote : side->predictions.votes)
            vote.label = numbers[static_cast<std::size_t>(vote.label)];
        side->report.evaluation.score.classes = names;
    }
}

void check_same_test_set(const Side& a, const Side& b, const OutputOptions& output) {
    const auto refuse = [&](const std::string& what) {
        const bool pictures = a.report.of_pictures() && b.report.of_pictures();
        throw DataError(
            a.report.file + ": is of another test set than " + b.report.file + " (" + what +
            (pictures ? ": of the same pictures, each method answers others, in another size" : "") +
            "); expected two reports of one test set");
    };
    const auto counts = [](const Side& side) {
        return counted(side.report.evaluation.n_test, side.are_images() ? "image" : "row");
    };
    if (a.predictions.truth.size() != b.predictions.truth.size()) refuse(counts(a) + " and " + counts(b));
    if (a.report.rows != b.report.rows || a.report.cols != b.report.cols)
        refuse(a.are_images() != b.are_images() ? "one has images, the other rows"
               : a.are_images()                 ? "images of another size"
                                                : "rows of another size");
    if (a.predictions.truth != b.predictions.truth || a.score().classes != b.score().classes)
        refuse("other labels");
    const std::string &sum_a = a.report.test_checksum, &sum_b = b.report.test_checksum;
    if (!sum_a.empty() && !sum_b.empty() && sum_a != sum_b)
        refuse(a.are_images() ? "other images" : "other rows");
    if (sum_a.empty() || sum_b.empty())
        note((sum_a.empty() ? a : b).report.file +
                 ": an older version wrote it, without a checksum of the test set: compared by labels alone",
             output);
}

/// The data set of the reports, if it is found, with the same test set. `location` gets where it was looked for.
std::optional<Dataset> data_of(const Side& a, const Side& b, const Options& options, DataLocation& location) {
    const Side& with_sum = a.report.test_checksum.empty() ? b : a;
    const std::string& sum = with_sum.report.test_checksum;
    const std::vector<std::uint8_t>& truth = a.predictions.truth;
    const bool named = names_data(options);
    std::string why;
    try {
        location = location_of(with_sum.report, options);
        Dataset data = load_data(location);
        const auto labels = data.test.labels.span();
        const std::int64_t n = with_sum.report.evaluation.n_test;
        const auto same_class = [&](int label, int in_data) {
            return a.score().class_name(label) == data.class_name(in_data);
        };
        if (n <= data.test.count && std::equal(truth.begin(), truth.end(), labels.begin(), same_class) &&
            (sum.empty() || sum == test_checksum(data, n)) && data.are_images())
            return data;
        why = data.are_images() ? data.source + " is not the reports' data set" : not_images(data);
    } catch (const DataError& error) {
        if (named) throw;
        why = error.what();
    }
    note("a page without pictures: " + why, options.output);
    return std::nullopt;
}

/// The result of McNemar's test in one sentence.
std::string sentence(const Comparison& result, bool images) {
    const bool a_leads = result.only_a > result.only_b;
    const std::int64_t more = std::max(result.only_a, result.only_b),
                       less = std::min(result.only_a, result.only_b);
    if (more == 0)
        return std::string("A and B get exactly the same ") + (images ? "digits" : "rows") + " right.";
    const std::string p = result.p_value < 0.0005 ? "less than 0.001" : p_text(result.p_value);
    const std::string chance =
        "would come with probability " + p + " if both were equally good (McNemar's exact test)";
    const std::string leads = a_leads ? "A is better than B" : "B is better than A";
    return (result.p_value >= significance ? "The test does not tell A and B apart" : leads) +
           ": a split of the " + counted(more + less, images ? "digit" : "row") +
           " that only one gets right as uneven as " + with_commas(more) + " to " + with_commas(less) + ' ' +
           chance + '.';
}

std::string compare_text(const Side& a, const Side& b, const Comparison& result) {
    constexpr std::size_t most_shown = 20;
    Table heads({Align::left, Align::right, Align::left, Align::left});
    for (const Side* side : {&a, &b})
        heads.add({side == &a ? "A" : "B", percent(side->score().accuracy),
                   side->right() + " (" + percent(side->score().accuracy_low) + " to " +
                       percent(side->score().accuracy_high) + ")",
                   harmless(side->name) + ": " + side->settings(side == &a ? b : a)});
    Table counts({Align::left, Align::right});
    counts.add({"both right", with_commas(result.both_right)});
    counts.add({"only A right", with_commas(result.only_a)});
    counts.add({"only B right", with_commas(result.only_b)});
    counts.add({"both wrong", with_commas(result.both_wrong)});

    std::string text = heads.text(0) + '\n' + counts.text(0) + '\n';
    if (const std::size_t all = result.disagreements.size(); all > 0) {
        Table digits(std::vector<Align>(4, Align::right));
        digits.add({"index", "label", "A", "B"});
        const auto named = [&](int label) { return class_text(a.score().class_name(label)); };
        for (const Disagreement& one : std::span(result.disagreements).first(std::min(most_shown, all)))
            digits.add({std::to_string(one.index), named(one.label), named(one.a), named(one.b)});
        text += digits.text(0);
        if (all > most_shown)
            text += "... and " + with_commas(static_cast<std::int64_t>(all - most_shown)) +
                    " more (--csv, --html)\n";
        text += '\n';
    }
    return text + sentence(result, a.are_images()) + '\n';
}

std::string compare_json(const Side& a, const Side& b, const Comparison& result) {
    Json json = json_head("mnist-knn/compare/1");
    json.update({{"a", a.json()},
                 {"b", b.json()},
                 {"total", result.total()},
                 {"both_right", result.both_right},
                 {"only_a", result.only_a},
                 {"only_b", result.only_b},
                 {"both_wrong", result.both_wrong},
                 {"p_value", result.p_value}});
    return json_text(json);
}

void write_compare_csv(std::ostream& out, const Comparison& result, const Score& score) {
    Lines lines(out);
    lines.row("index,label,a,b");
    for (const Disagreement& one : result.disagreements)
        lines.row(one.index, text_cell(score.class_name(one.label)), text_cell(score.class_name(one.a)),
                  text_cell(score.class_name(one.b)));
}

std::string figure(const Disagreement& one, const LabeledImages* test, const Score& score) {
    std::string html = "<figure>";
    if (test != nullptr)
        html += "<img alt=\"\" src=\"data:image/png;base64," +
                base64(encode_png(test->images().row(one.index), test->rows, test->cols, 1)) + "\">";
    const auto named = [&](int label) { return escaped(class_text(score.class_name(label))); };
    const auto answer = [&](const char* letter, int label) {
        return std::string("<span class=\"") + (label == one.label ? "right" : "wrong") + "\">" + letter +
               ' ' + named(label) + "</span> ";
    };
    return html + "<figcaption>#" + std::to_string(one.index) + " <b>" + named(one.label) + "</b> " +
           answer("A", one.a) + answer("B", one.b) + "</figcaption></figure>\n";
}

constexpr const char* style =
    "<style>\n"
    "p { overflow-wrap: anywhere; }\n"
    ".digits { display: flex; flex-wrap: wrap; gap: 1rem; }\n"
    "figure { margin: 0; }\n"
    "figure img { width: 84px; max-height: 168px; image-rendering: pixelated; display: block; background: "
    "#000; }\n"
    ".right { color: var(--right); } .wrong { color: var(--wrong); }\n</style>\n";

/// A page without other files; `test`: the pictures of the test set, or null.
std::string compare_page(const Side& a, const Side& b, const Comparison& result, const LabeledImages* test) {
    constexpr std::int64_t most_shown = 1000;
    std::string html =
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
        "'unsafe-inline'\">\n<title>Two classifiers</title>\n<style>\n" +
        std::string(page_css) + "</style>\n" + style +
        "</head>\n<body>\n<main class=\"wide\">\n<h1>Two classifiers</h1>\n";
    for (const Side* side : {&a, &b})
        html += std::string("<p><b>") + (side == &a ? "A" : "B") + "</b> " + escaped(side->name) + ": " +
                side->right() + " (" + percent(side->score().accuracy) + "); " +
                escaped(side->settings(side == &a ? b : a)) + "</p>\n";
    html += "<p>" + escaped(sentence(result, a.are_images())) +
            "</p>\n<p>Both right: " + with_commas(result.both_right) +
            ", both wrong: " + with_commas(result.both_wrong) + ".</p>\n";
    for (const bool of_a : {true, false}) {
        const std::int64_t count = of_a ? result.only_a : result.only_b;
        html += std::string("<h2>Only ") + (of_a ? "A" : "B") + " right: " + with_commas(count) + "</h2>\n";
        if (count > most_shown) html += "<p>The first " + with_commas(most_shown) + ":</p>\n";
        html += "<div class=\"digits\">\n";
        std::int64_t shown = 0;
        for (const Disagreement& one : result.disagreements)
            if ((one.a == one.label) == of_a && shown++ < most_shown) html += figure(one, test, a.score());
        html += "</div>\n";
    }
    return html + "</main>\n</body>\n</html>\n";
}

}  // namespace

int compare(const Options& options, Clock::time_point) {
    const auto& given = options.compare;
    const std::vector<OutputPlace> outputs = output_places(options);
    std::error_code none;
    for (const std::string& file : options.operands)
        if (file == "-" || std::filesystem::is_fifo(file, none))
            throw UsageError(file + ": has no predictions.csv beside it; expected the name of a report");
    Side a(options.operands[0]), b(options.operands[1]);
    check_outputs(outputs,
                  {a.report.file, b.report.file, predictions_of(a.report), predictions_of(b.report)});
    unify_classes(a, b);
    check_same_test_set(a, b, options.output);
    const Comparison result = compare(a.predictions.votes, b.predictions.votes, a.predictions.truth);
    DataLocation location;
    std::optional<Dataset> data;
    if (!given.html.empty()) data = data_of(a, b, options, location);
    check_outputs(outputs, location.inputs());
    const LabeledImages* test = data ? &data->test : nullptr;
    write_results(
        {{given.csv, [&](std::ostream& out) { write_compare_csv(out, result, a.score()); }},
         {given.html, [&](std::ostream& out) { out << compare_page(a, b, result, test); }},
         {options.output.json, [&](std::ostream& out) { out << compare_json(a, b, result); }}},
        options.output.quiet ? sentence(result, a.are_images()) + '\n' : compare_text(a, b, result));
    return 0;
}

}  // namespace knn
