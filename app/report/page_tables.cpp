#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/report/page.h"
#include "app/report/text.h"
#include "data/core/format.h"

namespace knn {

namespace {

std::string td(const std::string& content, const std::string& attributes = "") {
    return "<td" + attributes + ">" + content + "</td>";
}

/// A custom property of the style sheet, as a percentage: the length of a bar, the strength of a color.
std::string share_style(const std::string& property, double share) {
    return " style=\"--" + property + ": " + fixed(100 * share, 2) + "%\"";
}

constexpr const char* bar_attributes = " class=\"bar\" aria-hidden=\"true\"";

/// A row whose bar has this share of the longest one.
std::string table_row(const std::string& head, double share, const std::vector<std::string>& cells) {
    std::string text = "<tr" + share_style("share", share) + "><th scope=\"row\">" + head + "</th>";
    for (const std::string& cell : cells)
        text += cell;
    return text + "</tr>\n";
}

std::string html_table(const std::string& caption, const std::vector<std::string>& heads,
                       const std::string& rows) {
    std::string text = "<table><caption class=\"unseen\">" + caption + "</caption>\n<thead><tr>";
    for (const std::string& head : heads)
        text += "<th scope=\"col\">" + head + "</th>";
    return text + "</tr></thead>\n<tbody>\n" + rows + "</tbody></table>";
}

std::string classes_table(const Score& score, const std::string& rows_head) {
    const auto wrong = [&](std::size_t i) { return score.per_class[i].support - score.confusion[i][i]; };
    std::int64_t most = 1;
    for (std::size_t i = 0; i < score.per_class.size(); ++i)
        most = std::max(most, wrong(i));
    std::string rows;
    for (std::size_t i = 0; i < score.per_class.size(); ++i) {
        const ClassScore& one = score.per_class[i];
        const std::string bar =
            std::string(" class=\"bar ") + (wrong(i) > 0 ? "wrong" : "none") + "\" aria-hidden=\"true\"";
        rows += table_row(escaped(class_text(score.class_name(one.label))), double(wrong(i)) / double(most),
                          {td(with_commas(one.support)), td(with_commas(wrong(i))), td("", bar),
                           td(escaped(percent(one.precision))), td(escaped(percent(one.recall))),
                           td(escaped(percent(one.f1)))});
    }
    return html_table("Precision, recall and F1 of each class",
                      {"Label", rows_head, "Wrong", "", "Precision", "Recall", "F1"}, rows);
}

/// A rate and, if the device's limit is known and applies, its share: "3120 65 %".
std::string rate_cell(double value, double peak) {
    if (value <= 0) return td("–");
    std::string text = escaped(short_number(value));
    if (value <= peak) {
        const long share = std::lround(100 * value / peak);
        text += "<small> " + (share < 1 ? "&lt; 1" : std::to_string(share)) + " %</small>";
    }
    return td(text);
}

std::string timing_table(const Evaluation& evaluation) {
    const std::vector<Stage>& stages = evaluation.found.timeline.stages();
    const Device& device = evaluation.found.plan.device;
    const auto images = static_cast<double>(std::max<std::int64_t>(evaluation.n_test, 1));
    double longest = 1e-9;
    for (const Stage& stage : stages)
        longest = std::max(longest, stage.total_ms);
    std::string rows;
    for (const Stage& stage : stages)
        rows +=
            table_row(escaped(stage.name), stage.total_ms / longest,
                      {td("", bar_attributes), td(escaped(short_number(stage.total_ms))),
                       td(escaped(short_number(1000 * stage.total_ms / images))),
                       rate_cell(stage.gb_per_s(), stage.kind == StageKind::copy ? device.peak_link_gb_per_s
                                                                                 : device.peak_gb_per_s),
                       rate_cell(stage.gflop_per_s(), device.peak_gflop_per_s)});
    return html_table("Time of each stage of the search",
                      {"Stage", "", "ms", "µs / " + row_noun(*evaluation.data), "GB/s", "GFLOP/s"}, rows);
}

std::string timing_note(const Evaluation& evaluation) {
    const Device& device = evaluation.found.plan.device;
    std::string text = "Stages on the device take " +
                       escaped(short_number(evaluation.found.timeline.kernels_ms())) +
                       " ms together, copies left out.";
    if (device.peak_gb_per_s > 0 || device.peak_gflop_per_s > 0)
        text +=
            " Percentages are shares of the device's own limit: its memory bandwidth, its link to the host, "
            "its float32 arithmetic.";
    return text;
}

/// The scripts turn the cells and labels that have digits on the page into buttons.
std::string matrix_table(const Score& score) {
    constexpr std::size_t most_classes = 64;  // above, cells are too small to click and too many for a page
    const std::size_t n = score.labels.size();
    if (n > most_classes) return std::to_string(n) + " classes are too many for a table here.";
    const bool crowded = n > 14;
    std::int64_t most_right = 1, most_wrong = 1;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            std::int64_t& most = i == j ? most_right : most_wrong;
            most = std::max(most, score.confusion[i][j]);
        }
    const auto head = [&](const std::string& scope, const std::string& label) {
        return "<th scope=\"" + scope + (score.classes.empty() ? "\">" : "\" title=\"" + label + "\">") +
               label + "</th>";
    };
    std::string text = std::string("<table class=\"matrix") + (crowded ? " crowded" : "") +
                       (score.classes.empty() ? "" : " named") +
                       "\" style=\"--classes: " + std::to_string(n) +
                       "\"><caption class=\"unseen\">Counts by true label (rows) and predicted label "
                       "(columns)</caption>\n<thead><tr>" +
                       td(crowded ? "" : "true \\ pred.", " class=\"corner\" aria-hidden=\"true\"");
    for (const std::uint8_t label : score.labels)
        text += head("col", escaped(score.class_name(label)));
    text += "</tr></thead>\n<tbody>\n";
    for (std::size_t i = 0; i < n; ++i) {
        const std::string label = escaped(score.class_name(score.labels[i]));
        text += "<tr>" + head("row", label);
        for (std::size_t j = 0; j < n; ++j) {
            const std::int64_t count = score.confusion[i][j];
            if (count == 0) {
                text += td("", " class=\"none\"");
                continue;
            }
            const std::string shown = std::to_string(count);
            // The square root makes single errors visible.
            const double strength = std::sqrt(double(count) / double(i == j ? most_right : most_wrong));
            text += td(crowded ? "<span class=\"unseen\">" + shown + "</span>" : shown,
                       std::string(" class=\"") + (i == j ? "right" : "wrong") + "\" title=\"true " + label +
                           ", predicted " + escaped(score.class_name(score.labels[j])) + ": " +
                           with_commas(count) + "\"" + share_style("strength", strength));
        }
        text += "</tr>\n";
    }
    return text + "</tbody></table>";
}

}  // namespace

std::map<std::string, std::string> page_tables(const Evaluation& evaluation) {
    const Score& score = evaluation.score;
    const std::string one = evaluation.pictures.empty() ? "test " + row_noun(*evaluation.data) : "picture";
    return {{"headline", "<strong>" + escaped(percent(score.accuracy)) + "</strong> on " +
                             escaped(evaluation.data->name)},
            {"lead", escaped(with_commas(score.correct) + " of " + counted(score.total, one) + " right, " +
                             with_commas(score.total - score.correct) + " wrong. 95 % interval " +
                             percent(score.accuracy_low) + " to " + percent(score.accuracy_high) + ".")},
            {"matrix", matrix_table(score)},
            {"classes", classes_table(score, evaluation.data->are_images() ? "Images" : "Rows")},
            {"timing", timing_table(evaluation)},
            {"timing-note", timing_note(evaluation)}};
}

}  // namespace knn
