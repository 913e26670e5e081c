#include "app/report/compare_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "app/report/json.h"
#include "app/report/page.h"
#include "app/report/png.h"
#include "app/report/text.h"
#include "classifier/statistics.h"
#include "data/core/format.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

Json side_json(const SavedReport& report, const std::string& name) {
    const Score& score = report.evaluation.score;
    Json settings = settings_json(report.evaluation.method, report.evaluation.found.plan);
    return {{"report", report_path(name)},        {"settings", std::move(settings)},
            {"correct", score.correct},           {"accuracy", score.accuracy},
            {"accuracy_low", score.accuracy_low}, {"accuracy_high", score.accuracy_high}};
}

std::string figure(const Disagreement& one, const LabeledImages* test) {
    std::string html = "<figure>";
    if (test != nullptr)
        html += "<img alt=\"\" src=\"data:image/png;base64," +
                base64(gray_png(test->images().row(one.index), test->rows, test->cols)) + "\">";
    const auto answer = [&](const char* letter, int label) {
        return std::string("<span class=\"") + (label == one.label ? "right" : "wrong") + "\">" + letter +
               ' ' + std::to_string(label) + "</span> ";
    };
    return html + "<figcaption>#" + std::to_string(one.index) + " <b>" + std::to_string(one.label) + "</b> " +
           answer("A", one.a) + answer("B", one.b) + "</figcaption></figure>\n";
}

constexpr const char* style =
    "<style>\n"
    ".digits { display: flex; flex-wrap: wrap; gap: 1rem; }\n"
    "figure { margin: 0; } figure img { width: 84px; image-rendering: pixelated; display: block; background: "
    "#000; }\n"
    ".right { color: var(--right); } .wrong { color: var(--wrong); }\n</style>\n";

}  // namespace

std::string compare_sentence(const ComparedReports& compared) {
    const Comparison& result = compared.result;
    const bool a_leads = result.only_a > result.only_b;
    const std::int64_t more = std::max(result.only_a, result.only_b),
                       less = std::min(result.only_a, result.only_b);
    if (more == 0) return "A and B get exactly the same digits right.";
    const std::string p = result.p_value < 0.0005 ? "less than 0.001" : fixed(result.p_value, 3);
    const std::string chance =
        "would come with probability " + p + " if both were equally good (McNemar's exact test)";
    const std::string split = with_commas(more) + " to " + with_commas(less);
    if (result.p_value >= significance)
        return "The test does not tell A and B apart: a split of the " + counted(more + less, "digit") +
               " that only one gets right as uneven as " + split + ' ' + chance + '.';
    return std::string(a_leads ? "A" : "B") + " is better than " + (a_leads ? "B" : "A") +
           ": a split of the " + counted(more + less, "digit") + " that only one gets right as uneven as " +
           split + ' ' + chance + '.';
}

std::string compare_text(const ComparedReports& compared) {
    constexpr std::size_t most_shown = 20;
    Table heads({Align::left, Align::right, Align::left, Align::left});
    const auto add = [&](const char* letter, const SavedReport& report, const std::string& name) {
        const Score& score = report.evaluation.score;
        heads.add({letter, percent(score.accuracy),
                   with_commas(score.correct) + " of " + with_commas(score.total) + " right (" +
                       percent(score.accuracy_low) + " to " + percent(score.accuracy_high) + ")",
                   harmless(name) + ": " + settings_text(report.evaluation.method)});
    };
    add("A", compared.a, compared.name_a);
    add("B", compared.b, compared.name_b);

    const Comparison& result = compared.result;
    Table counts({Align::left, Align::right});
    counts.add({"both right", with_commas(result.both_right)});
    counts.add({"only A right", with_commas(result.only_a)});
    counts.add({"only B right", with_commas(result.only_b)});
    counts.add({"both wrong", with_commas(result.both_wrong)});

    std::string text = heads.text(0) + '\n' + counts.text(0) + '\n';
    if (!result.disagreements.empty()) {
        Table digits(std::vector<Align>(4, Align::right));
        digits.add({"index", "label", "A", "B"});
        for (const Disagreement& one :
             std::span(result.disagreements).first(std::min(most_shown, result.disagreements.size())))
            digits.add({std::to_string(one.index), std::to_string(one.label), std::to_string(one.a),
                        std::to_string(one.b)});
        text += digits.text(0);
        if (result.disagreements.size() > most_shown)
            text += "... and " + with_commas(std::ssize(result.disagreements) - std::int64_t{most_shown}) +
                    " more (--csv, --html)\n";
        text += '\n';
    }
    return text + compare_sentence(compared) + '\n';
}

std::string compare_json(const ComparedReports& compared) {
    const Comparison& result = compared.result;
    Json json = json_head("mnist-knn/compare/1");
    json.update({{"a", side_json(compared.a, compared.name_a)},
                 {"b", side_json(compared.b, compared.name_b)},
                 {"total", result.total()},
                 {"both_right", result.both_right},
                 {"only_a", result.only_a},
                 {"only_b", result.only_b},
                 {"both_wrong", result.both_wrong},
                 {"p_value", result.p_value}});
    return json_text(json);
}

std::string compare_csv(const Comparison& result) {
    std::string text = "index,label,a,b\n";
    for (const Disagreement& one : result.disagreements)
        text += std::to_string(one.index) + ',' + std::to_string(one.label) + ',' + std::to_string(one.a) +
                ',' + std::to_string(one.b) + '\n';
    return text;
}

std::string compare_page(const ComparedReports& compared, const LabeledImages* test) {
    constexpr std::int64_t most_shown = 1000;
    const Comparison& result = compared.result;
    std::string html =
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
        "'unsafe-inline'\">\n<title>Two classifiers</title>\n<style>\n" +
        std::string(page_css) + "</style>\n" + style +
        "</head>\n<body>\n<main class=\"wide\">\n<h1>Two classifiers</h1>\n";
    const auto side = [&](const char* letter, const SavedReport& report, const std::string& name) {
        const Score& score = report.evaluation.score;
        html += std::string("<p><b>") + letter + "</b> " + escaped(name) + ": " + with_commas(score.correct) +
                " of " + with_commas(score.total) + " right (" + percent(score.accuracy) + "); " +
                escaped(settings_text(report.evaluation.method)) + "</p>\n";
    };
    side("A", compared.a, compared.name_a);
    side("B", compared.b, compared.name_b);
    html += "<p>" + escaped(compare_sentence(compared)) +
            "</p>\n<p>Both right: " + with_commas(result.both_right) +
            ", both wrong: " + with_commas(result.both_wrong) + ".</p>\n";
    for (const bool of_a : {true, false}) {
        const std::int64_t count = of_a ? result.only_a : result.only_b;
        html += std::string("<h2>Only ") + (of_a ? "A" : "B") + " right: " + with_commas(count) + "</h2>\n";
        if (count > most_shown) html += "<p>The first " + with_commas(most_shown) + ":</p>\n";
        html += "<div class=\"digits\">\n";
        std::int64_t shown = 0;
        for (const Disagreement& one : result.disagreements)
            if ((one.a == one.label) == of_a && shown++ < most_shown) html += figure(one, test);
        html += "</div>\n";
    }
    return html + "</main>\n</body>\n</html>\n";
}

}  // namespace knn
