#include "data/file/transfer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "data/core/errors.h"
#include "data/core/format.h"

namespace knn {

namespace {

/// Interval between checks of the flag. A signal interrupts the poll of one thread only, and is missed if it
/// arrives just before the poll.
constexpr int pause_ms = 50;

std::atomic<const std::atomic<bool>*> stop_flag = nullptr;
thread_local const std::function<void()>* stop_callback = nullptr;

bool stopped() {
    const std::atomic<bool>* flag = stop_flag.load(std::memory_order_relaxed);
    return flag != nullptr && flag->load(std::memory_order_relaxed);
}

/// Waits for one of the events, or for an error, which the transfer itself will report. False (with errno) if a
/// stop was requested.
bool wait_for(int descriptor, short events) {
    pollfd waiting{descriptor, events, 0};
    for (;;) {
        const int ready = ::poll(&waiting, 1, pause_ms);
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
        if (stopped()) {
            errno = ECANCELED;
            return false;
        }
    }
}

bool try_again(int error) {
    return error == EINTR || error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

void stop_transfers_on(const std::atomic<bool>& stop) {
    stop_flag.store(&stop, std::memory_order_relaxed);
}

void throw_if_stopped() {
    if (stopped()) throw Interrupted();
    if (stop_callback != nullptr) (*stop_callback)();
}

StopCallback::StopCallback(std::function<void()> ask) : ask_(std::move(ask)), before_(stop_callback) {
    stop_callback = &ask_;
}

StopCallback::~StopCallback() {
    stop_callback = before_;
}

void for_pieces(std::int64_t n, int threads, const std::function<void(std::int64_t)>& work) {
    if (threads <= 0) threads = static_cast<int>(std::thread::hardware_concurrency());
    std::atomic<std::int64_t> next = 0;
    std::atomic<bool> failed = false;
    std::mutex mutex;
    std::int64_t first_failed = n;
    std::exception_ptr failure;
    const auto run = [&] {
        for (std::int64_t i; !failed && (i = next++) < n;) {
            try {
                throw_if_stopped();
                work(i);
            } catch (...) {
                const std::lock_guard lock(mutex);
                failed = true;
                if (i >= first_failed) continue;
                first_failed = i;
                failure = std::current_exception();
            }
        }
    };
    std::vector<std::thread> others;
    try {
        for (std::int64_t i = 1; i < std::min<std::int64_t>(threads, n); ++i)
            others.emplace_back(run);
    } catch (const std::system_error&) {  // fewer are there: the work is done all the same
    }
    run();
    for (std::thread& thread : others)
        thread.join();
    if (failure) std::rethrow_exception(failure);
}

int open_for_writing(const char* file) {
    int descriptor = -1;
    do
        descriptor = ::open(file, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    while (descriptor < 0 && errno == EINTR && !stopped());
    if (descriptor < 0 && stopped()) errno = ECANCELED;
    return descriptor;
}

ssize_t read_some(int descriptor, std::span<std::uint8_t> out) {
    for (;;) {
        if (stopped()) {  // a slow writer may never let the wait time out
            errno = ECANCELED;
            return -1;
        }
        if (!wait_for(descriptor, POLLIN)) return -1;
        const ssize_t got = ::read(descriptor, out.data(), out.size());
        if (got >= 0 || !try_again(errno)) return got;
    }
}

int write_all(int descriptor, std::string_view bytes) {
    struct stat status = {};
    const bool waits = ::fstat(descriptor, &status) != 0 || S_ISFIFO(status.st_mode) ||
                       S_ISSOCK(status.st_mode) || ::isatty(descriptor) != 0;  // /dev/random is never ready
    while (!bytes.empty()) {
        if (waits && !wait_for(descriptor, POLLOUT)) return errno;
        // A ready pipe accepts PIPE_BUF bytes; more could block in write(), where a stop that arrives just
        // before it is not noticed.
        constexpr std::size_t file_piece = 16 << 20;  // no signal ends a write to a file
        const std::size_t piece = std::min(bytes.size(), waits ? std::size_t{PIPE_BUF} : file_piece);
        const ssize_t written = ::write(descriptor, bytes.data(), piece);
        if (written < 0 && !try_again(errno)) return errno;
        if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
        if (!bytes.empty() && stopped()) return ECANCELED;
    }
    return 0;
}

void fail_to_read(const std::string& file, int error, const std::string& expected) {
    if (error == ECANCELED) throw Interrupted();
    throw DataError(file + ": cannot be read: " + std::strerror(error) + "; expected " +
                    (error == EMFILE ? more_files : expected));
}

std::string read_text(const std::string& file, std::size_t max_bytes, const std::string& expected) {
    const auto fail = [&](const std::string& what) {
        throw DataError(file + ": " + what + "; expected " + expected);
    };
    const FileDescriptor opened(file == "-"
                                    ? ::dup(STDIN_FILENO)
                                    : ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!opened.is_open()) errno == ENOENT ? fail("no such file") : fail_to_read(file, errno, expected);
    std::string text;
    std::vector<std::uint8_t> piece(1 << 16);
    for (;;) {
        const ssize_t got = read_some(opened.number(), piece);
        if (got == 0) return text;
        if (got < 0) errno == EISDIR ? fail("is a folder") : fail_to_read(file, errno, expected);
        text.append(piece.begin(), piece.begin() + got);
        if (text.size() > max_bytes)
            fail("is larger than " + with_commas(static_cast<std::int64_t>(max_bytes)) + " bytes");
    }
}

}  // namespace knn
