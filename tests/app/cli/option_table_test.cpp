#include "app/cli/option_table.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "app/cli/command_line.h"
#include "data/core/errors.h"

using namespace knn;

namespace {

std::vector<Option> options_of(const std::string& command) {
    static Options ignored;
    std::vector<Option> all;
    for (OptionGroup& group : option_table(ignored, command))
        std::move(group.options.begin(), group.options.end(), std::back_inserter(all));
    return all;
}

/// The error of the command line; empty without one.
std::string mistake(const std::string& words) {
    std::istringstream stream(words);
    CommandLine line;
    try {
        line.parse({std::istream_iterator<std::string>(stream), {}});
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("options: the table names commands that exist, and no option twice for one of them") {
    std::set<std::string> commands_with_options;
    for (const Command& command : commands()) {
        std::set<std::string> names;
        const std::string help = command_help(command);
        for (const Option& option : options_of(command.name)) {
            CAPTURE(command.name);
            CAPTURE(option.name);
            CHECK(names.insert(option.shown()).second);
            CHECK(help.find(option.name) != std::string::npos);
            CHECK(!option.meaning.empty());
        }
    }
    Options ignored;
    for (const OptionGroup& group : option_table(ignored))
        for (const Option& option : group.options) {
            std::istringstream names(option.commands);
            for (std::string name; names >> name;) {
                const auto is_it = [&](const Command& command) { return command.name == name; };
                CAPTURE(name);
                CHECK(std::ranges::any_of(commands(), is_it));
            }
        }
}

TEST_CASE("options: README's table has those of evaluate, with their placeholders") {
    std::ifstream file(MNIST_KNN_SOURCE "/README.md");
    const std::string readme{std::istreambuf_iterator<char>(file), {}};
    const std::size_t begin = readme.find("## Options");
    REQUIRE(begin != std::string::npos);
    const std::string section = readme.substr(begin, readme.find("\n## ", begin) - begin);
    std::set<std::string> in_readme, in_table;
    std::istringstream lines(section);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| `-")) continue;
        const std::string cell = line.substr(2, line.find(" |", 2) - 2);
        const std::regex option("`([^`]+)`");
        for (auto it = std::sregex_iterator(cell.begin(), cell.end(), option); it != std::sregex_iterator();
             ++it)
            in_readme.insert((*it)[1]);
    }
    for (const Option& option : options_of("evaluate")) {
        const char* placeholder = option.value.placeholder;
        const std::string value = placeholder != nullptr ? placeholder : "";
        const std::string name = option.letter() != '\0' ? option.name : option.shown();
        const std::string shown = name.substr(0, name.find(','));
        in_table.insert(value.empty() ? shown : shown + ' ' + value.substr(0, value.find('|')));
    }
    for (const std::string& name : in_table) {
        CAPTURE(name);
        CHECK(in_readme.contains(name));
    }
    for (const std::string& name : in_readme) {
        CAPTURE(name);
        CHECK(in_table.contains(name));
    }
}

TEST_CASE("options: those without effect are errors") {
    const std::string candidates = "--candidates: nothing orders or counts candidates; expected --rerank or ";
    CHECK(mistake("evaluate --candidates 20").starts_with(candidates));
    CHECK(mistake("evaluate --candidates 20 --method accurate --rerank none --vote majority")
              .starts_with(candidates));
    CHECK(mistake("evaluate --candidates 20 --rerank cells").empty());
    CHECK(mistake("evaluate --candidates 20 --vote class-mean").empty());
    CHECK(mistake("classify --candidates 20 a.png").empty());
    const std::string weights = "--weights: --vote class-mean weighs no votes; expected --vote majority";
    CHECK(mistake("evaluate --weights distance --vote class-mean").starts_with(weights));
    CHECK(mistake("audit --weights distance --method accurate").starts_with(weights));
    CHECK(mistake("tune --weights distance --vote class-mean").starts_with(weights));
    CHECK(mistake("tune --weights distance").empty());
    CHECK(mistake("evaluate --weights distance --method accurate --vote majority").empty());
    CHECK(mistake("audit --seed 7")
              .starts_with("--seed: chooses the labels that --plant makes wrong; expected --plant"));
    CHECK(mistake("audit --seed 7 --plant 3").empty());
    CHECK(mistake("evaluate --vote class-mean --metric cosine")
              .starts_with("--vote class-mean: adds up integers"));
}

TEST_CASE("options: the files that a command writes") {
    CommandLine line;
    line.parse({"graph", "--npy", "g", "--json", "-"});
    std::vector<std::string> files;
    for (const OutputPlace& place : output_places(line.options))
        files.push_back(place.option + ' ' + place.file);
    CHECK(files == std::vector<std::string>{"--npy g-indices.npy", "--npy g-distances.npy", "--json -"});
    clear_outputs(line.options);
    CHECK(output_places(line.options).empty());

    CommandLine condense;
    condense.parse({"condense", "--out", "small"});
    const std::vector<OutputPlace> places = output_places(condense.options);
    REQUIRE(places.size() == 4);
    CHECK(places[0].is_folder);
    CHECK(places[3].in_folder);
    CHECK(places[3].file == "small/kept.csv");
}
