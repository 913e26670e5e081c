/// Invalid destinations: a file that is read, one file twice, places that cannot be written.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/cli/program.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// A small data set in `in`, and a folder that the program runs in.
struct Work {
    Folder folder;
    RunOptions here;

    Work() {
        fs::create_directory(folder / "in");
        SmallSet().write(folder / "in");
        here.folder = folder.path.string();
    }
    RunResult run(const std::string& command, const std::vector<std::string>& extra) const {
        std::vector<std::string> words = {command, "--data", "in"};
        if (command == "evaluate") words.insert(words.end(), {"--device", "cpu"});
        words.insert(words.end(), extra.begin(), extra.end());
        return program(words, here);
    }
    std::string content() const {
        std::string all;
        for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                 "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"})
            all += read_file(folder / "in/" + name);
        return all;
    }
};

}  // namespace

TEST_CASE("no output replaces a file of --method") {
    const Work work;
    const std::string method = work.folder / "mine.method";
    REQUIRE(work.run("tune", {"-q", "-k", "1-2", "--save", "mine.method"}).exit_code == 0);
    const std::string before = read_file(method);
    fs::create_hard_link(method, work.folder / "link");
    const std::vector<std::vector<std::string>> outputs = {
        {"evaluate", "--json"}, {"evaluate", "--predictions"},
        {"graph", "--csv"},     {"tune", "--csv"},
        {"tune", "--save"},     {"audit", "--csv"},
        {"view", "--html"}};
    for (const std::string file : {"mine.method", "./mine.method", "link"})
        for (const std::vector<std::string>& words : outputs) {
            CAPTURE(file);
            CAPTURE(words[0]);
            const RunResult result = work.run(words[0], {"--method", "mine.method", words[1], file});
            CAPTURE(result.err);
            CHECK(result.exit_code == 1);
            CHECK(result.err.find("is read by this command (mine.method)") != std::string::npos);
            CHECK(read_file(method) == before);
        }
}

TEST_CASE("classify replaces neither its pictures nor its data set") {
    if (!has_opencv) return skip(no_opencv);
    const Work work;
    fs::create_directory(work.folder / "28");
    SmallSet set;
    set.rows = set.cols = 28;
    set.write(work.folder / "28");
    fs::create_symlink("../28/train-labels-idx1-ubyte", work.folder / "28/labels.png");
    const std::string picture = "P5\n2 2\n255\nabcd";
    fs::create_directory(work.folder / "pictures");
    std::ofstream(work.folder / "pictures/a.png") << picture;
    for (const std::string& source : {std::string("pictures"), std::string("pictures/a.png")})
        for (const std::string& option : {std::string("--json"), std::string("--explain")})
            for (const std::string& file :
                 {std::string("./pictures/a.png"), std::string("28/../28/labels.png")}) {
                const RunResult result =
                    program({"classify", "--data", "28", source, option, file}, work.here);
                CAPTURE(result.err);
                CHECK(result.exit_code == 1);
                CHECK(result.err.find("is read by this command") != std::string::npos);
            }
    CHECK(read_file(work.folder / "pictures/a.png") == picture);
    CHECK(is_usage_error(program({"classify", "a.pgm", "--json", "x.png", "--explain", "./x.png"}).err));
    CHECK(is_usage_error(program({"classify", "a.pgm", "--json", "/dev/stdout", "--explain", "-"}).err));
}

TEST_CASE("two outputs to one file are detected under any spelling") {
    const Work work;
    fs::create_directory(work.folder / "io");
    fs::create_symlink("io", work.folder / "io2");
    fs::create_symlink("a", work.folder / "io/b");
    const std::vector<std::vector<std::string>> pairs = {
        {"--json", "io/a", "--predictions", "./io/a"},
        {"--json", "io/a", "--predictions", "io2/a"},
        {"--json", "io/a", "--neighbors-csv", "io/b"},
        {"--json", "-", "--predictions", "/dev/stdout"},
        {"--json", "-", "--predictions", "/proc/self/fd/1"},
        {"--json", "-", "--predictions", "/dev/fd/1"},
        {"--json", "/dev/fd/1", "--predictions", "/dev/stdout"},
        {"--json", "io/rr", "--report", "io/rr"},
        {"--json", "io/index.html", "--report", "io2"},
    };
    for (const auto& words : pairs) {
        const RunResult result = work.run("evaluate", words);
        CAPTURE(words);
        CAPTURE(result.err);
        CHECK(result.exit_code == 2);
        CHECK(is_usage_error(result.err));
        CHECK(result.err.find(words[0] + ' ' + words[1] + " and " + words[2] + ' ' + words[3]) !=
              std::string::npos);
    }
    const RunResult view = work.run("view", {"--html", "/dev/stdout", "--text"});
    CHECK(view.exit_code == 2);
    // Different destinations are valid.
    CHECK(work.run("evaluate", {"-q", "--json", "io/x", "--predictions", "io2/y", "--report", "io"})
              .exit_code == 0);
}

TEST_CASE("PNG is written under no other ending, and no folder is named -") {
    const Work work;
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"classify", "a.pgm", "--explain", "x.jpg"},
          {"view", "--sheet", "x.jpg"},
          {"view", "--from", "nowhere", "--sheet", "x"}}) {
        const RunResult result = program(words, work.here);
        CAPTURE(result.err);
        CHECK(result.exit_code == 2);
        CHECK(is_usage_error(result.err));
        CHECK(result.err.find("what is written is PNG") != std::string::npos);
        CHECK(result.err.find("expected a name in .png") != std::string::npos);
    }
    CHECK(work.run("evaluate", {"--report", "-"}).exit_code == 2);
    CHECK(program({"info", "--write-synthetic", "-"}, work.here).exit_code == 2);
    CHECK(work.folder.names() == std::vector<std::string>{"in"});
}

TEST_CASE("a folder that cannot be made or written is found before the search") {
    const Work work;
    fs::create_directories(work.folder / "report/predictions.csv");
    fs::create_directory(work.folder / "own");
    fs::create_hard_link(work.folder / "in/t10k-images-idx3-ubyte", work.folder / "own/predictions.csv");
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--report", "report"}, {"--report", "own"}}) {
        // No k fits: the search itself would end with another exit code.
        std::vector<std::string> all = words;
        all.insert(all.end(), {"-k", "1000"});
        const RunResult result = work.run("evaluate", all);
        CAPTURE(result.err);
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
    }
    CHECK(work.folder.names() == std::vector<std::string>{"in", "own", "report"});
}

TEST_CASE("a folder for results is made with those above it") {
    const Work work;
    CHECK(work.run("evaluate", {"--report", "new/a/b"}).exit_code == 0);
    CHECK(work.run("condense", {"--out", "new/c/d"}).exit_code == 0);
    CHECK(program({"info", "--write-synthetic", "new/e/f"}, work.here).exit_code == 0);
    for (const char* file : {"a/b/report.json", "c/d/kept.csv", "e/f/train-images-idx3-ubyte"})
        CHECK(fs::exists(work.folder / (std::string("new/") + file)));
}

TEST_CASE("the files of a report are those of one run: all of them, or what was there before") {
    const Work work;
    REQUIRE(work.run("evaluate", {"-q", "-k", "1", "--report", "r"}).exit_code == 0);
    const std::string json = read_file(work.folder / "r/report.json");
    const std::string predictions = read_file(work.folder / "r/predictions.csv");
    fs::remove(work.folder / "r/index.html");
    fs::create_symlink("/dev/full", work.folder / "r/index.html");
    const RunResult result = work.run("evaluate", {"-q", "-k", "3", "--report", "r"});
    CHECK(result.exit_code == 1);
    CHECK(is_one_error_line(result.err));
    CHECK(read_file(work.folder / "r/report.json") == json);
    CHECK(read_file(work.folder / "r/predictions.csv") == predictions);
    CHECK(std::distance(fs::directory_iterator(work.folder / "r"), {}) == (has_opencv ? 4 : 3));
}

TEST_CASE("the synthetic digits are written beside no data set") {
    const Work work;
    const std::string before = work.content();
    for (const char* name : {"train-images-idx3-ubyte", "train-images.idx3-ubyte",
                             "t10k-labels-idx1-ubyte.gz", "t10k-labels.idx1-ubyte.gz"}) {
        const Folder folder;
        std::ofstream(folder / name) << "mine";
        const RunResult result = program({"info", "--write-synthetic", folder / ""});
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
        CHECK(result.err.find(name) != std::string::npos);
        CHECK(folder.names() == std::vector<std::string>{name});
        CHECK(read_file(folder / name) == "mine");
    }
    CHECK(is_usage_error(program({"info", "--write-synthetic", work.folder / "new", "--json", "-"}).err));
    CHECK(work.folder.names() == std::vector<std::string>{"in"});
}

TEST_CASE("the synthetic digits are written whole or not at all") {
    const Folder folder;
    RunOptions here;
    here.folder = folder / "";
    // The images of the training set are larger than the limit, the labels are not.
    const RunResult full =
        started({"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 1000; exec \"$0\" info --write-synthetic new/d",
                 program_file()},
                here);
    CHECK(full.exit_code == 1);
    CHECK(is_one_error_line(full.err));
    CHECK(contains(full.err, "new/d/train-images-idx3-ubyte: cannot be written: File too large"));
    CHECK(folder.names().empty());
}

TEST_CASE("outputs in a working folder that was deleted are refused") {
    const Folder folder;
    RunOptions here;
    here.folder = folder / "";
    const RunResult gone = started({"/bin/sh", "-c",
                                    "mkdir gone && cd gone && rmdir ../gone && "
                                    "exec \"$0\" info --write-synthetic d",
                                    program_file()},
                                   here);
    CHECK(gone.exit_code == 1);
    CHECK(is_one_error_line(gone.err));
    CHECK(contains(gone.err,
                   "d: cannot be written: No such file or directory; expected a name in an existing"));
}
