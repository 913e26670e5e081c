#include "app/cli/help.h"

#include <cctype>
#include <sstream>

#include "app/cli/option_table.h"

namespace knn {

namespace {

constexpr std::size_t line_width = 80;
constexpr std::size_t command_column = 12, general_column = 18, option_column = 29;  // of explanations

/// `label` on the left, `text` wrapped into the column on its right.
std::string entry(const std::string& label, const std::string& text, std::size_t column) {
    std::string lines, line = "  " + label;
    if (line.size() + 2 > column) {
        lines = line + '\n';
        line.clear();
    }
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const bool first = line.size() < column;
        if (!first && line.size() + 1 + word.size() > line_width) {
            lines += line + '\n';
            line.clear();
        }
        line.resize(std::max(column, line.size() + 1), ' ');
        line += word;
    }
    return lines + line + '\n';
}

/// "-k N", "    --data DIR", "-q, --quiet".
std::string label(const Option& option) {
    const std::string indent = option.letter() == '\0' ? "    " : "";
    const char* placeholder = option.value.placeholder;
    return indent + option.name + (placeholder != nullptr ? std::string(" ") + placeholder : "");
}

}  // namespace

std::string program_help() {
    std::string text =
        "Usage: mnist-knn COMMAND [OPTION]...\n"
        "Classifies handwritten digits by exact k-nearest-neighbor search on the GPU.\n\nCommands:\n";
    for (const Command& command : commands())
        text += entry(command.name, command.summary, command_column);
    text += "\nOptions:\n";
    text += entry("-h, --help", "this text; after a command: its options", general_column);
    text += entry("    --version", "the program's version", general_column);
    return text +
           "\n'mnist-knn COMMAND --help' lists the options of a command.\n"
           "Exit codes: 0 done, 1 data, file or device failed, 2 wrong command line, 3 some of the\n"
           "pictures failed, 130 interrupted.\n";
}

std::string command_help(const Command& command) {
    std::string summary = command.summary;
    summary[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(summary[0])));
    std::string text = std::string("Usage: mnist-knn ") + command.name + " [OPTION]..." +
                       (command.operands != nullptr ? std::string(" ") + command.operands : "") + '\n' +
                       summary + '\n';
    Options ignored;
    for (const OptionGroup& group : option_table(ignored, command.name)) {
        text += std::string("\n") + group.title + ":\n";
        for (const Option& option : group.options)
            text += entry(label(option), option.meaning, option_column);
    }
    text += "\nHelp:\n" + entry("-h, --help", "this text", option_column);
    return text + command.more_help;
}

}  // namespace knn
