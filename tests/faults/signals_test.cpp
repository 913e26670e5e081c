/// Signals at random moments of a run, and codecs that crash or do not return.

#include "tests/faults/job.h"

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
    const Workplace place(name);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> moment(0, 1.1 * place.seconds() * 1000);
    const int rounds = try_all() ? 50 : 6;
    int ended = 0;
    for (int i = 0; i < rounds; ++i) {
        RunOptions options{.signal = signals[static_cast<std::size_t>(i) % signals.size()],
                           .signal_after = std::chrono::milliseconds(static_cast<int>(moment(random)))};
        place.forget();
        const RunResult result = place.run(options);
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

#define SIGNALS_TO(command, seed)                         \
    TEST_CASE("signals: at random moments of " command) { \
        signal_at_random(command, seed);                  \
    }
SIGNALS_TO("evaluate", 1)
SIGNALS_TO("classify", 2)
SIGNALS_TO("tune", 3)
SIGNALS_TO("graph", 4)

// A codec that ends the process, or has no memory: one line that names the picture, nothing unfinished.
TEST_CASE("faults: a codec that crashes, and one without memory") {
    if (!has_opencv) return skip(no_opencv);
    const Workplace place("classify");
    for (const std::string kind : {"abort", "segv", "nomem"}) {
        const bool crashes = kind != "nomem";
        place.forget();
        const RunOptions options{
            .environment = {{"LD_PRELOAD", MNIST_KNN_CODEC_CRASH}, {"MNIST_KNN_CRASH", kind}}};
        const RunResult result = place.run(options);
        CAPTURE(kind);
        CHECK(result.exit_code == 1);
        CHECK(result.err.starts_with("mnist-knn: error: data/"));
        CHECK(contains(result.err, crashes ? ".pgm: crashed the picture codec; "
                                           : ".pgm: needs more memory than there is; "));
        CHECK(lines_of(result.err).size() == (crashes ? 1 : 2));  // two pictures
        place.check_nothing_unfinished();
        place.check_next_run();
    }
}

// Codecs look at no flag: with 80 megapixels Ctrl-C waited for more than 15 s on a busy machine. Nothing is half written then
// that could not be removed, so that the process ends after 0.15 s.
TEST_CASE("signals: Ctrl-C ends classify while a codec does not return") {
    if (!has_opencv) return skip(no_opencv);
    const Workplace place("classify");
    place.forget();
    const RunResult result =
        place.run({.environment = {{"LD_PRELOAD", MNIST_KNN_CODEC_CRASH}, {"MNIST_KNN_CRASH", "hang"}},
                   .signal = SIGINT,
                   .signal_after = std::chrono::milliseconds(1500),
                   .timeout = std::chrono::seconds(30)});
    CHECK(result.exit_code == 130);
    CHECK(result.seconds_after_signal < 0.9);
    place.check_nothing_unfinished();
    place.check_next_run();
}
