#include <algorithm>
#include <span>

#include "app/report/compare_report.h"
#include "app/report/text.h"
#include "classifier/statistics.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

std::string counted(std::int64_t count, const std::string& one) {
    return with_commas(count) + ' ' + noun(count, one);
}

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

}  // namespace knn
