#include <algorithm>
#include <filesystem>
#include <numeric>
#include <ostream>

#include "app/cli/command_line.h"
#include "app/commands/loading.h"
#include "app/commands/ranks.h"
#include "app/console/console.h"
#include "app/report/text.h"
#include "classifier/prototypes.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/set/locate.h"
#include "data/vectors/vectors.h"

namespace knn {

namespace {

/// Whether the kept rows are written as IDX files, whose labels have no names.
bool is_idx(const Dataset& data) {
    return data.are_images() && data.classes.empty();
}

/// Files of an earlier run of rows of another kind, or whose classes had names or none: they would not be of the rows in kept.csv, or
/// the set would be read with one of two files of labels.
void check_one_set(const std::filesystem::path& folder, const Dataset& data) {
    const std::string rows = is_idx(data) ? mnist_files[0].name : "train.npy";
    const std::string labels = is_idx(data)           ? mnist_files[1].name
                               : data.classes.empty() ? "train-labels.npy"
                                                      : "train-labels.csv";
    const auto [npy_labels, csv_labels] = label_names(folder / "train.npy");
    std::error_code none;
    for (const std::filesystem::path& other : {folder / "train.npy", npy_labels, csv_labels,
                                               folder / mnist_files[0].name, folder / mnist_files[1].name})
        if (other.filename() != rows && other.filename() != labels && std::filesystem::exists(other, none))
            throw DataError(other.string() + ": would stay beside " + rows + " and " + labels +
                            "; expected another folder for --out");
}

void write_set(const std::filesystem::path& folder, const Dataset& data, const Training& training,
               const Indices& kept) {
    LabeledImages images = copied(training, kept);
    images.are_images = data.are_images();
    std::vector<OutputFile> files =
        is_idx(data) ? idx_files(folder, images) : npy_files(folder, images, data.classes);
    // First: what a run that failed halfway has put there is known as its own by the next.
    files.insert(files.begin(), OutputFile{folder / "kept.csv", [&](std::ostream& out) {
                                               out << kept_header;
                                               for (const std::uint32_t image : kept)
                                                   out << image << '\n';
                                           }});
    write_outputs_together(files, folder.string());
}

std::string edited_text(const Edited& edited, const std::string& row) {
    const auto all = std::accumulate(edited.removed.begin(), edited.removed.end(), std::int64_t{0});
    if (all == 0) return "nothing to remove: no leave-one-out errors";
    return "removed " + counted(all, row) + " that the others classify wrong, round by round " +
           joined(edited.removed, with_commas, " + ");
}

std::string condensed_text(const Prototypes& reduced, const std::string& row) {
    std::string text =
        "kept " + counted(std::ssize(reduced.kept), row) + " in " + counted(reduced.passes.passes, "pass");
    if (reduced.passes.refits > 0)
        text += " and " + counted(reduced.passes.refits, "check") + " with what is fitted on them";
    return text + "; they classify all" +
           (reduced.rule == PrototypeRule::both ? ' ' + row + "s of the edited set" : "") + " as before";
}

/// Names classes of which no row is kept.
void note_lost_classes(const Dataset& data, const Training& training, const Indices& kept, PrototypeRule rule,
                       const OutputOptions& output) {
    std::vector<std::uint8_t> labels;
    for (const std::uint32_t image : kept)
        labels.push_back(training.labels[image]);
    std::vector<std::uint8_t> lost = occurring_labels({training.labels});
    const std::vector<std::uint8_t> left = occurring_labels({labels});
    std::erase_if(lost, [&](std::uint8_t label) { return std::ranges::count(left, label) > 0; });
    if (lost.empty()) return;
    note((rule == PrototypeRule::condense ? "nothing is kept of " : "editing removes all of ") +
             counted(std::ssize(lost), "class") + ": " + classes_text(data, lost),
         output);
}

}  // namespace

int condense(const Options& options, Clock::time_point start) {
    const std::string& folder = options.condense.out;
    if (!options.given.contains("out"))
        throw UsageError("condense: writes a training set; expected --out DIR");
    LoadedSet set(options, Needed::training);
    if (!folder.empty()) check_one_set(folder, set.data());
    const Training& training = set.training().view();
    const PrototypeRule rule = options.condense.rule;
    if (rule != PrototypeRule::condense) require_others(options.method.vote.k, training.rows.count);
    const Method method = set.method(options.method);
    const Resolved resolved = set.resolve(method, training.rows.count);
    agree_on(training);
    const Prototypes reduced = with_progress(options.output, "condensing", [&](const ProgressToken& token) {
        return select_prototypes(set.training(), method, resolved, rule, token);
    });
    if (!folder.empty()) write_set(folder, set.data(), training, reduced.kept);
    note_lost_classes(set.data(), training, reduced.kept, rule, options.output);
    if (options.output.quiet) return 0;
    const std::string rows = row_noun(set.data());
    const std::int64_t all = training.rows.count, kept = std::ssize(reduced.kept);
    print(
        facts_text({{"data", counted(all, rows) + " from " + harmless(set.data().source)},
                    {"settings", settings_text(method)},
                    {"edited", rule == PrototypeRule::condense ? "" : edited_text(reduced.edited, rows)},
                    {"condensed", rule == PrototypeRule::edit ? "" : condensed_text(reduced, rows)},
                    {"kept", counted(kept, rows) + ", " + share_text(kept, all) + ", in " + harmless(folder)},
                    {"time", fixed(ms_since(start) / 1000, 1) + " s"}}));
    return 0;
}

}  // namespace knn
