#pragma once
/// Signals that end the program.

#include <atomic>
#include <thread>

namespace knn {

/// From now on the first SIGINT, SIGTERM or SIGHUP sets the flag, which also ends blocked transfers, and the
/// second ends the process at once. A SIGHUP that was ignored stays ignored (nohup).
/// A codec that crashes ends the process with an error of one line that names the picture, and exit code 1.
/// SIGPIPE and SIGXFSZ are ignored: a reader that went away and a file that grew too large are errors of write().
void watch_for_interrupts();

/// Set once the user asked to stop.
const std::atomic<bool>& stop_flag();

/// That signal; 0 before.
int stop_signal();

/// Returns once the user asks to stop.
void wait_for_stop();

/// Throws Interrupted if the user asked to stop.
void stop_if_asked();

/// While it lives, the process ends by itself 0.15 s after the user asked to stop, with exit code 130 and without
/// destructors: for work that does not look at the flag, such as that of picture codecs.
class StopDeadline {
  public:
    StopDeadline();

  private:
    std::jthread watcher_;  ///< none where the system refuses a thread: a stop then waits for the work
};

}  // namespace knn
