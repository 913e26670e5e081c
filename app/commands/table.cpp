#include <algorithm>
#include <utility>

#include "app/commands/command.h"
#include "data/core/errors.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr Command table[] = {
    {"evaluate", "classifies the test set: accuracy, confusion matrix, time of each kernel",
     [](Options& options) -> std::vector<OptionGroup> {
         return {data_group(options), search_group(options), output_group(options)};
     },
     evaluate},
    {"classify", "classifies digits in pictures: files, folders, or - for standard input",
     [](Options& options) -> std::vector<OptionGroup> {
         return {classify_group(options), classify_search_group(options), data_group(options)};
     },
     classify, "IMAGE...",
     [](std::vector<std::string> operands, Options& options) {
         if (operands.empty())
             throw UsageError("no picture given; expected files, folders, or - for standard input");
         options.classify.images = std::move(operands);
     },
     "\nAn IMAGE is a PNG, JPEG, BMP, TIFF, WebP or PGM file, recognized by content; of a\n"
     "folder, all such files directly in it, or with -r below it. With --device auto up to\n"
     "1000 digits are searched on the CPU, which has answered before a GPU has started.\n"
     "Exit codes: 3 some pictures failed, the others are answered; 1 all failed.\n",
     "accurate"},
    {"draw", "a window to draw a digit in, answered at each stroke",
     [](Options& options) -> std::vector<OptionGroup> {
         return {draw_group(options), classify_search_group(options), data_group(options)};
     },
     draw, nullptr, nullptr,
     "\nKeys: c clears, u takes the last stroke back, s saves the drawing as PNG in the\n"
     "current folder, q quits.\n",
     "accurate"},
    {"view", "shows misclassified digits: in a window, on a sheet, a page or the terminal",
     [](Options& options) -> std::vector<OptionGroup> {
         return {data_group(options), search_group(options), selection_group(options), form_group(options)};
     },
     view},
    {"bench", "times distance kernels, selectors and engines; repeats the papers' experiments",
     [](Options& options) -> std::vector<OptionGroup> {
         return {bench_group(options), bench_search_group(options), data_group(options),
                 bench_output_group(options)};
     },
     bench, nullptr, nullptr,
     "\nEvery answer is compared with a reference before its time counts; a wrong one is\n"
     "reported, and the exit code is 1.\n"},
    {"graph", "the exact k-nearest-neighbor graph of a set of images, for NumPy, SciPy and others",
     [](Options& options) -> std::vector<OptionGroup> {
         return {points_group(options), graph_search_group(options), graph_output_group(options)};
     },
     graph, nullptr, nullptr,
     "\nNo image is its own neighbor; equal images are told apart by index. A directed\n"
     "graph is written as it is searched: beside the images it needs 64 MiB, 32 bytes an\n"
     "image and what the engine needs. The other forms keep all neighbors in memory: up to\n"
     "24 k bytes an image.\n"},
    {"condense", "makes the training set smaller: edits and condenses it, writes IDX files",
     [](Options& options) -> std::vector<OptionGroup> {
         return {training_group(options), condense_search_group(options), condense_group(options)};
     },
     condense, nullptr, nullptr,
     "\nThe kept images are the same on every engine, device and number of threads. Every\n"
     "command reads the folder with --data DIR; evaluate needs --test-images and --test-labels\n"
     "with it, or the two files in the folder.\n"},
    {"audit", "finds labels that their neighbors contradict, with a probability for each",
     [](Options& options) -> std::vector<OptionGroup> {
         return {data_group(options), audit_search_group(options), audit_group(options)};
     },
     audit, nullptr, nullptr,
     "\nThe probability is that of a logistic function of the distances of the nearest k of\n"
     "each class, fitted by leave-one-out on the training set. With --of train the test set\n"
     "may be missing.\n"},
    {"tune", "chooses k, votes, transform and re-ranking by leave-one-out on the training set",
     [](Options& options) -> std::vector<OptionGroup> {
         return {training_group(options), tune_search_group(options), tune_output_group(options)};
     },
     tune, nullptr, nullptr,
     "\nThe test set is never read. One search for each method, transform, metric and\n"
     "re-ranker gives every smaller k, both weights, both ties and both votes.\n"},
    {"compare", "two reports of one test set: who gets which digits right, and what that means",
     [](Options& options) -> std::vector<OptionGroup> {
         return {compare_output_group(options), data_group(options)};
     },
     compare, "A B",
     [](std::vector<std::string> operands, Options& options) {
         if (operands.size() != 2)
             throw UsageError(with_commas(std::ssize(operands)) +
                              " reports given; expected two, each a folder of 'evaluate --report' or the "
                              "report.json in it");
         options.compare.a = operands[0];
         options.compare.b = operands[1];
     },
     "\nA and B are folders that 'mnist-knn evaluate --report' wrote, or the report.json\n"
     "in one, with the predictions.csv beside it.\n"},
    {"info", "devices, engines, the data set that would be used; what is missing and how to get it",
     [](Options& options) -> std::vector<OptionGroup> {
         return {data_group(options), info_group(options)};
     },
     info},
};

}  // namespace

std::span<const Command> commands() {
    return table;
}

const Command* find_command(std::string_view name) {
    const auto found = std::find_if(std::begin(table), std::end(table),
                                    [&](const Command& command) { return command.name == name; });
    return found != std::end(table) ? found : nullptr;
}

}  // namespace knn
