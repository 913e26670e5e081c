#include "app/report/reduced_text.h"

#include "app/report/text.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

std::string images_text(std::int64_t count) {
    return with_commas(count) + ' ' + noun(count, "image");
}

std::string edited_text(const Edited& edited) {
    std::string rounds;
    std::int64_t all = 0;
    for (const std::int64_t removed : edited.removed) {
        rounds += (rounds.empty() ? "" : " + ") + with_commas(removed);
        all += removed;
    }
    if (all == 0) return "nothing to remove: no leave-one-out errors";
    return "removed " + images_text(all) + " that the others classify wrong, round by round " + rounds;
}

std::string condensed_text(const Reduced& reduced) {
    const auto count = [](int n, const std::string& what) { return std::to_string(n) + ' ' + noun(n, what); };
    std::string text =
        "kept " + images_text(std::ssize(reduced.kept)) + " in " + count(reduced.passes.passes, "pass");
    if (reduced.passes.refits > 0)
        text += " and " + count(reduced.passes.refits, "check") + " with what is fitted on them";
    return text + "; they classify all" +
           (reduced.rule == ReduceRule::both ? " images of the edited set" : "") + " as before";
}

}  // namespace

std::string reduced_text(const ReducedReport& report) {
    const Reduced& reduced = report.reduced;
    Table table({Align::left, Align::left});
    table.add({"data", images_text(report.images) + " from " + harmless(report.source)});
    table.add({"settings", settings_text(report.method)});
    if (reduced.rule != ReduceRule::condense) table.add({"edited", edited_text(reduced.edited)});
    if (reduced.rule != ReduceRule::edit) table.add({"condensed", condensed_text(reduced)});
    const double share = static_cast<double>(reduced.kept.size()) / static_cast<double>(report.images);
    table.add({"kept", images_text(std::ssize(reduced.kept)) + ", " + percent(share) + ", in " +
                           harmless(report.folder)});
    table.add({"time", fixed(report.wall_ms / 1000, 1) + " s"});
    return table.text(0);
}

}  // namespace knn
