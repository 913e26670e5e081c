#pragma once
/// Open files, and reads and writes that may block: on a pipe, a terminal, a device.

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace knn {

/// Owns one descriptor; -1: none. Can be moved, not copied.
class FileDescriptor {
  public:
    FileDescriptor() = default;
    explicit FileDescriptor(int number) : number_(number) {}
    FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~FileDescriptor() { close(); }

    int number() const { return number_; }
    bool is_open() const { return number_ >= 0; }
    /// False (with errno) if the system reports a late write error.
    bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

  private:
    int number_ = -1;
};

/// Once `stop` is set, all functions below fail with ECANCELED within a fraction of a second instead of waiting.
/// `stop` must outlive all transfers.
void stop_transfers_on(const std::atomic<bool>& stop);

/// Throws Interrupted if `stop` is set: for loops of other work that may last. Calls the StopCallback of this thread.
void throw_if_stopped();

/// While it lives, throw_if_stopped() calls it in this thread; it may throw Interrupted.
class StopCallback {
  public:
    explicit StopCallback(std::function<void()> ask);
    ~StopCallback();
    StopCallback(const StopCallback&) = delete;
    StopCallback& operator=(const StopCallback&) = delete;

  private:
    std::function<void()> ask_;
    const std::function<void()>* before_;  ///< is called again afterwards
};

/// Calls work(i) for i = 0 .. n - 1, in this order, on up to `threads` threads (0: one for each processor). Throws what the first of
/// them threw that threw something; Interrupted.
void for_pieces(std::int64_t n, int threads, const std::function<void(std::int64_t)>& work);

/// Opens an existing file for writing; waits until a FIFO has a reader. -1 (with errno) if that fails.
int open_for_writing(const char* file);

/// Like ::read, but also waits on a non-blocking descriptor, and for the first writer of a FIFO.
ssize_t read_some(int descriptor, std::span<std::uint8_t> out);

/// Writes everything, even to a non-blocking descriptor. Returns 0 or errno.
int write_all(int descriptor, std::string_view bytes);

/// What helps a process that may open no more files.
inline constexpr const char* more_files = "more open files (ulimit -n)";

/// After a failed open or read, whose errno is `error`. Throws DataError, "FILE: cannot be read: Permission denied; expected
/// EXPECTED", or `more_files` where the process has too many open; after ECANCELED Interrupted.
[[noreturn]] void fail_to_read(const std::string& file, int error, const std::string& expected);

/// The whole content of a small file; "-" is standard input. Waits for a pipe's writer. `expected`: what the file should
/// be, for the message: "a report.json". Throws DataError ("FILE: no such file; expected ..."), also where there are more
/// than `max_bytes`, and Interrupted.
std::string read_text(const std::string& file, std::size_t max_bytes, const std::string& expected);

}  // namespace knn
