#include "app/console/console.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <system_error>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/atomic_file.h"
#include "data/file/transfer.h"
#include "data/picture/picture_file.h"

namespace knn {

namespace {

bool dumb_terminal() {
    const char* kind = std::getenv("TERM");
    return kind == nullptr || *kind == '\0' || std::string_view(kind) == "dumb";
}

/// Columns of the terminal on standard error; 80 if it does not say.
int terminal_width() {
    winsize size = {};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

constexpr std::string_view clear_line = "\r\x1b[K";

std::atomic<bool> stop = false, asked = false, finishes_work = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");

std::atomic<int> first_signal = 0;

/// What comes so soon after the first signal is the same one: `timeout` sends it to the program and to its group.
constexpr std::chrono::milliseconds one_signal{300};
std::atomic<std::chrono::steady_clock::time_point> first_time = {};

/// A second signal ends the program at once.
void on_stop(int signal) {
    const auto now = std::chrono::steady_clock::now();
    if (!asked.load(std::memory_order_relaxed)) {
        first_time = now;
    } else if (now - first_time.load() > one_signal) {
        std::signal(signal, SIG_DFL);
        ::raise(signal);
        return;
    }
    first_signal.store(signal, std::memory_order_relaxed);
    asked.store(true, std::memory_order_relaxed);
    if (!finishes_work.load(std::memory_order_relaxed)) stop.store(true, std::memory_order_relaxed);
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

/// Calls `handler` at these signals, without SA_RESTART: a blocked write returns and checks the flag.
/// Signals that the process was started to ignore, or that a sanitizer handles, stay as they are.
void handle(std::initializer_list<int> signals, void (*handler)(int)) {
    struct sigaction action = {}, before = {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    for (const int signal : signals)
        if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signal, &action, nullptr);
}

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

void occupy_standard_descriptors() {
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(number, F_GETFD) != -1) continue;
        // open() returns the lowest free descriptor, the closed one. The opposite mode keeps its use an
        // error.
        const int mode = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (::open("/dev/null", mode) != number) std::abort();
    }
}

bool use_color(When wanted) {
    if (wanted != When::automatic) return wanted == When::always;
    const char* no_color = std::getenv("NO_COLOR");
    return (no_color == nullptr || *no_color == '\0') && ::isatty(STDOUT_FILENO) != 0 && !dumb_terminal();
}

bool use_progress(When wanted) {
    if (wanted != When::automatic) return wanted == When::always;
    return ::isatty(STDERR_FILENO) != 0 && !dumb_terminal();
}

std::string duration(double seconds) {
    const auto s = std::llround(std::ceil(std::max(seconds, 0.0)));
    if (s < 60) return std::to_string(s) + " s";
    if (s < 3600) return std::to_string(s / 60) + " min " + std::to_string(s % 60) + " s";
    return std::to_string(s / 3600) + " h " + std::to_string(s % 3600 / 60) + " min";
}

std::string progress_line(std::int64_t done, std::int64_t total, double elapsed_s, int width,
                          const std::string& what) {
    constexpr int longest_bar = 40, shortest_bar = 8;
    const double part =
        total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 0;
    std::string text = std::to_string(static_cast<int>(part * 100)) + " %";
    text.insert(0, std::string_view("100 %").size() - text.size(), ' ');
    if (part > 0) text += "  " + duration(elapsed_s * (1 - part) / part) + " left";
    // The last column stays free: some terminals wrap when it is written.
    const std::string head = what + "  ";
    const int available =
        width - 1 - static_cast<int>(head.size() + 4 + std::max<std::size_t>(text.size(), 20));
    if (available < shortest_bar) return text.substr(0, static_cast<std::size_t>(std::max(width - 1, 0)));
    const auto length = static_cast<std::size_t>(std::min(available, longest_bar));
    const auto filled = static_cast<std::size_t>(part * static_cast<double>(length));
    return head + '[' + std::string(filled, '#') + std::string(length - filled, '.') + "]  " + text;
}

Progress::~Progress() {
    if (drawn_) print_to_stderr(clear_line);
}

void Progress::update(std::int64_t done, std::int64_t total) {
    const Clock::time_point now = Clock::now();
    if (!shown_ || now - last_ < interval) return;
    last_ = now;
    drawn_ = true;
    const double elapsed_s = std::chrono::duration<double>(now - start_).count();
    print_to_stderr(std::string(clear_line) + progress_line(done, total, elapsed_s, terminal_width(), what_));
}

std::string data_notice(const DataLocation& location, bool of_pictures) {
    const std::string incomplete = joined(location.incomplete, std::identity(), "; ");
    if (!location.synthetic) return incomplete.empty() ? "" : incomplete + ": using " + location.source;
    if (location.looked_in.empty()) return "";  // the user asked for them
    return (incomplete.empty() ? "no data set found: "
                               : "no complete data set found (" + incomplete + "): ") +
           (of_pictures ? "comparing with the built-in synthetic digits, by which a quarter of real digits "
                          "are rejected"
                        : "using the built-in synthetic digits") +
           "; 'mnist-knn info' tells how to get MNIST";
}

void note(const std::string& text) {
    if (!text.empty()) print_line_to_stderr("note: " + text);
}

void note(const std::string& text, const OutputOptions& output) {
    if (!output.quiet) note(text);
}

void watch_for_interrupts() {
    stop_transfers_on(stop);
    std::signal(SIGINT, SIG_DFL);  // shells start what runs in the background with SIGINT ignored
    handle({SIGINT, SIGTERM, SIGHUP}, on_stop);
    handle({SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}, on_crash);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

const std::atomic<bool>& stop_flag() {
    return stop;
}

int stop_signal() {
    return first_signal.load(std::memory_order_relaxed);
}

void finish_work_first() {
    finishes_work = true;
}

const std::atomic<bool>& signal_flag() {
    return asked;
}

void wait_for_signal() {
    while (!asked.load(std::memory_order_relaxed))
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void end_work() {
    stop.store(true, std::memory_order_relaxed);
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
