#pragma once
/// Runs a program as a user does and captures its output.

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace knn::test {

struct RunOptions {
    std::map<std::string, std::string> environment = {};  ///< in addition to the test's own
    std::string folder = {};                              ///< to run in; empty: the test's
    std::string stdout_file = {};                         ///< standard output goes there: "/dev/full"
    bool close_stdout = false;                            ///< standard output is no open descriptor
    bool broken_stdout = false;                           ///< standard output is a pipe that nobody reads
    bool terminal = false;                      ///< all three are one terminal; its text is in `out`
    bool nonblocking_stdout = false;            ///< the pipe's end is O_NONBLOCK
    std::chrono::milliseconds stdout_pause{0};  ///< its output is not read for this long
    int signal = 0;                             ///< sent after `signal_after`
    std::chrono::milliseconds signal_after{0};
    std::chrono::seconds timeout{120};  ///< then the program is killed
};

struct RunResult {
    int exit_code = -1;  ///< -1: ended by a signal
    int ended_by = 0;    ///< that signal
    std::string out, err;
    double seconds = 0;               ///< of the whole run
    double seconds_after_signal = 0;  ///< from the signal to the end
};

/// The last command line that was run here and how it ended: support/main.cpp shows it with each check that fails.
std::string last_run();

/// `words[0]` is the program. Throws std::runtime_error where it cannot be started.
RunResult run(const std::vector<std::string>& words, const RunOptions& options = {});

}  // namespace knn::test
