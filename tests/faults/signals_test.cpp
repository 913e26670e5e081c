/// Signals at random moments of a run.

#include <doctest/doctest.h>

#include <array>
#include <csignal>
#include <random>

#include "tests/faults/job.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;

namespace {

constexpr std::array signals = {SIGINT, SIGTERM, SIGPIPE, SIGKILL};

/// The exit codes after a signal; 0: it came too late, or (SIGPIPE) says nothing that the program does not see itself.
bool ended_well(const RunResult& result, int signal) {
    if (result.ended_by == signal)
        return true;  // SIGKILL, and any that came before the program watched for it
    return result.exit_code == 0 || ((signal == SIGINT || signal == SIGTERM) && result.exit_code == 130);
}

void signal_at_random(const std::string& name, unsigned seed) {
    if (name == "classify" && !has_opencv) return skip(no_opencv);
    const Workplace place(job(name));
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> moment(0, 1.1 * place.seconds() * 1000);
    const int rounds = try_all() ? 50 : 6;
    int ended = 0;
    for (int i = 0; i < rounds; ++i) {
        RunOptions options;
        options.signal = signals[static_cast<std::size_t>(i) % signals.size()];
        options.signal_after = std::chrono::milliseconds(static_cast<int>(moment(random)));
        place.forget();
        const RunResult result = place.run(options);
        CAPTURE(options.signal);
        CAPTURE(options.signal_after.count());
        CAPTURE(result.exit_code);
        CAPTURE(result.ended_by);
        CAPTURE(result.err);
        CHECK(ended_well(result, options.signal));
        place.check_whole_or_absent();
        if (result.ended_by == 0)
            place.check_nothing_unfinished();
        else
            place.remove_unfinished();
        place.check_next_run();  // over what is there
        ended += result.exit_code != 0;
    }
    MESSAGE(name << ": signals: " << rounds << ", of them before the end of the run: " << ended);
}

}  // namespace

TEST_CASE("signals: at random moments of evaluate") {
    signal_at_random("evaluate", 1);
}
TEST_CASE("signals: at random moments of classify") {
    signal_at_random("classify", 2);
}
TEST_CASE("signals: at random moments of tune") {
    signal_at_random("tune", 3);
}
TEST_CASE("signals: at random moments of graph") {
    signal_at_random("graph", 4);
}
