#include <doctest/doctest.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>

#include "tests/cli/program.h"

using namespace knn::test;
using nlohmann::json;
using namespace std::chrono_literals;

namespace {

/// Enough work for several seconds on any machine, with plain arithmetic at least.
void write_long_search(const Folder& folder) {
    SmallSet set;
    set.rows = set.cols = 20;
    set.classes = {0, 1, 2};
    set.train = 20'000;
    set.test = 20'000;
    set.write(folder.path);
}

std::vector<std::string> small_run(const Folder& folder, const std::vector<std::string>& extra = {}) {
    SmallSet().write(folder.path);
    std::vector<std::string> words = {"evaluate", "--data", folder / "", "--device", "cpu"};
    words.insert(words.end(), extra.begin(), extra.end());
    return words;
}

}  // namespace

TEST_CASE("a full disk behind standard output is one error line") {
    const Folder folder;
    RunOptions full;
    full.stdout_file = "/dev/full";
    for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"},
                                                  {"--version"},
                                                  {"info"},
                                                  small_run(folder),
                                                  small_run(folder, {"-q"}),
                                                  small_run(folder, {"--json", "-"}),
                                                  small_run(folder, {"--neighbors-csv", "-"})}) {
        const RunResult result = program(words, full);
        CAPTURE(words);
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
    }
}

TEST_CASE("files are written even where standard output cannot be") {
    const Folder folder;
    RunOptions full;
    full.stdout_file = "/dev/full";
    CHECK(program(small_run(folder, {"--json", folder / "j"}), full).exit_code == 1);
    CHECK(json::accept(read_file(folder / "j")));
}

TEST_CASE("a reader that goes away is no error, and the files are still written") {
    const Folder folder;
    RunOptions broken;
    broken.broken_stdout = true;
    const RunResult result = program(small_run(folder, {"--json", folder / "j"}), broken);
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
    CHECK(json::accept(read_file(folder / "j")));
    CHECK(program(small_run(folder, {"--neighbors-csv", "-"}), broken).exit_code == 0);
}

TEST_CASE("a closed standard output is an error, and no file gets what was meant for it") {
    const Folder folder;
    RunOptions closed;
    closed.close_stdout = true;
    const RunResult result = program(small_run(folder, {"--json", folder / "j"}), closed);
    CHECK(result.exit_code == 1);
    CHECK(is_one_error_line(result.err));
    CHECK(json::accept(read_file(folder / "j")));
}

TEST_CASE("a file that may not grow so large is one error line and leaves nothing") {
    const Folder folder, results;
    rlimit before = {};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small = {512, before.rlim_max};
    for (const std::vector<std::string>& extra :
         {std::vector<std::string>{"--neighbors-csv", results / "n"}, {"--report", results / "new/r"}}) {
        const std::vector<std::string> words = small_run(folder, extra);
        setrlimit(RLIMIT_FSIZE, &small);
        const RunResult result = program(words);
        setrlimit(RLIMIT_FSIZE, &before);
        CAPTURE(result.err);
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
        CHECK(results.names().empty());
    }
}

TEST_CASE("Ctrl-C ends the search within a second, exits 130 and leaves no file") {
    const Folder folder, results;
    write_long_search(folder);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        RunOptions options;
        options.environment["MNIST_KNN_ISA"] = "plain";
        options.signal = signal;
        options.signal_after = 700ms;
        const RunResult result =
            program({"evaluate", "--data", folder / "", "--device", "cpu", "-k", "1024", "--threads", "1",
                     "--json", results / "j", "--predictions", results / "p", "--neighbors-csv",
                     results / "n", "--report", results / "r"},
                    options);
        CAPTURE(result.err);
        CHECK(result.exit_code == 130);
        CHECK(result.out.empty());
        CHECK(result.seconds_after_signal < 1);
        CHECK(results.names().empty());
    }
}

TEST_CASE("Ctrl-C is answered within 0.2 s, also by 64 threads on two processors") {
    const Folder folder;
    write_long_search(folder);
    cpu_set_t before, two;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&two);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++cpu)
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &two);
    REQUIRE(sched_setaffinity(0, sizeof two, &two) == 0);
    RunOptions options;
    options.environment["MNIST_KNN_ISA"] = "plain";
    options.signal = SIGINT;
    options.signal_after = 700ms;
    for (const char* threads : {"2", "64"}) {
        double quickest = 9;  // of five: the machine may be busy
        for (int i = 0; i < 5 && quickest >= 0.2; ++i) {
            const RunResult result = program(
                {"evaluate", "--data", folder / "", "--device", "cpu", "--threads", threads}, options);
            CHECK(result.exit_code == 130);
            quickest = std::min(quickest, result.seconds_after_signal);
        }
        CAPTURE(threads);
        CHECK(quickest < 0.2);
    }
    sched_setaffinity(0, sizeof before, &before);
}

TEST_CASE("a hang-up that is ignored, as nohup does, stays ignored") {
    const Folder folder;
    RunOptions options;
    options.signal = SIGHUP;
    options.signal_after = 1ms;
    const auto before = std::signal(SIGHUP, SIG_IGN);
    const RunResult result = program({"evaluate", "-q", "--device", "cpu", "--threads", "1"}, options);
    std::signal(SIGHUP, before);
    CHECK(result.exit_code == 0);
}

TEST_CASE("color and progress belong to terminals") {
    const Folder folder;
    RunOptions terminal;
    terminal.terminal = true;
    const std::string red = "\x1b[1;31m", clear = "\r\x1b[K";
    CHECK(program(small_run(folder), terminal).out.find(red) != std::string::npos);
    CHECK(program(small_run(folder, {"--color", "never"}), terminal).out.find(red) == std::string::npos);
    CHECK(program(small_run(folder, {"--color", "always"})).out.find(red) != std::string::npos);
    const RunResult drawn = program(small_run(folder, {"--progress", "always"}));
    CHECK(drawn.err.find("searching") != std::string::npos);
    CHECK(drawn.err.ends_with(clear));  // the bar is erased
    CHECK(program(small_run(folder, {"--progress", "never"}), terminal).out.find("searching") ==
          std::string::npos);
    terminal.environment["NO_COLOR"] = "yes";
    CHECK(program(small_run(folder), terminal).out.find(red) == std::string::npos);
    CHECK(program(small_run(folder, {"--color", "always"}), terminal).out.find(red) != std::string::npos);
    terminal.environment["NO_COLOR"] = "";
    terminal.environment["TERM"] = "dumb";
    CHECK(program(small_run(folder), terminal).out.find('\x1b') == std::string::npos);
    terminal.environment["TERM"] = "";
    CHECK(program(small_run(folder), terminal).out.find('\x1b') == std::string::npos);
}

TEST_CASE("no line ends in the middle of a color") {
    const Folder folder;
    for (const std::string& line : lines_of(program(small_run(folder, {"--color", "always"})).out)) {
        const std::size_t last = line.rfind('\x1b');
        CHECK((last == std::string::npos || line.compare(last, 4, "\x1b[0m") == 0));
    }
}

TEST_CASE("a long search on a terminal shows how far it is") {
    const Folder folder;
    write_long_search(folder);
    RunOptions options;
    options.terminal = true;
    options.signal = SIGINT;
    options.signal_after = 2s;
    const RunResult result = program(
        {"evaluate", "--data", folder / "", "--device", "cpu", "-k", "1024", "--threads", "1"}, options);
    CHECK(result.out.find("searching  [") != std::string::npos);
    CHECK(result.out.find(" left") != std::string::npos);
}
