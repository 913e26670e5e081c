#pragma once
/// Parses the command line into a command with its options.

#include <string>
#include <vector>

#include "app/cli/command.h"

namespace knn {

/// What the command line asks for. Cannot be copied or moved: the parser keeps references to `options`.
struct CommandLine {
    const Command* command = nullptr;
    Options options;
    std::string answer;  ///< what --help or --version print; not empty: there is nothing else to do

    CommandLine() = default;
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    /// `words`: without the program's name. Options may stand before and after the command.
    /// Throws UsageError; `command` is then what was found so far.
    void parse(std::vector<std::string> words);

    /// One or two lines for standard error after a mistake.
    std::string usage() const;
};

}  // namespace knn
