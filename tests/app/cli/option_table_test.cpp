#include "app/cli/option_table.h"
#include "app/console/console.h"

#include <regex>

#include "app/cli/command_line.h"
#include "app/cli/values.h"
#include "data/core/errors.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

/// The error of the command line; empty without one.
std::string mistake_of(std::vector<std::string> words) {
    return test::error_of<UsageError>([&] { CommandLine().parse(std::move(words)); });
}

/// The same of words that have no blanks.
std::string mistake(const std::string& words) {
    std::istringstream stream(words);
    return mistake_of(std::vector<std::string>(std::istream_iterator<std::string>(stream), {}));
}

std::string operands(const std::string& command) {
    return command == "compare" ? " a b " : command == "classify" ? " a " : " ";
}

/// "NAME VALUE" of an option of the command, with a value that may be read; of "--of test" the same.
std::string with_value(std::string_view command, const std::string& words) {
    Options ignored;
    const std::string name = words.substr(0, words.find(' '));
    if (name != words && std::islower(static_cast<unsigned char>(words[name.size() + 1])) != 0) return words;
    for (const Option& option : options_of(ignored, command)) {
        if (option.shown() != name) continue;
        if (option.value.placeholder == nullptr) return name;
        for (const char* value : {"2", "20", "3x3", "none", "l2", "raw", "cells", "uniform", "smallest",
                                  "majority", "pca:3", "a.png"})
            try {
                option.value.read(name, value);
                return name + ' ' + value;
            } catch (const std::exception&) {  // the next may be one
            }
    }
    FAIL(command, " has no ", words);
    return "";
}

}  // namespace

TEST_CASE("options: the table names commands that exist, and no option twice for one of them") {
    Options ignored;
    for (const Command& command : commands()) {
        std::set<std::string> names;
        const std::string help = command_help(command, HelpLength::all),
                          usual = command_help(command, HelpLength::usual);
        CHECK(std::ranges::count(usual, '\n') <= 30);
        CHECK(std::ranges::count(usual, '(') == std::ranges::count(usual, ')'));  // no meaning ends inside
        for (const Option& option : options_of(ignored, command.name)) {
            CAPTURE(command.name);
            CAPTURE(option.name);
            CHECK(names.insert(option.shown()).second);
            CHECK(test::contains(help, option.name));
            CHECK((usual.find(std::string(option.name) + ' ') != std::string::npos) == !option.is_rare());
            CHECK(!option.meaning.empty());
        }
    }
    for (const Option& option : options_of(ignored)) {
        std::istringstream names(option.commands);
        for (std::string name; names >> name;) {
            const auto is_it = [&](const Command& command) { return command.name == name; };
            CAPTURE(name);
            CHECK(std::ranges::any_of(commands(), is_it));
        }
    }
}

TEST_CASE("options: README's table has those of evaluate, with their placeholders") {
    const std::string readme = test::read_file(MNIST_KNN_SOURCE "/README.md");
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
    Options ignored;
    for (const Option& option : options_of(ignored, "evaluate")) {
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

TEST_CASE("README and the help of graph have the same figures of memory") {
    const std::string readme = test::read_file(MNIST_KNN_SOURCE "/README.md"),
                      help = row_named(commands(), "graph")->more_help;
    for (const std::string figure : {"40 bytes ", "up to 24 k + 60 bytes "}) {
        CAPTURE(figure);
        CHECK(readme.find(figure) != std::string::npos);
        CHECK(help.find(figure) != std::string::npos);
    }
}

TEST_CASE("the man page says of no array of graph --npy that it is of float32") {
    const std::string page = test::read_file(MNIST_KNN_SOURCE "/app/mnist-knn.1.in"),
                      from_npy = page.substr(page.find("{Fl -npy} writes"));
    CHECK(from_npy.substr(0, from_npy.find("{Fl -mtx}")).find("float32") == std::string::npos);
}

TEST_CASE("README explains a term before it uses it: those in bold, before the first heading") {
    const std::string readme = test::read_file(MNIST_KNN_SOURCE "/README.md"),
                      head = readme.substr(0, readme.find("\n## "));
    const std::regex bold(R"(\*\*([^*]+)\*\*)");
    int terms = 0;
    for (auto it = std::sregex_iterator(head.begin(), head.end(), bold); it != std::sregex_iterator(); ++it) {
        const std::string term = (*it)[1];
        CAPTURE(term);
        CHECK(head.find(term) == static_cast<std::size_t>(it->position(1)));
        ++terms;
    }
    CHECK(terms >= 10);
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
    REQUIRE(places.size() == 7);
    CHECK(places[0].is_folder);
    CHECK(places[3].in_folder);
    CHECK(places[3].file == "small/kept.csv");
}

TEST_CASE("options: the labels beside generated vectors are an output too") {
    CommandLine line;
    line.parse({"generate", "--out", "a/points.fbin"});
    const std::vector<OutputPlace> places = output_places(line.options);
    REQUIRE(places.size() == 2);
    CHECK(places[0].file == "a/points.fbin");
    CHECK(places[1].file == "a/points-labels.npy");
}

TEST_CASE("options: one that has no effect without another is refused, as is one that excludes another") {
    for (const OptionNeed& need : option_needs()) {
        const std::string needed = need.needed;
        for (const std::string& command : words_of(need.commands))
            for (const std::string& option : words_of(need.options)) {
                const std::string given = command + operands(command) + with_value(command, option);
                CAPTURE(given);
                CHECK(mistake(given).starts_with(option + ": has no effect without " + needed));
                CHECK(!test::contains(mistake(given + ' ' + with_value(command, needed)),
                                      "no effect without " + needed));
            }
    }
    for (const OptionConflict& conflict : option_conflicts())
        for (const std::string& command : words_of(conflict.commands))
            for (const std::string& one : words_of(conflict.options))
                for (const std::string& other : words_of(conflict.others)) {
                    if (one == other) continue;
                    const std::string first = command + operands(command) + with_value(command, one),
                                      both = first + ' ' + with_value(command, other);
                    CAPTURE(both);
                    CHECK(test::contains(mistake(both), "; expected one of them"));
                    CHECK(!test::contains(mistake(first), "; expected one of them"));
                }
    CHECK(mistake("audit --of train --limit-test 3").starts_with("--limit-test: has no effect without --of"));
}

TEST_CASE("options: vectors and images are named by different options") {
    CHECK(mistake("evaluate --train a.npy --data x")
              .starts_with("--train and --data: both say where the data are"));
    CHECK(
        mistake("evaluate --train a.npy --test-images x").starts_with("--train and --test-images: both say"));
    CHECK(mistake("graph --train a.npy --images x").starts_with("--images and --train: both say"));
    for (const char* words : {"evaluate --train a.npy --extra x", "graph --images a --extra x"})
        CHECK(test::contains(mistake(words), " and --extra: --extra adds to the images of --data; expected"));
    CHECK(mistake("evaluate --test a.npy").starts_with("--test: has no effect without --train"));
    CHECK(mistake("evaluate --label-column 3").starts_with("--label-column: has no effect without --train"));
    CHECK(mistake("evaluate --train a.csv --test b.csv --label-column 3 --test-labels c").empty());
    CommandLine line;
    line.parse({"audit", "--train", "a.npy"});
    CHECK(line.options.method == methods().front().method);
}

TEST_CASE("options before and after the command") {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"evaluate", "-k", "3", "-q", "--json", "-"},
          {"-k", "3", "evaluate", "--json=-", "--quiet"},
          {"-q", "--json", "-", "-k3", "evaluate"},
          {"-qk", "3", "evaluate", "--json", "-"},
          {"-qk3", "--json", "-", "--", "evaluate"}}) {
        CommandLine line;
        line.parse(words);
        REQUIRE(line.command != nullptr);
        CHECK(std::string(line.command->name) == "evaluate");
        CHECK(line.options.method.vote.k == 3);
        CHECK(line.options.output.quiet);
        CHECK(line.options.output.json == "-");
        CHECK(line.answer.empty());
    }
}

/// Those that no output shows. Others that did not set their value would fail a test in tests/cli.
TEST_CASE("every option sets its value") {
    CommandLine line;
    line.parse({"evaluate", "--engine", "auto", "--device", "gpu:2", "--batch", "13", "--threads", "14",
                "--sketch", "64", "--color", "never", "--progress", "always"});
    const Options& got = line.options;
    CHECK(got.request.engine == "auto");
    CHECK(got.request.device.text() == "gpu:2");
    CHECK(got.request.batch == 13);
    CHECK(got.request.threads == 14);
    CHECK(got.request.sketch == SketchColumns::c64);
    CHECK(got.output.color == When::never);
    CHECK(got.output.progress == When::always);
}

TEST_CASE("--help and --version take precedence") {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"evaluate", "--help"},
                                                  {"--help", "evaluate"},
                                                  {"help", "evaluate"},
                                                  {"evaluate", "-k", "0", "--nonsense", "-h"}}) {
        CommandLine line;
        line.parse(words);
        CHECK(test::contains(line.answer, "--neighbors-csv FILE"));
        CHECK(!test::contains(line.answer, "--batch N"));
    }
    CommandLine all;
    all.parse({"evaluate", "--help=all"});
    CHECK(test::contains(all.answer, "--batch N"));
    CommandLine version;
    version.parse({"--version"});
    CHECK(version.answer.starts_with("mnist-knn "));
    // The value of an option is no request for help.
    CommandLine file;
    file.parse({"evaluate", "--json=--help"});
    CHECK(file.options.output.json == "--help");
}

TEST_CASE("errors name the mistake") {
    const std::string one_of_all =
        "; expected evaluate, classify, draw, view, bench, graph, neighbors, condense, learn, audit, tune, "
        "compare, serve, generate or info";
    const std::pair<std::string, std::string> mistakes[] = {
        {"", "no command given" + one_of_all},
        {"evalute", "evalute: unknown command; did you mean 'evaluate'?"},
        {"dance", "dance: unknown command" + one_of_all},
        {"--verison", "--verison: unknown option; did you mean '--version'?"},
        {"evaluate --engin x", "--engin: unknown option; did you mean '--engine'?"},
        {"evaluate -z", "-z: unknown option; expected one that --help=all lists"},
        {"evaluate -k 1 -k 2", "-k: given more than once; expected it once"},
        {"evaluate -q -q", "--quiet: given more than once; expected it once"},
        {"evaluate -k", "-k: its value is missing; expected -k VALUE"},
        {"evaluate --json --quiet", "--json: its value is missing; expected --json VALUE"},
        {"evaluate --json=", "--json: its value is missing; expected one"},
        {"evaluate --quiet=3", "--quiet: has a value; expected none"},
        {"evaluate --quiet=", "--quiet: has a value; expected none"},
        {"evaluate -q=3", "-q: has a value; expected none"},
        {"evaluate --report -", "--report -: several files are written; expected the name of a folder"},
        {"evaluate 5", "5: unexpected argument; expected options after 'evaluate'"},
        {"evaluate -k -1", "-k -1: out of range; expected a whole number from 1 to 16384"},
        {"evaluate --method accurate -k 1025",
         "-k 1025: a re-ranker takes no more than 1,024 candidates; expected at most as many, or --rerank "
         "none"},
        {"evaluate --device tpu", "--device tpu: unknown name; expected auto, cpu, gpu, gpu:all or gpu:N"},
        {"evaluate --metric L2",
         "--metric L2: unknown name; expected l2, l1, lp, cosine or pearson (did you mean l2?)"},
    };
    for (const auto& [words, message] : mistakes)
        CHECK(mistake(words) == message);
    CHECK(mistake_of({""}) == "'': unknown command" + one_of_all);
    for (const std::string words : {"evaluate --json", "evaluate --report", "view --sheet", "graph --plot"}) {
        const std::size_t blank = words.find(' ');
        const std::string option = words.substr(blank + 1);
        CHECK(mistake_of({words.substr(0, blank), option, ""}) == option + " '': empty; expected a name");
    }
    CHECK(mistake_of({"evaluate", ""}) == "'': unexpected argument; expected options after 'evaluate'");
    for (const char* option : {"--distance", "--select", "--metric", "--engine", "--device", "--tie", "--p"})
        CHECK(mistake_of({"evaluate", option, ""}).starts_with(std::string(option) + " '': "));
    for (const char* option : {"--plot", "--seconds", "--only", "--case", "--repeat"})
        CHECK(mistake_of({"bench", option, ""}).starts_with(std::string(option) + " '': "));
    const std::pair<const char*, const char*> parts[] = {
        {"evaluate --limit-tes", "--limit-tes: unknown option; did you mean '--limit-t"},
        {"info -k 3", "-k: unknown option; "},
        {"classify a.pgm --test-images x", "--test-images: unknown option; "},  // it reads no test set
        {"draw --test-labels x", "--test-labels: unknown option; "},
        {"evaluate --=5", "--=5: unknown option; "},
        {"evaluate -=", "-=: unknown option; expected one that --help=all lists"},
        {"evaluate -=5", "-=5: unknown option; expected one that --help=all lists"},
        {"evaluate --html=", "--html=: unknown option; "},
        {"evaluate --help=", "--help=: unknown option; did you mean '--help'?"},
        {"evaluate -qk x", "-k x: "},
        {"evaluate -K 3", "-K: unknown option; did you mean '-k'?"},
        {"bench --limit-train 3", "--limit-train: unknown option; did you mean '--n-train'?"},
        {"bench --limit-test=3", "--limit-test=3: unknown option; did you mean '--n-query'?"},
        {"evaluate --batch x", "not a whole number; expected a whole number of at least 1"},
        {"evaluate --batch 99999999999999999999", "expected a whole number from 1 to 9223372036854775807"},
        {"evaluate --device gpu:x", "--device gpu:N with N = x: not a whole number"},
        {"evaluate --device GPU", "(did you mean gpu?)"},
        {"evaluate --metric l3", "expected l2"},
        {"evaluate --metric lp", "expected --p P"},
        {"bench --metric lp", "expected --p P with it"},
        {"view --sheet x.jpg", "the output is PNG; expected a name that ends in .png"},
        {"classify a.pgm --explain x", "the output is PNG; expected a name that ends in .png"},
        {"bench --plot x.png", "the output is SVG; expected a name that ends in .svg"},
        {"info --write-synthetic -", "--write-synthetic -: several files"},
        {"compare a", "1 report given; expected 2, each a folder"},
        {"compare a b c", "3 reports given; expected 2"},
        // Without effect.
        {"evaluate --candidates 20",
         "--candidates: nothing orders or counts candidates; expected --rerank or "},
        {"evaluate --candidates 20 --method accurate --rerank none --vote majority", "--candidates: nothing"},
        {"evaluate --candidates 20 --metric cosine", "candidates; expected --rerank with it"},
        {"evaluate --candidates 20 --vote class-mean -k 30",
         "-k 30: more than the 20 candidates that vote; "},
        {"evaluate --weights distance --vote class-mean",
         "--weights: --vote class-mean weighs no votes; expected --vote majority"},
        {"audit --weights distance", "--weights: unknown option"},
        {"audit --tie nearest", "--tie: unknown option"},
        {"audit --vote majority", "--vote: unknown option"},
        {"audit --rerank none --candidates 50", "candidates; expected --rerank with it"},
        {"view --weights distance --method accurate", "--weights: --vote class-mean weighs no votes"},
        {"tune --weights distance --vote class-mean", "--weights: --vote class-mean weighs no votes"},
        {"evaluate --vote class-mean --metric cosine", "--vote class-mean: adds up integers"},
    };
    for (const auto& one : parts) {
        CAPTURE(one.first);
        CHECK(test::contains(mistake(one.first), one.second));
    }
    for (const char* words :
         {"evaluate --candidates 20 --rerank cells", "evaluate --candidates 20 --vote class-mean -k 20",
          "classify --candidates 20 a.png", "tune --weights distance", "audit --seed 7 --plant 3",
          "audit --rerank none --metric cosine",
          "evaluate --weights distance --method accurate --vote majority"})
        CHECK(mistake(words).empty());
}

TEST_CASE("what no option, no parser of values and no command takes is refused") {
    const std::pair<std::string, const char*> refused[] = {
        {"", "--version evalute;--version --foo;--=;-c-sv"},
        {"evaluate ",
         "--eng cpu;--=;-q-k;--limit-train 0;--color red;--spread both;--method raw --method "
         "gradients;--transform deskew --transform blur;--rerank both --candidates 10 -k 50;--p 2"},
        {"evaluate --metric ", "l2 --p 3;cosine --p 2;lp --p 16"},
        {"evaluate --device ", "gpu:;gpu:0,;gpu:0,0;gpu:,1;gpu:0,x;gpu:all,1"},
        {"view ", "--metric lp;--p 3;--order size;--limit 0;--from r --from again;--json -"},
        {"classify", "; --=x a.png; --metric lp a.png; --p 3 a.png; a.pgm --limit-test 5; a.pgm --rotate 45"},
        {"classify a.pgm --grid ", "9;9x;x9;9x9x9;0x9;9x51;axb;-1x9"},
        {"classify a.pgm --reject ", "0.5;5;maybe;-1%;50.1%;%;x%;nan%"},
        {"compare", "; a; a b c"},
        {"tune ",
         "--metric lp;--p 3;--rerank spread:3:mean:times:2;--method none;--limit-train 1;--limit-test "
         "3;extra;-k 0;-k 5-3;-k 1-20000;-k 1-"},
        {"condense ", "--out x --rule hart"},
        {"graph ", "--npy -"},
        {"graph ", "--npy folder/"},
        {"audit ", "--limit-train 1"},
    };
    for (const auto& [begin, ends] : refused) {
        std::istringstream stream(ends);
        for (std::string end; std::getline(stream, end, ';');) {
            CAPTURE(end);
            CHECK(!mistake(begin + end).empty());
        }
    }
    CHECK(mistake("classify a.pgm --grid 9x9x9").starts_with("--grid 9x9x9: no size of a grid"));
    CHECK(!mistake_of({"evaluate", "--method", ""}).empty());
    CHECK(!mistake_of({"classify", "a.pgm", "--reject", ""}).empty());
}

TEST_CASE("settings in messages are shown as options") {
    CHECK(as_options("§engine tensor needs a GPU; expected §device gpu") ==
          "--engine tensor needs a GPU; expected --device gpu");
    CHECK(as_options("§k 3: too many, §test-images, §k") == "-k 3: too many, --test-images, -k");
    CHECK(as_options("a file § of §4 is no setting§") == "a file § of §4 is no setting§");
    CHECK(as_options("§a.png: §engines") == "§a.png: §engines");
    for (const char* file : {"§engine/x: is empty", "§engine: no such folder"})
        CHECK(as_options(file) == file);
}
