/// The files of every command that writes some, over one table.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "tests/cli/program.h"

using namespace knn::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

struct Case {
    std::string command;
    std::vector<std::string> words;
    std::string input;  ///< one of the files that it reads
    std::vector<std::string> outputs;
};

const std::vector<Case>& cases() {
    const std::string labels = "in/train-labels-idx1-ubyte";
    static const std::vector<Case> all = {
        {"evaluate", {"-q", "--data", "in"}, labels, {"--json", "--predictions", "--neighbors-csv"}},
        {"view", {"-q", "--from", "a"}, "a/report.json", {"--html"}},
        {"bench",
         {"-q", "--data", "in", "--only", "cpu", "--seconds", "0.01"},
         labels,
         {"--json", "--csv", "--plot"}},
        {"tune", {"-q", "--data", "in", "-k", "1-3"}, labels, {"--save", "--json", "--csv", "--plot"}},
        {"graph", {"-q", "--data", "in", "-k", "3"}, labels, {"--npy", "--csv", "--mtx", "--json", "--plot"}},
        {"audit", {"-q", "--data", "in", "-k", "3"}, labels, {"--csv", "--json", "--html"}},
        {"compare", {"-q", "a", "b"}, "b/predictions.csv", {"--csv", "--html", "--json"}},
        {"info", {"--data", "in"}, labels, {"--json"}},
    };
    return all;
}

bool takes_any_name(const std::string& output) {
    return output != "--plot" && output != "--npy";
}

/// A data set and two reports of it, made once.
class Work {
  public:
    Folder folder;

    Work() {
        here_.folder = folder.path.string();
        fs::create_directory(folder / "in");
        SmallSet().write(folder / "in");
        for (const std::string k : {"1", "3"}) {
            const std::string report = k == "1" ? "a" : "b";
            REQUIRE(
                run({"evaluate", {"-q", "--data", "in", "-k", k}, "", {}}, {"--report", report}).exit_code ==
                0);
        }
        before = folder.names();
    }
    RunResult run(const Case& one, const std::vector<std::string>& extra, RunOptions options = {}) const {
        std::vector<std::string> words = {one.command};
        words.insert(words.end(), one.words.begin(), one.words.end());
        words.insert(words.end(), extra.begin(), extra.end());
        if (one.command != "compare" && one.command != "info") words.insert(words.end(), {"--device", "cpu"});
        options.folder = here_.folder;
        return program(words, options);
    }
    void check_refused(const Case& one, const std::vector<std::string>& extra, const std::string& why) const {
        const RunResult result = run(one, extra);
        CAPTURE(one.command);
        CAPTURE(extra);
        CAPTURE(result.err);
        CHECK(result.exit_code == 1);
        CHECK(result.out.empty());
        CHECK(is_one_error_line(result.err));
        CHECK(contains(result.err, why));
    }

    std::vector<std::string> before;

  private:
    RunOptions here_;
};

}  // namespace

TEST_CASE("files: no output replaces a file that is read, under any name") {
    const Work work;
    for (const Case& one : cases()) {
        const std::string content = read_file(work.folder / one.input);
        for (const char* name : {"hard", "link"})
            fs::remove(work.folder / name);
        fs::create_hard_link(work.folder / one.input, work.folder / "hard");
        fs::create_symlink(one.input, work.folder / "link");
        for (const std::string& output : one.outputs)
            for (const std::string& file :
                 {one.input, "./in/../" + one.input, std::string("hard"), std::string("link")})
                if (takes_any_name(output))
                    work.check_refused(one, {output, file}, "is read by this command");
        CHECK(read_file(work.folder / one.input) == content);
    }
}

TEST_CASE("files: what cannot be written is found before the search") {
    const Work work;
    const std::string long_name(256, 'a');
    for (const Case& one : cases())
        for (const std::string& output : one.outputs) {
            work.check_refused(one, {output, "new/x.svg"}, "its folder is missing");
            if (takes_any_name(output)) work.check_refused(one, {output, "in"}, "is a folder");
            if (takes_any_name(output)) work.check_refused(one, {output, long_name}, "a shorter name");
        }
    CHECK(work.folder.names() == work.before);
}

TEST_CASE("files: all are written, or none") {
    const Work work;
    for (const Case& one : cases()) {
        std::vector<std::string> words;
        for (const std::string& output : one.outputs)
            words.insert(words.end(),
                         {output, takes_any_name(output) ? "x" + output : "x" + output + ".svg"});
        // The last that takes any name fails: a full device, then a pipe that nobody reads.
        std::size_t last = words.size() - 1;
        while (!takes_any_name(words[last - 1]))
            last -= 2;
        words[last] = "/dev/full";
        const RunResult full = work.run(one, words);
        CAPTURE(one.command);
        CAPTURE(full.err);
        CHECK(full.exit_code == 1);
        CHECK(is_one_error_line(full.err));
        CHECK(contains(full.err, "/dev/full: cannot be written: No space left on device"));
        CHECK(work.folder.names() == work.before);

        words[last] = "pipe";
        REQUIRE(::mkfifo((work.folder / "pipe").c_str(), 0600) == 0);
        RunOptions options;
        options.signal = SIGINT;
        options.signal_after = 1500ms;
        options.timeout = 20s;
        CHECK(work.run(one, words, options).exit_code == 130);
        fs::remove(work.folder / "pipe");
        CHECK(work.folder.names() == work.before);
    }
}

TEST_CASE("files: JSON on standard output is there alone, under each of its names") {
    const Work work;
    for (const Case& one : cases()) {
        if (one.command == "view") continue;
        for (const std::string name : {"-", "/dev/stdout", "/dev/fd/1"}) {
            const RunResult result = work.run(one, {"--json", name});
            CAPTURE(one.command);
            CHECK(result.exit_code == 0);
            CHECK(nlohmann::json::accept(result.out));
        }
    }
}
