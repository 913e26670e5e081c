/// Waiting for pipes and readers, and signals that end the wait.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "tests/cli/program.h"

using namespace knn::test;
using namespace std::chrono_literals;

namespace {

/// A data set whose neighbors take more bytes than a pipe holds, and a FIFO.
struct Waiting {
    Folder data, results;
    std::string fifo = results / "fifo";

    Waiting() {
        SmallSet set;
        set.test = 6000;
        set.write(data.path);
        REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    }

    std::vector<std::string> evaluate(const std::vector<std::string>& extra) const {
        std::vector<std::string> words = {"evaluate", "-q", "--data", data / "", "--device", "cpu"};
        words.insert(words.end(), extra.begin(), extra.end());
        return words;
    }

    /// Each signal ends the run within a second, and only the FIFO remains.
    void check_stops(const std::vector<std::string>& words, RunOptions options = {}) const {
        for (const int signal : {SIGINT, SIGTERM}) {
            options.signal = signal;
            options.signal_after = 700ms;
            options.timeout = 10s;
            const RunResult result = program(words, options);
            CAPTURE(words);
            CAPTURE(result.err);
            CHECK(result.exit_code == 130);
            CHECK(result.seconds_after_signal < 1);
            CHECK(results.names() == std::vector<std::string>{"fifo"});
        }
    }
};

}  // namespace

TEST_CASE("a signal ends the wait for a FIFO that nobody reads or writes") {
    const Waiting waiting;
    const std::string& fifo = waiting.fifo;
    waiting.check_stops(waiting.evaluate({"--json", fifo}));
    waiting.check_stops(waiting.evaluate({"--train-images", fifo}));
    waiting.check_stops(waiting.evaluate({"--test-labels", fifo, "--json", waiting.results / "j"}));
    waiting.check_stops({"view", "--text", "--from", fifo});
    waiting.check_stops({"info", "--json", fifo});
    waiting.check_stops({"info", "--data", waiting.data / "", "--train-images", fifo});
}

TEST_CASE("a signal ends the wait for a FIFO whose other end does nothing") {
    const Waiting waiting;
    const int other_end = ::open(waiting.fifo.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(other_end >= 0);
    waiting.check_stops(waiting.evaluate({"--neighbors-csv", waiting.fifo}));
    std::string read(1 << 20, ' ');  // drains the pipe, so that nothing is left for the reads below
    ::fcntl(other_end, F_SETFL, O_NONBLOCK);
    while (::read(other_end, read.data(), read.size()) > 0) {
    }
    waiting.check_stops(waiting.evaluate({"--train-labels", waiting.fifo}));
    waiting.check_stops({"view", "--text", "--from", waiting.fifo});
    ::close(other_end);
}

TEST_CASE("a signal ends the wait for a reader of standard output that stalls") {
    const Waiting waiting;
    for (const bool terminal : {false, true})
        for (const bool nonblocking : {false, true}) {
            RunOptions options;
            options.stdout_pause = 20s;
            options.terminal = terminal;
            options.nonblocking_stdout = nonblocking;
            CAPTURE(terminal);
            CAPTURE(nonblocking);
            waiting.check_stops(waiting.evaluate({"--neighbors-csv", "-"}), options);
            waiting.check_stops(waiting.evaluate({"--neighbors-csv", "/dev/fd/1"}), options);
        }
}

TEST_CASE("an interrupted run leaves none of its files") {
    const Waiting waiting;
    const std::string& fifo = waiting.fifo;
    const auto& results = waiting.results;
    waiting.check_stops(waiting.evaluate({"--json", results / "j", "--predictions", results / "p", "--report",
                                          results / "r", "--neighbors-csv", fifo}));
}

TEST_CASE("a pipe that does not block gets all of the output") {
    const Waiting waiting;
    const std::vector<std::string> words = waiting.evaluate({"--neighbors-csv", "-"});
    const RunResult expected = program(words);
    REQUIRE(expected.out.size() > 1 << 17);
    RunOptions options;
    options.nonblocking_stdout = true;
    options.stdout_pause = 1s;
    for (const std::string name : {"-", "/dev/stdout"}) {
        const RunResult result = program(waiting.evaluate({"--neighbors-csv", name}), options);
        CHECK(result.exit_code == 0);
        CHECK(result.err.empty());
        CHECK(result.out == expected.out);
    }
}
