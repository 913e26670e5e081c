/// Standard output, terminals, pipes, and signals that end a search or a wait.

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cli/program.h"

using namespace knn::test;
using namespace std::chrono_literals;

namespace {

/// Enough work for several seconds on any machine, with plain arithmetic at least.
SmallSet long_search() {
    return {.rows = 20, .cols = 20, .classes = {0, 1, 2}, .train = 20'000, .test = 20'000};
}

/// A data set whose neighbors take more bytes than a pipe holds, and a FIFO.
struct Waiting : Work {
    Folder results;
    std::string fifo = results / "fifo", evaluate = "evaluate -q --data . --device cpu ";
    int stops = 0;

    Waiting() : Work({.test = 6000}) { REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0); }

    /// SIGINT and SIGTERM, in turns, end the run within a second, and only the FIFO remains.
    void check_stops(const Words& words, RunOptions options = {}) {
        options.signal = ++stops % 2 == 0 ? SIGINT : SIGTERM;
        options.signal_after = 700ms;
        options.timeout = 10s;
        const RunResult result = plain(words, options);
        CHECK(result.exit_code == 130);
        CHECK(result.seconds_after_signal < 1);
        CHECK(results.names() == std::vector<std::string>{"fifo"});
    }
};

}  // namespace

TEST_CASE_FIXTURE(Work, "a standard output that is full, closed or not read") {
    RunOptions full, broken, closed;
    full.stdout_file = "/dev/full";
    broken.broken_stdout = true;
    closed.close_stdout = true;
    for (const Words words : {"evaluate", "evaluate -q", "evaluate --json -", "evaluate --neighbors-csv -",
                              "view --text --all", "view --html - --all"}) {
        check_error(run(words, full), 1);
    }
    for (const Words words : {"--help", "--version", "info"})
        check_error(program(words, full), 1);
    // A reader that goes away is no error. Files are written in any case.
    CHECK(run("evaluate --neighbors-csv -", broken).exit_code == 0);
    CHECK(run("graph --npy g --csv -", broken).exit_code == 0);
    CHECK(file("g-indices.npy").size() == 128 + 4 * 400);
    for (const RunOptions& options : {full, broken, closed}) {
        const RunResult result = run("evaluate --json j", options);
        CHECK(result.exit_code == (options.broken_stdout ? 0 : 1));
        CHECK((options.broken_stdout ? result.err == "mnist-knn: wrote j\n" : is_one_error_line(result.err)));
        CHECK(json_of("j").is_object());
        std::filesystem::remove(folder / "j");
    }
}

TEST_CASE("Ctrl-C ends a search within a second, exits 130 and leaves no file") {
    const Work work(long_search());
    const Work pixels({.rows = 60, .cols = 60});
    const auto before = work.folder.names();
    RunOptions options{.environment = {{"MNIST_KNN_ISA", "plain"}}, .signal_after = 700ms};
    const auto check_stops = [&](const Work& in, const Words& words, int signal, double within = 1) {
        options.signal = signal;
        const RunResult result = in.run(words, options);
        CHECK(result.exit_code == 130);
        CHECK(result.out.empty());
        CHECK(result.seconds_after_signal < within);
        CHECK(in.folder.names() == before);
    };
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        check_stops(work,
                    "evaluate -k 1024 --threads 1 --json j --predictions p --neighbors-csv n --report r",
                    signal);
    check_stops(work, "condense --threads 1 --out small", SIGINT);
    check_stops(work, "tune -k 1-16384 --threads 1 --json j", SIGINT);
    // The fit of components of thousands of pixels.
    options.signal_after = 1500ms;
    check_stops(pixels, "evaluate --transform pca:2 -q --json j", SIGINT, 3);
    // The plain loops with which kernels are compared: 100 queries took 6 to 20 s.
    const Work digits({.rows = 28, .cols = 28, .train = 300, .test = 200});
    options.signal_after = 2500ms;
    check_stops(digits, "bench --case rerank --repeat 1 --seconds 0.1 --json j", SIGINT);
}

TEST_CASE("Ctrl-C is answered within 0.2 s, also by 64 threads on two processors") {
    const Work work(long_search());
    cpu_set_t before, two;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&two);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++cpu)
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &two);
    REQUIRE(sched_setaffinity(0, sizeof two, &two) == 0);
    const RunOptions options{
        .environment = {{"MNIST_KNN_ISA", "plain"}}, .signal = SIGINT, .signal_after = 700ms};
    for (const std::string threads : {"2", "64"}) {
        double quickest = 9;  // of five: the machine may be busy
        for (int i = 0; i < 5 && quickest >= 0.2; ++i) {
            const RunResult result = work.run("evaluate --threads " + threads, options);
            CHECK(result.exit_code == 130);
            quickest = std::min(quickest, result.seconds_after_signal);
        }
        CHECK(quickest < 0.2);
    }
    sched_setaffinity(0, sizeof before, &before);
}

TEST_CASE("a hang-up that is ignored, as nohup does, stays ignored") {
    const RunOptions options{.signal = SIGHUP, .signal_after = 1ms};
    const auto before = std::signal(SIGHUP, SIG_IGN);
    const RunResult result = program("evaluate -q --device cpu --threads 1", options);
    std::signal(SIGHUP, before);
    CHECK(result.exit_code == 0);
}

TEST_CASE_FIXTURE(Work, "color and progress belong to terminals") {
    RunOptions terminal{.terminal = true};
    const std::string red = "\x1b[1;31m", clear = "\r\x1b[K";
    const auto has = [&](const std::string& part, const Words& words, const RunOptions& options = {}) {
        return contains(run("evaluate" + words, options).out, part);
    };
    CHECK(has(red, "", terminal));
    CHECK(!has(red, "--color never", terminal));
    CHECK(has(red, "--color always"));
    const RunResult drawn = run("evaluate --progress always");
    CHECK(contains(drawn.err, "searching"));
    CHECK(drawn.err.ends_with(clear));  // the bar is erased
    CHECK(!has("searching", "--progress never", terminal));
    CHECK(contains(run("tune --progress always").err, "searching"));
    terminal.environment["NO_COLOR"] = "yes";
    CHECK(!has(red, "", terminal));
    CHECK(has(red, "--color always", terminal));
    terminal.environment["NO_COLOR"] = "";
    for (const char* name : {"dumb", ""}) {
        terminal.environment["TERM"] = name;
        CHECK(!has("\x1b", "", terminal));
    }
    // No line ends in the middle of a color.
    for (const std::string& line : lines_of(output("evaluate --color always"))) {
        const std::size_t last = line.rfind('\x1b');
        CHECK((last == std::string::npos || line.compare(last, 4, "\x1b[0m") == 0));
    }
}

TEST_CASE("a long search on a terminal shows how far it is") {
    const Work work(long_search());
    const RunOptions options{.terminal = true, .signal = SIGINT, .signal_after = 2s};
    const RunResult result = work.run("evaluate -k 1024 --threads 1", options);
    check_contains(result.out, {"searching  [", " left"});
}

TEST_CASE("a signal ends the wait for a FIFO that nobody reads or writes, or whose other end does nothing") {
    Waiting waiting;
    const std::string &fifo = waiting.fifo, evaluate = waiting.evaluate;
    for (const std::string& words :
         {evaluate + "--json " + fifo, evaluate + "--train-images " + fifo,
          evaluate + "--test-labels " + fifo + " --json " + (waiting.results / "j"),
          evaluate + "--method " + fifo, "graph --device cpu --images " + fifo, "view --text --from " + fifo,
          "info --json " + fifo, "info --data . --train-images " + fifo})
        waiting.check_stops(words);
    const int other_end = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(other_end >= 0);
    waiting.check_stops(evaluate + "--neighbors-csv " + fifo);
    std::string read(1 << 20, ' ');  // drains the pipe, so that nothing is left for the reads below
    ::fcntl(other_end, F_SETFL, O_NONBLOCK);
    while (::read(other_end, read.data(), read.size()) > 0) {
    }
    for (const std::string& words : {evaluate + "--train-labels " + fifo, "view --text --from " + fifo})
        waiting.check_stops(words);
    ::close(other_end);
}

TEST_CASE_FIXTURE(Waiting, "a signal ends the wait for a reader of standard output that stalls") {
    RunOptions options{.stdout_pause = 20s};
    for (const bool terminal : {false, true})
        for (const bool nonblocking : {false, true}) {
            options.terminal = terminal;
            options.nonblocking_stdout = nonblocking;
            CAPTURE(terminal);
            CAPTURE(nonblocking);
            for (const std::string name : {"-", "/dev/fd/1"})
                check_stops(evaluate + "--neighbors-csv " + name, options);
        }
}

TEST_CASE_FIXTURE(Waiting, "a pipe that does not block gets all of the output") {
    const std::string expected = output("evaluate -q --neighbors-csv -");
    REQUIRE(expected.size() > 1 << 17);
    const RunOptions options{.nonblocking_stdout = true, .stdout_pause = 1s};
    for (const std::string name : {"-", "/dev/stdout"})
        CHECK(silent_output(run("evaluate -q --neighbors-csv " + name, options)) == expected);
}
