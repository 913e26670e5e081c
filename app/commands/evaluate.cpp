/// `evaluate`: the way of the test images to their labels and into the files, step by step.

#include "app/commands/saved_evaluation.h"

#include <algorithm>
#include <array>
#include <ostream>

#include "app/cli/command_line.h"
#include "app/commands/ranks.h"
#include "app/console/console.h"
#include "app/report/csv.h"
#include "app/report/json.h"
#include "app/report/report_file.h"
#include "app/report/text.h"

namespace knn {

namespace {

/// Whether an output of `evaluate` shows confidences. It asks what was given, because only the first rank keeps its outputs.
bool shows_confidence(const Options& options) {
    return std::ranges::any_of(std::array{"json", "predictions", "report"},
                               [&](const char* output) { return options.given.contains(output); });
}

/// Labels that are spelled in another way than in the training set are noticed here; those of the first n_query test images.
void note_unknown_labels(std::span<const std::uint8_t> known, const Dataset& data, std::int64_t n_query,
                         const OutputOptions& output) {
    std::vector<std::uint8_t> unknown =
        occurring_labels({data.test.labels.span().first(std::size_t(n_query))});
    std::erase_if(unknown, [&](std::uint8_t label) { return std::ranges::count(known, label) > 0; });
    if (unknown.empty()) return;
    note((unknown.size() == 1 ? "test label " : "test labels ") + classes_text(data, unknown) +
             ": no training " + row_noun(data) + " has " + (unknown.size() == 1 ? "it" : "one of them") +
             ", so no answer can be right",
         output);
}

void write_evaluation(const Evaluation& evaluation, const OutputOptions& output) {
    std::vector<OutputFile> files = {
        {output.json, [&](std::ostream& out) { out << json_report(evaluation); }},
        {output.predictions, [&](std::ostream& out) { write_predictions_csv(out, evaluation); }},
        {output.neighbors_csv, [&](std::ostream& out) { write_neighbors_csv(out, evaluation); }}};
    if (!output.report.empty())
        for (OutputFile& file : report_folder(evaluation, output))
            files.push_back(std::move(file));
    const std::string text =
        output.quiet ? accuracy_line(evaluation.score) : text_report(evaluation, use_color(output.color));
    write_results(std::move(files), text, output.report);
}

}  // namespace

Evaluated evaluate_test_set(const Options& options, Clock::time_point start, bool with_confidence,
                            const DataCheck& check) {
    const OutputOptions& output = options.output;

    // Load the training set and the test set.
    auto set = std::make_unique<LoadedSet>(options, Needed::both);
    const TrainingSet& training = set->training();
    const Rows& queries = set->queries();
    if (check) check(set->data(), queries.count);

    // Plan: the engine, the devices and the kernels. Ranks compare their options and data.
    const Resolved resolved = set->resolve(options.method, queries.count);
    agree_on(training.view(), queries);
    note_unknown_labels(training.labels(), set->data(), queries.count, output);

    // Open: fit what the method needs, move the training set to the devices.
    const std::unique_ptr<Index> index = open_index(training, options.method, resolved, output);

    // Search: transform, top-k, merge, re-rank, vote.
    Results found = with_progress(output, "searching", [&](const ProgressToken& token) {
        return index->search(queries, {.token = token});
    });

    // Score.
    Evaluation evaluation = scored(*index, std::move(found), set->data());
    if (with_confidence)
        with_progress(output, "fitting  ",
                      [&](const ProgressToken& token) { add_confidence(evaluation, *index, token); });
    evaluation.load_ms = set->load_ms();
    evaluation.wall_ms = ms_since(start);
    return {std::move(set), std::move(evaluation)};
}

int evaluate(const Options& options, Clock::time_point start) {
    const Evaluated evaluated = evaluate_test_set(options, start, shows_confidence(options));
    write_evaluation(evaluated.evaluation, options.output);
    return 0;
}

}  // namespace knn
