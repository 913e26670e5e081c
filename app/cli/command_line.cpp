#include "app/cli/command_line.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cctype>

#include "app/cli/option_table.h"
#include "app/cli/values.h"
#include "classifier/host.h"
#include "classifier/plan.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/set/cache.h"
#include "data/set/locate.h"
#include "version.h"

namespace po = boost::program_options;

namespace knn {

namespace {

using Known = std::vector<Option>;

/// The option of `known` for "--name", "--name=value", "-n" or "-nVALUE"; null if there is none.
const Option* lookup(const std::string& word, const Known& known) {
    const bool is_long = word.starts_with("--");
    const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    const auto found = std::find_if(known.begin(), known.end(), [&](const Option& option) {
        return is_long ? option.shown() == name : option.letter() == name[1];
    });
    return found != known.end() && name.size() > 1 ? &*found : nullptr;
}

bool takes_value(const Option* option) {
    return option != nullptr && option->value.placeholder != nullptr;
}

/// Where the first letter of "-qk" is whose option is such a one; its length: nowhere.
std::size_t find_letter(const std::string& word, const Known& known, const auto& is_such) {
    std::size_t i = 1;
    while (i < word.size() && !is_such(lookup({'-', word[i]}, known)))
        ++i;
    return i;
}

/// Whether `word` is an option whose value is the next word.
bool takes_next(const std::string& word, const Known& known) {
    if (word.starts_with("--"))
        return word.find('=') == std::string::npos && takes_value(lookup(word, known));
    return find_letter(word, known, takes_value) + 1 == word.size();  // the rest after it would be its value
}

/// Whether `word` is "-h", also among other flags, such as "-qh".
bool asks_for_help(const std::string& word, const Known& known) {
    const std::size_t at = find_letter(
        word, known, [](const Option* option) { return option == nullptr || takes_value(option); });
    return word.starts_with('-') && at < word.size() && word[at] == 'h';
}

/// Whether `word` can only be meant as an option, not as a value: "-" is a file and "-1" a number.
bool is_option(const std::string& word) {
    return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

/// The words of the command line, sorted by what they are.
struct Words {
    std::vector<std::string> plain;    ///< the command and what else is no option
    std::vector<std::string> options;  ///< with their values
    bool help = false, all_help = false, version = false;
    std::string unknown;        ///< the first option that no command has
    std::string without_value;  ///< the first option that lacks its value
};

Words sort_words(const std::vector<std::string>& words) {
    Options ignored;
    const Known all = options_of(ignored);
    Words sorted;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--") {
            sorted.plain.insert(sorted.plain.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                words.end());
            break;
        }
        const bool all_help = word == "--help=all", version = word == "--version",
                   help = asks_for_help(word, all) || word == "--help" || all_help;
        sorted.all_help = sorted.all_help || all_help;
        sorted.help = sorted.help || help;
        sorted.version = sorted.version || version;
        if (!is_option(word)) {
            sorted.plain.push_back(word);
            continue;
        }
        sorted.options.push_back(word);
        if (sorted.unknown.empty() && !help && !version && lookup(word, all) == nullptr)
            sorted.unknown = word;
        if (!takes_next(word, all)) continue;
        if (i + 1 == words.size() || is_option(words[i + 1])) {
            // A forgotten value must not swallow the option behind it.
            if (sorted.without_value.empty()) sorted.without_value = word;
            continue;
        }
        sorted.options.push_back(words[++i]);
    }
    return sorted;
}

const Command* command_named(const std::string& name) {
    if (const Command* command = row_named(commands(), name)) return command;
    const std::vector<std::string> names = names_of(commands());
    const std::string near = nearest_name(name, names);
    throw UsageError(quoted_if_blank(name) + ": unknown command; " +
                     (near.empty() ? "expected " + one_of(names) : "did you mean '" + near + "'?"));
}

[[noreturn]] void explain_unknown(const std::string& option, const Known& known) {
    std::vector<std::string> names = {"--help", "--version"};
    for (const Option& one : known)
        names.push_back(one.shown());
    const bool has_name = option.find_first_not_of("-=") < option.find('=');
    const std::string asked = has_name ? option.substr(0, option.find('=')) : option;
    std::string near = nearest_name(asked, names);
    // `evaluate` and `bench` limit the images under names of their own.
    for (const auto& [a, b] :
         {std::pair("--limit-train", "--n-train"), std::pair("--limit-test", "--n-query")})
        for (const auto& [other, own] : {std::pair(a, b), std::pair(b, a)})
            if (asked == other && std::ranges::count(names, own) > 0) near = own;
    throw UsageError(option + ": unknown option; " +
                     (near.empty() ? "expected one that --help=all lists" : "did you mean '" + near + "'?"));
}

GivenValues parse_words(const std::vector<std::string>& words, const Known& known) {
    po::options_description described;
    for (const Option& option : known) {
        std::string name = option.key() == "-k" ? "" : option.key();
        if (option.letter() != '\0') name += std::string(",") + option.letter();
        if (option.value.placeholder != nullptr)
            described.add_options()(name.c_str(), po::value<std::string>());
        else
            described.add_options()(name.c_str(), po::bool_switch());
    }
    constexpr int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    constexpr const char* has_value = ": has a value; expected none";
    GivenValues values;
    const auto shown = [](const std::string& name) {
        return name == "--k" ? "-k" : name;
    };  // as Boost calls it
    try {
        for (const po::option& option :
             po::command_line_parser(words).options(described).style(style).run().options)
            values[option.string_key].push_back(option.value.empty() ? "" : option.value.front());
    } catch (const po::unknown_option& error) {
        const std::string given = error.get_option_name(), flag = given.substr(0, given.find('='));
        if (lookup(flag, known) == nullptr || flag.size() != 2) explain_unknown(given, known);
        throw UsageError(flag + has_value);
    } catch (const po::error_with_option_name& error) {
        const Option* option = lookup(error.get_option_name(), known);
        const bool takes_none = option != nullptr && option->value.placeholder == nullptr;
        throw UsageError(shown(error.get_option_name()) +
                         (takes_none ? has_value : ": its value is missing; expected one"));
    } catch (const po::error& error) {
        throw UsageError(std::string(error.what()) + "; expected options that --help=all lists");
    }
    return values;
}

void read_options(const std::vector<std::string>& words, const Command& command, Options& options) {
    const Known known = options_of(options, command.name);
    for (const std::string& word : words)
        if (word.starts_with("--") && lookup(word, known) == nullptr) explain_unknown(word, known);
    const auto values = parse_words(words, known);
    const bool vectors = values.contains("train") && command.vector_method != nullptr;
    options.method = parse_method(vectors ? command.vector_method : command.method, options);
    for (const Option& option : known) {  // --method comes first, then what replaces its parts
        const auto given = values.find(option.key());
        if (given == values.end()) continue;
        if (given->second.size() > 1 && !option.value.repeatable)
            throw UsageError(option.shown() + ": given more than once; expected it once");
        options.given.insert(option.key());
        for (const std::string& value : given->second)
            option.value.read(option.shown(), value);
    }
    Method& method = options.method;
    if (method.reranks() && !options.given.contains("candidates"))
        method.rerank.candidates = std::clamp(method.vote.k, method.rerank.candidates, max_candidates);
    check_needs(command.name, values);
    const auto takes = [&](const char* key) { return std::ranges::count(known, key, &Option::key) > 0; };
    check_options(options, takes("vote"));
    if (!options.no_cache && takes("no-cache"))
        cache_limit();  // where the cache is written, no error ends the run
}

constexpr std::size_t line_width = 80;
constexpr std::size_t command_column = 12, general_column = 18, option_column = 29;  // of explanations

/// `line`, which may be empty, and the words of `text` behind it, wrapped into lines from `column` on.
std::string wrapped(std::string line, const std::string& text, std::size_t column = 0) {
    std::string lines;
    for (const std::string& word : words_of(text)) {
        if (line.size() > column && line.size() + 1 + word.size() > line_width) {
            lines += line + '\n';
            line.clear();
        }
        line.resize(line.size() > column ? line.size() + 1 : column, ' ');
        line += word;
    }
    return lines + line + '\n';
}

/// `label` on the left, `text` wrapped into the column on its right.
std::string entry(const std::string& label, const std::string& text, std::size_t column) {
    const std::string line = "  " + label;
    return line.size() + 2 > column ? line + '\n' + wrapped("", text, column) : wrapped(line, text, column);
}

/// "-k N", "    --data DIR", "-q, --quiet".
std::string label(const Option& option) {
    const std::string indent = option.letter() == '\0' ? "    " : "";
    const char* placeholder = option.value.placeholder;
    return indent + option.name + (placeholder != nullptr ? std::string(" ") + placeholder : "");
}

/// "; if not given, here: 8", of a default that depends on the machine; empty for others.
std::string default_here(const Option& option) {
    const std::string name = option.key();
    const bool is_engine = name == "engine";
    std::string found;
    if (option.meaning.find("default") == std::string::npos) return "";
    if (name == "threads") {
        found = std::to_string(threads_or_all(0));
    } else if (name == "data") {
        try {
            found = harmless(locate({}).source);
        } catch (const DataError& error) {
            found = std::string("none, ") + harmless(error.what());
        }
    } else if (name == "device" || is_engine) {
        const std::vector<Device> gpus = find_machine({}, nullptr).gpus;
        found = gpus.empty() ? "cpu" : is_engine ? default_engine : device_id(gpus.front());
    }
    return found.empty() ? "" : "; if not given, here: " + found;
}

}  // namespace

void CommandLine::parse(std::vector<std::string> words) {
    for (std::string& word : words) {  // -k has no long name: Boost would find the two ambiguous
        if (word == "--") break;
        if (word == "--k" || word.starts_with("--k="))
            word = "-k" + word.substr(std::min<std::size_t>(4, word.size()));
    }
    Words sorted = sort_words(words);
    std::vector<std::string>& plain = sorted.plain;
    if (!plain.empty() && plain[0] == "help") {
        sorted.help = true;
        plain.erase(plain.begin());
    }
    Options ignored;
    if (plain.empty() && !sorted.unknown.empty()) explain_unknown(sorted.unknown, options_of(ignored));
    if (!plain.empty()) command = command_named(plain[0]);
    if (sorted.version) {  // like --help beside a command whatever else is there
        answer = std::string("mnist-knn ") + program_version + '\n';
        return;
    }
    if (sorted.help) {
        answer = command != nullptr
                     ? command_help(*command, sorted.all_help ? HelpLength::all : HelpLength::usual)
                     : program_help();
        return;
    }
    if (command == nullptr) throw UsageError("no command given; expected " + one_of(names_of(commands())));
    if (!sorted.without_value.empty() &&
        lookup(sorted.without_value, options_of(options, command->name)) != nullptr)
        throw UsageError(sorted.without_value + ": its value is missing; expected " + sorted.without_value +
                         " VALUE");
    read_options(sorted.options, *command, options);
    plain.erase(plain.begin());
    if (command->operands == nullptr && !plain.empty())
        throw UsageError(quoted_if_blank(plain[0]) + ": unexpected argument; expected options after '" +
                         command->name + "'");
    const std::size_t n = command->n_operands;
    if (command->operands != nullptr && (n > 0 ? plain.size() != n : plain.empty()))
        throw UsageError(
            (n > 0 ? counted(std::ssize(plain), command->operand) : std::string("no ") + command->operand) +
            " given; expected " + command->operands_wanted);
    options.operands = std::move(plain);
}

std::string CommandLine::usage() const {
    const std::string name = command != nullptr ? command->name : "COMMAND";
    const bool has_operands = command != nullptr && command->operands != nullptr;
    const std::string operands = has_operands ? std::string(" ") + command->operands : "";
    return "usage: mnist-knn " + name + " [OPTION]..." + operands + "\n'mnist-knn" +
           (command != nullptr ? " " + name : "") + " --help' lists the options\n";
}

std::string program_help() {
    std::string text =
        "Usage: mnist-knn COMMAND [OPTION]...\n" +
        wrapped("",
                "Classifies handwritten digits by exact k-nearest-neighbor search, on the GPU or the CPU.") +
        "\nCommands:\n";
    for (const Command& command : commands())
        text += entry(command.name, command.summary, command_column);
    text += "\nOptions:\n";
    text += entry("-h, --help", "this text; after a command: its usual options", general_column);
    text += entry("    --help=all", "after a command: all its options", general_column);
    text += entry("    --version", "the program's version", general_column);
    return text + '\n' +
           wrapped(
               "Exit codes:",
               "0 done, 1 data, file or device failed, 2 wrong command line, 3 some of the pictures failed, "
               "130 interrupted.");
}

std::string command_help(const Command& command, HelpLength length) {
    const bool all = length == HelpLength::all;
    std::string summary = command.summary;
    summary[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(summary[0])));
    std::string text = std::string("Usage: mnist-knn ") + command.name + " [OPTION]..." +
                       (command.operands != nullptr ? std::string(" ") + command.operands : "") + '\n' +
                       wrapped("", summary);
    Options ignored;
    if (!all) text += '\n';
    for (const OptionGroup& group : option_table(ignored, command.name)) {
        if (all) text += std::string("\n") + group.title + ":\n";
        for (const Option& option : group.options)
            if (all || !option.is_rare())
                text += entry(label(option),
                              option.meaning.substr(0, all ? std::string::npos : option.meaning.find(';')) +
                                  default_here(option),
                              option_column);
    }
    if (all)
        return text + "\nHelp:\n" + entry("-h, --help", "the usual options alone", option_column) +
               (*command.more_help != '\0' ? '\n' + wrapped("", command.more_help) : "");
    return text + entry("-h, --help", "this text", option_column) +
           entry("    --help=all", "all options, and more about the command", option_column);
}

}  // namespace knn
