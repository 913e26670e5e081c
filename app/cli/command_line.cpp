#include "app/cli/command_line.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <typeinfo>

#include "app/cli/help.h"
#include "app/cli/values.h"
#include "version.h"

namespace po = boost::program_options;

namespace knn {

namespace {

/// The option of `known` for "--name", "--name=value", "-n" or "-nVALUE"; null if there is none.
const po::option_description* lookup(const std::string& word, const po::options_description& known) {
    const bool is_long = word.starts_with("--");
    if (word == "--" || word.starts_with("--="))
        return nullptr;  // to Boost, no name is the beginning of every name
    return known.find_nothrow(is_long ? word.substr(2, word.find('=') - 2) : word.substr(0, 2), false);
}

/// Whether `word` is an option whose value is the next word.
bool takes_next(const std::string& word, const po::options_description& known) {
    const auto takes_value = [&](const std::string& name) {
        const po::option_description* option = lookup(name, known);
        return option != nullptr && option->semantic()->max_tokens() > 0;
    };
    if (word.starts_with("--")) return word.find('=') == std::string::npos && takes_value(word);
    std::size_t i = 1;  // "-qk" is two options; the rest after one that takes a value is its value
    while (i < word.size() && !takes_value({'-', word[i]}))
        ++i;
    return i + 1 == word.size();
}

/// Whether `word` can only be meant as an option, not as a value: "-" is a file and "-1" a number.
bool is_option(const std::string& word) {
    return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

/// All options of all commands, to tell values from commands.
void add_all(po::options_description& all, Options& options) {
    for (const Command& command : commands())
        for (const OptionGroup& group : command.groups(options))
            for (const auto& option : group.list.options())
                if (all.find_nothrow(option->key(""), false) == nullptr) all.add(option);
}

std::vector<std::string> option_names(const po::options_description& known) {
    std::vector<std::string> names = {"--help", "--version"};
    for (const auto& option : known.options())
        names.push_back(option->long_name().empty() ? option->format_name() : "--" + option->long_name());
    return names;
}

/// The words of the command line, sorted by what they are.
struct Words {
    std::vector<std::string> plain;    ///< the command and what else is no option
    std::vector<std::string> options;  ///< with their values
    bool help = false, version = false;
    std::string unknown;        ///< the first option that no command has
    std::string without_value;  ///< the first option that lacks its value
};

Words sort_words(const std::vector<std::string>& words) {
    Options ignored;
    po::options_description all;
    add_all(all, ignored);
    Words sorted;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--") {
            sorted.plain.insert(sorted.plain.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                words.end());
            break;
        }
        const bool help = word == "-h" || word == "--help", version = word == "--version";
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

std::vector<std::string> command_names() {
    std::vector<std::string> names;
    for (const Command& command : commands())
        names.emplace_back(command.name);
    return names;
}

const Command* command_named(const std::string& name) {
    const Command* command = find_command(name);
    if (command != nullptr) return command;
    const std::vector<std::string> names = command_names();
    const std::string near = nearest_name(name, names);
    throw UsageError(quoted_if_empty(name) + ": unknown command; " +
                     (near.empty() ? "expected " + one_of(names) : "did you mean '" + near + "'?"));
}

/// "-k" for "--k", as Boost calls it.
std::string display_name(const std::string& option, const po::options_description& known) {
    const std::string as_short = option.substr(option.size() > 1 ? 1 : 0);
    return option.size() == 3 && known.find_nothrow(as_short, false) != nullptr ? as_short : option;
}

/// What another command calls so: `evaluate` and `bench` limit the images under names of their own.
std::string synonym(const std::string& option, const std::vector<std::string>& known) {
    constexpr std::pair<const char*, const char*> pairs[] = {{"--limit-train", "--n-train"},
                                                             {"--limit-test", "--n-query"}};
    for (const auto& [a, b] : pairs)
        for (const auto& [other, own] : {std::pair(a, b), std::pair(b, a)})
            if (option == other && std::find(known.begin(), known.end(), own) != known.end()) return own;
    return "";
}

[[noreturn]] void explain_unknown(const std::string& option, const po::options_description& known) {
    const std::vector<std::string> names = option_names(known);
    const std::string asked = option.starts_with("--=") ? option : option.substr(0, option.find('='));
    const std::string same = synonym(asked, names);
    const std::string near = same.empty() ? nearest_name(asked, names) : same;
    throw UsageError(option + ": unknown option; " +
                     (near.empty() ? "expected one that --help lists" : "did you mean '" + near + "'?"));
}

[[noreturn]] void explain_no_command(const Words& words) {
    Options ignored;
    po::options_description all;
    add_all(all, ignored);
    if (!words.unknown.empty()) explain_unknown(words.unknown, all);
    throw UsageError("no command given; expected " + one_of(command_names()));
}

void read_options(const std::vector<std::string>& words, const Command& command, Options& options) {
    po::options_description known;
    for (const OptionGroup& group : command.groups(options))
        known.add(group.list);
    for (const std::string& word : words)
        if (word.starts_with("--=")) explain_unknown(word, known);
    constexpr int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    try {
        po::variables_map values;
        po::store(po::command_line_parser(words).options(known).style(style).run(), values);
        // `tune`, which takes several, reads them itself.
        const bool is_given = values.contains("method");
        if (!is_given || values["method"].value().type() == typeid(std::string))
            options.method =
                parse_method(is_given ? values["method"].as<std::string>() : command.method, options);
        po::notify(values);
        for (const auto& [name, value] : values)
            if (!value.defaulted()) options.given.insert(name);
        Method& method = options.method;
        if (method.reranks() && !options.given.contains("candidates"))
            method.rerank.candidates = std::max(method.rerank.candidates, method.vote.k);
    } catch (const po::unknown_option& error) {
        explain_unknown(error.get_option_name(), known);
    } catch (const po::multiple_occurrences& error) {
        throw UsageError(display_name(error.get_option_name(), known) +
                         ": given more than once; expected it once");
    } catch (const po::error_with_option_name& error) {
        const bool takes_none = std::string(error.what()).find("does not take") != std::string::npos;
        throw UsageError(
            display_name(error.get_option_name(), known) +
            (takes_none ? ": has a value; expected none" : ": its value is missing; expected one"));
    } catch (const po::error& error) {
        throw UsageError(std::string(error.what()) + "; expected options that --help lists");
    }
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
    const bool asks = sorted.version || sorted.help;  // beside a command whatever else is there
    if (asks && plain.empty() && !sorted.unknown.empty()) explain_no_command(sorted);
    if (sorted.version) {
        if (!plain.empty()) command_named(plain[0]);
        answer = std::string("mnist-knn ") + program_version + '\n';
        return;
    }
    if (!plain.empty()) command = command_named(plain[0]);
    if (sorted.help) {
        answer = command != nullptr ? command_help(*command) : program_help();
        return;
    }
    if (command == nullptr) explain_no_command(sorted);
    if (!sorted.without_value.empty())
        throw UsageError(sorted.without_value + ": its value is missing; expected " + sorted.without_value +
                         " VALUE");
    read_options(sorted.options, *command, options);
    check_options(options);
    plain.erase(plain.begin());
    if (command->take_operands != nullptr)
        command->take_operands(plain, options);
    else if (!plain.empty())
        throw UsageError(quoted_if_empty(plain[0]) + ": unexpected argument; expected options after '" +
                         command->name + "'");
}

std::string CommandLine::usage() const {
    const std::string name = command != nullptr ? command->name : "COMMAND";
    const bool has_operands = command != nullptr && command->operands != nullptr;
    const std::string operands = has_operands ? std::string(" ") + command->operands : "";
    return "usage: mnist-knn " + name + " [OPTION]..." + operands + "\n'mnist-knn" +
           (command != nullptr ? " " + name : "") + " --help' tells more\n";
}

}  // namespace knn
