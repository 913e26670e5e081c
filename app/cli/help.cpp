#include "app/cli/help.h"

#include <algorithm>
#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/options_description.hpp>
#include <sstream>

namespace po = boost::program_options;

namespace knn {

namespace {

constexpr std::size_t line_width = 80;
constexpr std::size_t command_column = 12, general_column = 18, option_column = 29;  // of explanations

/// `label` on the left, `text` wrapped into the column on its right.
std::string entry(const std::string& label, const std::string& text, std::size_t column) {
    std::string lines, line = "  " + label;
    if (line.size() + 2 > column && !text.empty()) {
        lines = line + '\n';
        line.clear();
    }
    std::size_t words = 0;
    std::istringstream stream(text);
    for (std::string word; stream >> word; ++words) {
        if (words > 0 && line.size() + 1 + word.size() > line_width) {
            lines += line + '\n';
            line.clear();
        }
        if (line.size() < column)
            line.resize(column, ' ');
        else
            line += ' ';
        line += word;
    }
    return lines + line + '\n';
}

/// "-k N", "--data DIR", "-q, --quiet".
std::string label(const po::option_description& option) {
    const std::string& full = option.long_name();
    const std::string brief = option.canonical_display_name(po::command_line_style::allow_dash_for_short);
    std::string text = full.empty() ? brief : "    --" + full;
    if (!full.empty() && brief.size() == 2 && brief.front() == '-') text = brief + ", --" + full;
    const std::string value = option.semantic()->name();
    return option.semantic()->max_tokens() > 0 ? text + ' ' + value : text;
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
           "\n'mnist-knn COMMAND --help' tells more.\n"
           "Exit codes: 0 done, 1 data, file or device failed, 2 wrong command line, 3 some of the\n"
           "pictures failed, 130 interrupted.\n";
}

std::string command_help(const Command& command) {
    std::string text = std::string("Usage: mnist-knn ") + command.name + " [OPTION]..." +
                       (command.operands != nullptr ? std::string(" ") + command.operands : "") + '\n' +
                       command.summary + '\n';
    text[text.find('\n') + 1] = static_cast<char>(std::toupper(text[text.find('\n') + 1]));
    Options ignored;
    for (const OptionGroup& group : command.groups(ignored)) {
        text += std::string("\n") + group.title + ":\n";
        for (const auto& option : group.list.options())
            text += entry(label(*option), option->description(), option_column);
    }
    text += "\nHelp:\n" + entry("-h, --help", "this text", option_column);
    return text + command.more_help;
}

}  // namespace knn
