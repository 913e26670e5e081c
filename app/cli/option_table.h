#pragma once
/// The options of all commands: one table, from which come parsing, --help, the man page, the files that a command writes
/// and the options that a report determines.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.h"

namespace knn {

/// Of several files the one that begins with this text if this program wrote them.
struct OwnFile {
    const char* name = nullptr;
    std::string_view text = {};
};

/// The value of an option: what it is called, how it is read, and which files it names.
struct OptionValue {
    using Read = std::function<void(const std::string& option, const std::string& value)>;

    const char* placeholder = nullptr;  ///< "FILE"; null: a flag, which has no value
    Read read = {};                     ///< throws UsageError
    bool repeatable = false;
    std::string* output = nullptr;                        ///< a file that the command writes
    bool is_folder = false;                               ///< or a folder,
    std::span<const char* const> names = {};              ///< with these files,
    std::span<const char* const> endings = {};            ///< or files whose names are the value and these,
    OwnFile own = {};                                     ///< of which this one says who wrote them
    std::string (*beside)(const std::string&) = nullptr;  ///< another file, by the value
};

struct Option {
    const char* commands;  ///< those that take it, separated by blanks
    const char* name;      ///< "--data", "-k", "-q, --quiet"
    OptionValue value;
    std::string meaning;  ///< the usual help has it up to the first semicolon

    bool is_rare() const;                             ///< only --help=all has it
    bool belongs_to(std::string_view command) const;  ///< empty: any
    char letter() const;                              ///< 'q'; 0 if it has none
    std::string shown() const;                        ///< in messages: the long name, or "-k"
    std::string key() const;                          ///< in `Options::given`: "quiet", "-k"
};

struct OptionGroup {
    const char* title;
    std::vector<Option> options;
};

/// Those of a search: of the method, the engine and the sets (app/cli/search_options.cpp).
std::vector<Option> search_options(Options& options);

/// All options of a command by group, or of all commands; their values go to `options`. No group is empty.
std::vector<OptionGroup> option_table(Options& options, std::string_view command = {});
/// The same one after another.
std::vector<Option> options_of(Options& options, std::string_view command = {});

/// Options that have an effect only beside another: "--plant N", or of one value, "--of test". No commands: all.
struct OptionNeed {
    const char *commands, *options, *needed;
};
const std::vector<OptionNeed>& option_needs();

/// Options of which each excludes each of the others.
struct OptionConflict {
    const char *commands, *options, *others, *reason;
};
const std::vector<OptionConflict>& option_conflicts();

/// The values of each option by its key, in the order of the command line.
using GivenValues = std::map<std::string, std::vector<std::string>>;
/// Throws UsageError where an option of the command has no effect or excludes another by these tables.
void check_needs(std::string_view command, const GivenValues& given);

/// All files that the options name as outputs, as (option, file); a folder is followed by its files.
struct OutputPlace {
    std::string option, file;
    bool is_folder = false, in_folder = false;
    /// Of a file that the command line does not name: whether an earlier run wrote what is there, which may then be replaced.
    std::function<bool()> is_own = {};
};
std::vector<OutputPlace> output_places(const Options& options);
/// Forgets these files: of several ranks only the first writes.
void clear_outputs(Options& options);

}  // namespace knn
