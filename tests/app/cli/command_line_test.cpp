#include "app/cli/command_line.h"

#include <doctest/doctest.h>

#include "app/console/output.h"
#include "data/core/errors.h"

using namespace knn;

namespace {
std::string mistake(std::vector<std::string> words) {
    CommandLine line;
    try {
        line.parse(std::move(words));
    } catch (const UsageError& error) {
        return error.what();
    }
    return "none";
}
}  // namespace

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

TEST_CASE("every option sets its value") {
    CommandLine line;
    line.parse({"evaluate", "--data",        "d",       "--train-images", "a",     "--train-labels",
                "b",        "--test-images", "c",       "--test-labels",  "e",     "-k",
                "7",        "--engine",      "auto",    "--metric",       "l2",    "--weights",
                "distance", "--tie",         "nearest", "--device",       "gpu:2", "--limit-train",
                "11",       "--limit-test",  "12",      "--batch",        "13",    "--threads",
                "14",       "--json",        "j",       "--predictions",  "p",     "--neighbors-csv",
                "n",        "--report",      "r",       "--color",        "never", "--progress",
                "always"});
    const Options& got = line.options;
    CHECK(got.data.folder == "d");
    CHECK(got.data.train_images == "a");
    CHECK(got.data.train_labels == "b");
    CHECK(got.data.test_images == "c");
    CHECK(got.data.test_labels == "e");
    CHECK(got.method.vote.k == 7);
    CHECK(got.wish.engine == "auto");
    CHECK(got.method.vote.weights == Weights::distance);
    CHECK(got.method.vote.tie == Tie::nearest);
    CHECK(got.wish.device.text() == "gpu:2");
    CHECK(got.first.train == 11);
    CHECK(got.first.test == 12);
    CHECK(got.wish.batch == 13);
    CHECK(got.wish.threads == 14);
    CHECK(got.output.json == "j");
    CHECK(got.output.predictions == "p");
    CHECK(got.output.neighbors_csv == "n");
    CHECK(got.output.report == "r");
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
        CHECK(line.answer.find("--neighbors-csv FILE") != std::string::npos);
    }
    CommandLine version;
    version.parse({"--version"});
    CHECK(version.answer.starts_with("mnist-knn "));
    // The value of an option is no request for help.
    CommandLine file;
    file.parse({"evaluate", "--json=--help"});
    CHECK(file.options.output.json == "--help");
}

TEST_CASE("errors name the mistake") {
    CHECK(mistake({}) ==
          "no command given; expected evaluate, classify, draw, view, bench, graph, condense, audit, tune, "
          "compare or info");
    CHECK(mistake({"evalute"}) == "evalute: unknown command; did you mean 'evaluate'?");
    CHECK(mistake({"dance"}) ==
          "dance: unknown command; expected evaluate, classify, draw, view, bench, graph, condense, audit, "
          "tune, compare or info");
    CHECK(mistake({""}) ==
          "'': unknown command; expected evaluate, classify, draw, view, bench, graph, condense, audit, "
          "tune, compare or info");
    CHECK(mistake({"--verison"}) == "--verison: unknown option; did you mean '--version'?");
    CHECK(mistake({"evaluate", "--engin", "x"}) == "--engin: unknown option; did you mean '--engine'?");
    CHECK(mistake({"evaluate", "--limit-tes"})
              .starts_with("--limit-tes: unknown option; did you mean '--limit-t"));
    CHECK(mistake({"evaluate", "-z"}) == "-z: unknown option; expected one that --help lists");
    CHECK(mistake({"info", "-k", "3"}).starts_with("-k: unknown option; "));
    CHECK(mistake({"evaluate", "-k", "1", "-k", "2"}) == "-k: given more than once; expected it once");
    CHECK(mistake({"evaluate", "-q", "-q"}) == "--quiet: given more than once; expected it once");
    CHECK(mistake({"evaluate", "-k"}) == "-k: its value is missing; expected -k VALUE");
    CHECK(mistake({"evaluate", "--json", "--quiet"}) ==
          "--json: its value is missing; expected --json VALUE");
    CHECK(mistake({"evaluate", "--json="}) == "--json: its value is missing; expected one");
    CHECK(mistake({"evaluate", "--json", ""}) == "--json '': empty; expected a name");
    CHECK(mistake({"evaluate", "--quiet=3"}) == "--quiet: has a value; expected none");
    CHECK(mistake({"evaluate", "--report", ""}) == "--report '': empty; expected a name");
    CHECK(mistake({"evaluate", "--report", "-"}) ==
          "--report -: several files are written; expected the name of a folder");
    CHECK(mistake({"info", "--write-synthetic", "-"}).starts_with("--write-synthetic -: several files"));
    CHECK(mistake({"evaluate", ""}) == "'': unexpected argument; expected options after 'evaluate'");
    for (const char* option : {"--distance", "--select", "--metric", "--engine", "--device", "--tie", "--p"})
        CHECK(mistake({"evaluate", option, ""}).starts_with(std::string(option) + " '': "));
    for (const char* option : {"--plot", "--seconds", "--only", "--case", "--repeat"})
        CHECK(mistake({"bench", option, ""}).starts_with(std::string(option) + " '': "));
    CHECK(mistake({"evaluate", "5"}) == "5: unexpected argument; expected options after 'evaluate'");
    CHECK(mistake({"evaluate", "-k", "-1"}) == "-k -1: out of range; expected a whole number from 1 to 1024");
    CHECK(mistake({"evaluate", "--device", "gpu:x"})
              .starts_with("--device gpu:N with N = x: not a whole number"));
    CHECK(mistake({"evaluate", "--device", "tpu"}) ==
          "--device tpu: unknown name; expected auto, cpu, gpu, gpu:all or gpu:N");
    CHECK(mistake({"evaluate", "--device", "GPU"}).ends_with("(did you mean gpu?)"));
    CHECK(mistake({"evaluate", "--metric", "L2"}) ==
          "--metric L2: unknown name; expected l2, l1, lp, cosine or pearson (did you mean l2?)");
    CHECK(mistake({"evaluate", "--metric", "l3"}).find("expected l2") != std::string::npos);
}

TEST_CASE("settings in messages are shown as options") {
    CHECK(as_options("§engine tensor needs a GPU; expected §device gpu") ==
          "--engine tensor needs a GPU; expected --device gpu");
    CHECK(as_options("§k 3: too many, §test-images: none, §k") == "-k 3: too many, --test-images: none, -k");
    CHECK(as_options("a file § of §4 is no setting§") == "a file § of §4 is no setting§");
}
