#pragma once
/// Reads and writes that may have to wait: for a pipe, a terminal, a device.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

namespace knn {

/// Once `stop` is set, all that is below fails with ECANCELED within a fraction of a second instead of
/// waiting on. `stop` outlives all transfers.
void stop_transfers_on(const std::atomic<bool>& stop);

/// Opens what exists for writing; a FIFO once it has a reader. The descriptor does not block. -1 and errno
/// where that fails.
int open_for_writing(const char* file);

/// As ::read, but waits also where the descriptor does not block, and for the first writer of a FIFO.
ssize_t read_some(int descriptor, std::span<std::uint8_t> out);

/// Writes all of it, whether or not the descriptor blocks; 0 or the errno that ended it.
int write_all(int descriptor, std::string_view bytes);

}  // namespace knn
