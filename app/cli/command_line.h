#pragma once
/// The table of commands; the command line, which is parsed into one of them with its options; the texts of --help.

#include <span>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "data/core/clock.h"

namespace knn {

/// What a command does where mpirun started several processes.
enum class UnderMpirun { refused, first_rank_alone, all_ranks };

/// Does the work of a command; `start` is when the process began. Returns the exit code.
using CommandRun = int(const Options& options, Clock::time_point start);

struct Command {
    const char* name;
    const char* summary;
    CommandRun* run;
    UnderMpirun under_mpirun = UnderMpirun::refused;
    const char* operands = nullptr;       ///< what else it takes, for the usage line
    std::size_t n_operands = 0;           ///< 0: any number of them, but some
    const char* operand = "";             ///< one of them, for a message
    const char* operands_wanted = "";     ///< for the same
    const char* more_help = "";           ///< after the options
    const char* method = "raw";           ///< --method if it is not given
    const char* vector_method = nullptr;  ///< the same with --train, if it is another
};
/// All commands (app/commands/table.cpp).
std::span<const Command> commands();

CommandRun evaluate, classify, draw, view, bench, graph, neighbors, condense, learn, audit, tune, compare,
    serve, generate, info;

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

/// What --help prints: of the whole program its commands, of one command its usual options, or with --help=all all of them
/// by group. Defaults that depend on the machine follow with what they are on this one.
enum class HelpLength { usual, all };
std::string program_help();
std::string command_help(const Command& command, HelpLength length);

}  // namespace knn
