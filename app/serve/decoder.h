#pragma once
/// Decodes pictures in a process of its own: a codec that crashes, hangs or takes all memory costs one request.
///
/// The process is this program in the mode `decode-worker`. It loads the codecs once, and starts a copy of itself for each
/// picture, which has limits of memory and processor time, may make no system calls but for memory and its one socket, and
/// ends with the picture: what a picture does to it reaches no other.

#include <sys/types.h>

#include <chrono>
#include <string_view>

#include "app/serve/digit_message.h"
#include "app/serve/http.h"
#include "data/core/errors.h"
#include "data/file/transfer.h"

namespace knn::web {

/// The first word of the command line of that mode, which no help lists.
inline constexpr std::string_view decode_worker_mode = "decode-worker";

/// The process itself. Returns its exit code.
int decode_worker();

/// The processor time for one picture, and the time by the clock, which is longer on a busy machine.
inline constexpr std::chrono::seconds max_decoding_work{10}, max_decoding_time{25};

/// The codecs cannot be loaded: no picture can be read.
struct NoCodecs : DataError {
    using DataError::DataError;
};

/// One such process, used by one thread.
class Decoder {
  public:
    ~Decoder() { stop(); }

    /// Starts the process, unless it runs: before the first picture comes. Throws DataError.
    void start();

    /// The digit of a picture, or with `many` all of a page. Throws DataError in any of the
    /// cases above too, "is cut short; expected a whole PNG file", NoCodecs, and std::bad_alloc if memory is short here; Problem
    /// once the request is abandoned.
    FoundDigits read(std::string_view picture, bool many, const Abandoned& abandoned = nullptr);

  private:
    void stop();

    FileDescriptor socket_;
    pid_t process_ = -1;
};

}  // namespace knn::web
