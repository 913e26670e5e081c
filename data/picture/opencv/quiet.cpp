#include "data/picture/opencv/quiet.h"

#include <unistd.h>
#include <ext/stdio_sync_filebuf.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <new>
#include <opencv2/core/utils/logger.hpp>

namespace knn::opencv {

namespace {

constexpr std::size_t max_heard = 16384;  // a codec may warn for each of a million pixels

/// The text of the Quiet in this thread. It has `max_heard` bytes, so that nothing throws inside a codec.
thread_local std::string* heard = nullptr;

ssize_t hear_or_show(void*, const char* text, std::size_t size) {
    if (heard == nullptr) return std::max<ssize_t>(::write(STDERR_FILENO, text, size), 0);
    heard->append(text, std::min(size, max_heard - heard->size()));
    return static_cast<ssize_t>(size);
}

/// libjpeg, libpng and libtiff write to C's stream `stderr`, OpenCV to std::cerr. Both are replaced, for the rest
/// of the process, by a stream that depends on the writing thread. C's is a variable that may be assigned (The
/// GNU C Library, 12.2 Standard Streams). Null if there is no memory.
std::FILE* divert_streams() {
    std::FILE* stream = ::fopencookie(nullptr, "w", {nullptr, hear_or_show, nullptr, nullptr});
    if (stream == nullptr) return nullptr;
    std::setvbuf(stream, nullptr, _IONBF, 0);
    std::cerr.rdbuf(new __gnu_cxx::stdio_sync_filebuf<char>(stream));  // never deleted: others may write late
    stderr = stream;
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    return stream;
}

}  // namespace

Quiet::Quiet() {
    static const std::FILE* const stream = divert_streams();
    if (stream == nullptr) throw std::bad_alloc();
    heard_.reserve(max_heard);
    heard = &heard_;
}

Quiet::~Quiet() {
    heard = nullptr;
}

bool Quiet::heard_of_damage() const {
    for (const char* words : {"Premature end", "Corrupt JPEG", "premature", "Read error", "Not enough data",
                              "CRC error", "Decoding error", "LZWDecode", "ZIPDecode"})
        if (heard_.find(words) != std::string::npos) return true;
    return false;
}

}  // namespace knn::opencv
