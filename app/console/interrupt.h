#pragma once
/// Signals that end the program.

#include <atomic>

namespace knn {

/// From now on the first SIGINT, SIGTERM or SIGHUP sets the flag, which also ends blocked transfers, and the
/// second, of any kind, ends the process at once. A SIGHUP that was ignored stays ignored (nohup).
/// SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2 and SIGXCPU (ulimit -t) end the process at once, as they do by default (also with a
/// core file), but unfinished files are removed before.
/// A codec that crashes or aborts ends the process with an error of one line that names the picture, and exit 1.
/// SIGPIPE and SIGXFSZ are ignored: a reader that went away and a file that grew too large are errors of
/// write(), after which the unfinished file is removed.
void watch_for_interrupts();

/// Set once the user asked to stop.
const std::atomic<bool>& stop_flag();

/// Throws Interrupted if the user asked to stop.
void stop_if_asked();

}  // namespace knn
