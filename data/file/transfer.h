#pragma once
/// Reads and writes that may block: on a pipe, a terminal, a device.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

namespace knn {

/// Once `stop` is set, all functions below fail with ECANCELED within a fraction of a second instead of waiting.
/// `stop` must outlive all transfers.
void stop_transfers_on(const std::atomic<bool>& stop);

/// Opens an existing file for writing; waits until a FIFO has a reader. -1 (with errno) if that fails.
int open_for_writing(const char* file);

/// Like ::read, but also waits on a non-blocking descriptor, and for the first writer of a FIFO.
ssize_t read_some(int descriptor, std::span<std::uint8_t> out);

/// Writes everything, even to a non-blocking descriptor. Returns 0 or errno.
int write_all(int descriptor, std::string_view bytes);

}  // namespace knn
