#include "app/console/console.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <system_error>

#include "data/core/errors.h"
#include "data/file/atomic_file.h"
#include "data/file/transfer.h"
#include "data/picture/picture_file.h"

namespace knn {

namespace {

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");

std::atomic<int> first_signal = 0;

void on_stop(int signal) {
    first_signal.store(signal, std::memory_order_relaxed);
    stop.store(true, std::memory_order_relaxed);
}

/// A crash of the program itself has its default action, which follows when this returns. Of codecs that crash on several
/// threads one is reported.
void on_crash(int signal) {
    static std::atomic_flag reported;
    const char* picture = picture_in_codec();
    if (picture == nullptr) {
        std::signal(signal, SIG_DFL);
        return;
    }
    while (reported.test_and_set())
        ::pause();
    for (const std::string_view text :
         {"mnist-knn: error: ", picture,
          ": crashed the picture codec; expected an undamaged picture and enough free memory\n"})
        write_all(STDERR_FILENO, text);
    ::_exit(1);
}

/// Calls `handler` at the first of these signals (SA_RESETHAND) or at each, without SA_RESTART: a blocked write returns and
/// checks the flag.
/// Signals that the process was started to ignore, or that a sanitizer handles, stay as they are.
void handle(std::initializer_list<int> signals, void (*handler)(int), unsigned flags) {
    struct sigaction action = {}, before = {};
    action.sa_handler = handler;
    action.sa_flags = static_cast<int>(flags);
    sigemptyset(&action.sa_mask);
    for (const int signal : signals)
        if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signal, &action, nullptr);
}

/// Ends the process a moment after the user asked to stop, unless `done` comes before.
void end_late(const std::stop_token& done) {
    constexpr std::chrono::milliseconds look_every{50}, patience{100};
    std::mutex mutex;
    std::condition_variable_any nothing;
    std::unique_lock lock(mutex);
    const auto wait = [&](std::chrono::milliseconds time) {  // or until `done`
        nothing.wait_for(lock, done, time, [] { return false; });
    };
    while (!done.stop_requested() && !stop.load(std::memory_order_relaxed))
        wait(look_every);
    wait(patience);
    if (done.stop_requested()) return;
    remove_unfinished_files();
    ::_exit(130);
}

}  // namespace

void watch_for_interrupts() {
    stop_transfers_on(stop);
    std::signal(SIGINT, SIG_DFL);  // shells start what runs in the background with SIGINT ignored
    handle({SIGINT, SIGTERM, SIGHUP}, on_stop, SA_RESETHAND);
    handle({SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}, on_crash, 0);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

const std::atomic<bool>& stop_flag() {
    return stop;
}

int stop_signal() {
    return first_signal.load(std::memory_order_relaxed);
}

void wait_for_stop() {
    while (!stop.load(std::memory_order_relaxed))
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void stop_if_asked() {
    if (stop.load(std::memory_order_relaxed)) throw Interrupted();
}

StopDeadline::StopDeadline() {
    try {
        watcher_ = std::jthread(end_late);
    } catch (const std::system_error&) {
    }
}

}  // namespace knn
