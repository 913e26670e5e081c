#include <algorithm>

#include "app/commands/command.h"

namespace knn {

namespace {

constexpr Command table[] = {
    {"evaluate", "classifies the test set: accuracy, confusion matrix, time of each kernel",
     [](Options& options) -> std::vector<OptionGroup> {
         return {data_group(options), search_group(options), output_group(options)};
     },
     evaluate},
    {"view", "shows misclassified digits: in a window, on a sheet, a page or the terminal",
     [](Options& options) -> std::vector<OptionGroup> {
         return {data_group(options), search_group(options), selection_group(options), form_group(options)};
     },
     view},
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
