/// A step of the build: copies the man page from standard input to standard output, and puts what the tables say in place
/// of the lines
///
///   @commands          the list of commands
///   @options COMMAND   the options of the command that `evaluate` does not take in the same form, or all of `evaluate`,
///                      and which of those of `evaluate` it takes; then what else its help says
///
/// Lines that begin with a point are mdoc; all others are text, in which {Cm view} is a macro of mdoc.

#include <iostream>
#include <sstream>

#include "app/cli/command_line.h"
#include "app/cli/option_table.h"

namespace {

using knn::Option;

/// Words as mdoc wants them: short lines, each sentence on a line of its own, no line that looks like a request.
std::string paragraph(const std::string& text) {
    constexpr std::size_t width = 78;
    std::string lines, line;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (!line.empty() && (line.back() == '.' || line.size() + 1 + word.size() > width)) {
            lines += line + '\n';
            line.clear();
        }
        if (line.empty() && (word.front() == '.' || word.front() == '\'')) line = "\\&";
        line += (line.empty() || line == "\\&" ? "" : " ") + word;
    }
    return line.empty() ? lines : lines + line + '\n';
}

/// Each macro gets a line of its own, with the punctuation behind it.
std::string with_macros(const std::string& text) {
    std::string lines;
    std::size_t at = 0;
    for (std::size_t open; (open = text.find('{', at)) != text.npos;) {
        const std::size_t close = text.find('}', open);
        lines += paragraph(text.substr(at, open - at)) + '.' + text.substr(open + 1, close - open - 1);
        for (at = close + 1; at < text.size() && text[at] != ' '; ++at)
            lines += {' ', text[at]};
        lines += '\n';
    }
    return lines + paragraph(text.substr(at));
}

/// ".It Fl q , -quiet", ".It Fl -json Ar FILE".
std::string item(const Option& option) {
    std::string text = std::string(".It Fl ") + (option.name + 1);
    if (const std::size_t comma = text.find(", -"); comma != text.npos) text.replace(comma, 3, " , ");
    if (option.value.placeholder != nullptr) text += std::string(" Ar ") + option.value.placeholder;
    return text + '\n';
}

std::string options_text(const std::string& command) {
    const bool is_first = command == "evaluate";
    knn::Options ignored;
    const std::vector<Option> all = knn::options_of(ignored, command);
    std::string text, shared;
    for (const Option& option : all)
        if (is_first || !option.belongs_to("evaluate"))
            text += item(option) + paragraph(option.meaning);
        else
            shared += (shared.empty() ? "" : ", ") + option.shown();
    if (!text.empty()) text = ".Bl -tag -width Ds\n" + text + ".El\n";
    if (!is_first) text += ".Pp\nOf the options of\n.Cm evaluate\nit takes:\n" + paragraph(shared + '.');
    const std::string more = paragraph(knn::row_named(knn::commands(), command)->more_help);
    return more.empty() ? text : text + ".Pp\n" + more;
}

}  // namespace

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        const std::string options = "@options ";
        if (line == "@commands")
            for (const knn::Command& command : knn::commands())
                std::cout << ".It Cm " << command.name << '\n' << paragraph(command.summary);
        else if (line.starts_with(options))
            std::cout << options_text(line.substr(options.size()));
        else
            std::cout << (line.starts_with('.') ? line + '\n' : with_macros(line));
    }
    return std::cout.flush() ? 0 : 1;
}
