#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/report/base64.h"
#include "app/report/compare_report.h"
#include "app/report/json.h"
#include "app/report/page_files.h"
#include "app/report/png.h"
#include "app/report/report_path.h"
#include "app/report/text.h"
#include "data/core/format.h"
#include "version.h"

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

std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : harmless(text)) {
        if (c == '<')
            safe += "&lt;";
        else if (c == '>')
            safe += "&gt;";
        else if (c == '&')
            safe += "&amp;";
        else
            safe += c;
    }
    return safe;
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

std::string compare_json(const ComparedReports& compared) {
    const Comparison& result = compared.result;
    return json_text({{"schema", "mnist-knn/compare/1"},
                      {"program", {{"name", "mnist-knn"}, {"version", program_version}}},
                      {"a", side_json(compared.a, compared.name_a)},
                      {"b", side_json(compared.b, compared.name_b)},
                      {"total", result.total()},
                      {"both_right", result.both_right},
                      {"only_a", result.only_a},
                      {"only_b", result.only_b},
                      {"both_wrong", result.both_wrong},
                      {"p_value", result.p_value}});
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
