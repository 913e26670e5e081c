#include "app/console/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "data/core/errors.h"
#include "data/file/atomic_file.h"
#include "data/file/transfer.h"
#include "data/picture/picture_file.h"

namespace knn {

namespace {

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");

constexpr int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

/// They end a process by default. Those that a process is started to ignore stay ignored.
constexpr int end_signals[] = {SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};

/// The next signal of any kind gets the default action.
void on_stop(int number) {
    const bool again = stop.exchange(true, std::memory_order_relaxed);
    for (const int signal : stop_signals) {
        struct sigaction now = {};
        sigaction(signal, nullptr, &now);
        if (now.sa_handler == on_stop) std::signal(signal, SIG_DFL);
    }
    if (again) std::raise(number);  // two threads took two signals at the same moment
}

/// The action is the default again, which may write a core file.
void on_end(int number) {
    remove_unfinished_files();
    std::raise(number);
}

/// What a codec's crash raises in its thread.
constexpr int crash_signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/// A crash of the program itself keeps its default action. Of several threads that crash the first ends the process.
void on_crash(int number) {
    const char* picture = picture_in_codec();
    if (picture == nullptr) {
        std::signal(number, SIG_DFL);
        std::raise(number);
        return;
    }
    static std::atomic<bool> ending = false;
    while (ending.exchange(true))
        ::pause();
    remove_unfinished_files();
    for (const std::string_view text :
         {"mnist-knn: error: ", picture,
          ": crashed the picture codec; expected an undamaged picture and enough free memory\n"})
        write_all(STDERR_FILENO, text);
    ::_exit(1);
}

/// Signals that the process was started to ignore, or that a sanitizer handles, stay as they are.
template <std::size_t n>
void handle(const int (&signals)[n], void (*handler)(int), unsigned flags) {
    struct sigaction action = {}, before = {};
    action.sa_handler = handler;
    action.sa_flags = static_cast<int>(flags);
    sigemptyset(&action.sa_mask);
    for (const int signal : signals)
        if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signal, &action, nullptr);
}

}  // namespace

void watch_for_interrupts() {
    stop_transfers_on(stop);
    struct sigaction action = {}, before = {};
    action.sa_handler = on_stop;  // without SA_RESTART: a blocked write returns and checks the flag
    sigemptyset(&action.sa_mask);
    for (const int signal : stop_signals)
        sigaddset(&action.sa_mask, signal);  // so that two at once count as two
    for (const int signal : stop_signals) {
        sigaction(signal, nullptr, &before);
        if (signal != SIGHUP || before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
    }
    handle(end_signals, on_end, SA_RESETHAND | SA_NODEFER);
    handle(crash_signals, on_crash, 0);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

const std::atomic<bool>& stop_flag() {
    return stop;
}

void stop_if_asked() {
    if (stop.load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace knn
