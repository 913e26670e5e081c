#include "data/file/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "data/core/errors.h"

namespace knn {

namespace {

constexpr std::size_t buffer_bytes = 256 * 1024;  // stays in a core's second cache
constexpr std::uint8_t gzip_first = 0x1f, gzip_second = 0x8b;
constexpr int gzip_window = 15 + 16;  // the largest window; 16: a gzip wrapper with its CRC-32 and length
/// A deflate match makes at most 258 bytes of at least 2 bits.
constexpr std::uint64_t best_ratio = 1032;

}  // namespace

ByteSource::ByteSource(std::filesystem::path file, std::string expected)
    : file_(std::move(file)), expected_(std::move(expected)), buffer_(buffer_bytes) {
    open();
    read_file_ = [this](std::span<std::uint8_t> out) { return read_file(out); };
    begin();
}

ByteSource::ByteSource(Reader reader, std::optional<std::uint64_t> bytes, std::string name,
                       std::string expected)
    : file_(std::move(name)),
      expected_(std::move(expected)),
      read_file_(std::move(reader)),
      file_bytes_(bytes),
      buffer_(buffer_bytes) {
    begin();
}

void ByteSource::begin() {
    if (!refill()) fail("is empty");
    gzip_ = begins_gzip();
    if (gzip_ && inflateInit2(&stream_, gzip_window) != Z_OK) throw std::bad_alloc();
}

ByteSource::~ByteSource() {
    if (gzip_) inflateEnd(&stream_);
}

void ByteSource::fail(const std::string& what) const {
    throw DataError(file_.string() + ": " + what + "; expected " + expected_);
}

void ByteSource::open() {
    // O_NONBLOCK: opening a FIFO does not block; read_some waits for its writer, and can be stopped.
    descriptor_ = FileDescriptor(::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!descriptor_.is_open()) {
        if (errno == ENOENT) fail("no such file");
        fail_to_read(file_.string(), errno, expected_);
    }
    struct stat status = {};
    if (::fstat(descriptor_.number(), &status) != 0) fail_to_read(file_.string(), errno, expected_);
    if (S_ISDIR(status.st_mode)) fail("is a folder");
    // Files of /proc say 0 and still have content.
    if (S_ISREG(status.st_mode) && status.st_size > 0)
        file_bytes_ = static_cast<std::uint64_t>(status.st_size);
}

std::optional<std::uint64_t> ByteSource::max_bytes() const {
    if (!file_bytes_ || !gzip_) return file_bytes_;
    return *file_bytes_ < std::numeric_limits<std::uint64_t>::max() / best_ratio ? *file_bytes_ * best_ratio
                                                                                 : *file_bytes_;
}

std::uint32_t ByteSource::crc32() const {
    if (!gzip_ || ended_) return crc_;
    return static_cast<std::uint32_t>(
        crc32_combine(crc_, stream_.adler, static_cast<z_off_t>(stream_.total_out)));
}

/// Bytes of the file itself, at least one of them unless the file ends.
std::size_t ByteSource::read_file(std::span<std::uint8_t> out) {
    const ssize_t got = read_some(descriptor_.number(), out);
    if (got >= 0) return static_cast<std::size_t>(got);
    fail_to_read(file_.string(), errno, expected_);
}

/// Adds to what is pending; false at the end of the file.
bool ByteSource::refill() {
    std::copy(pending_.begin(), pending_.end(), buffer_.begin());  // at most one byte in practice
    const std::size_t got = read_file_(std::span(buffer_).subspan(pending_.size()));
    pending_ = std::span(buffer_).first(pending_.size() + got);
    return got > 0;
}

/// Whether what follows is a gzip member.
bool ByteSource::begins_gzip() {
    while (pending_.size() < 2 && refill()) {
    }
    return pending_.size() >= 2 && pending_[0] == gzip_first && pending_[1] == gzip_second;
}

std::size_t ByteSource::read(std::span<std::uint8_t> out) {
    return gzip_ ? read_gzip(out) : read_plain(out);
}

std::size_t ByteSource::read_at(std::uint64_t place, std::span<std::uint8_t> out) const {
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t got = ::pread(descriptor_.number(), out.data() + done, out.size() - done,
                                    static_cast<off_t>(place + done));
        if (got == 0) break;
        if (got > 0)
            done += static_cast<std::size_t>(got);
        else if (errno != EINTR)
            fail_to_read(file_.string(), errno, expected_);
    }
    return done;
}

bool ByteSource::is_at_end() {
    std::uint8_t beyond = 0;
    if (read({&beyond, 1}) == 0) return true;
    std::vector<std::uint8_t> rest(gzip_ ? std::size_t{1} << 20 : 0);
    for (int piece = 0; piece < 64 && read(rest) > 0; ++piece) {
    }
    return false;
}

std::size_t ByteSource::read_plain(std::span<std::uint8_t> out) {
    std::size_t done = 0;
    while (done < out.size()) {
        // Pieces of the buffer's size, so that the checksum finds them in the cache.
        const auto piece = out.subspan(done, std::min(out.size() - done, buffer_bytes));
        std::size_t got = std::min(pending_.size(), piece.size());
        if (got > 0) {
            std::copy_n(pending_.begin(), got, piece.begin());
            pending_ = pending_.subspan(got);
        } else {
            got = read_file_(piece);
            if (got == 0) break;
        }
        crc_ = static_cast<std::uint32_t>(::crc32_z(crc_, piece.data(), got));
        done += got;
    }
    return done;
}

std::size_t ByteSource::read_gzip(std::span<std::uint8_t> out) {
    std::size_t done = 0;
    while (done < out.size() && !ended_) {
        constexpr std::size_t most = std::numeric_limits<uInt>::max();
        const std::size_t piece = std::min(out.size() - done, most);
        stream_.next_out = out.data() + done;
        stream_.avail_out = static_cast<uInt>(piece);
        inflate_some();
        done += piece - stream_.avail_out;
    }
    return done;
}

/// One step of zlib's inflate, which checks the CRC-32 and the length at the end of each member.
void ByteSource::inflate_some() {
    if (pending_.empty()) refill();
    const bool file_ended = pending_.empty();
    stream_.next_in = const_cast<Bytef*>(pending_.data());  // zlib does not write to it
    stream_.avail_in = static_cast<uInt>(pending_.size());
    const uInt available = stream_.avail_out;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    pending_ = pending_.last(stream_.avail_in);
    if (code == Z_STREAM_END) return end_member();
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code != Z_OK && code != Z_BUF_ERROR) {
        const std::string_view reason = stream_.msg != nullptr ? stream_.msg : "not deflate";
        if (reason == "incorrect data check") fail("is damaged: the gzip checksum does not match");
        fail("is damaged: bad gzip data (" + std::string(reason) + ")");
    }
    if (file_ended && stream_.avail_out == available) fail("is cut short: the gzip data does not end");
}

/// A gzip file may have several members one after another; their contents are joined.
void ByteSource::end_member() {
    crc_ = static_cast<std::uint32_t>(
        crc32_combine(crc_, stream_.adler, static_cast<z_off_t>(stream_.total_out)));
    if (begins_gzip())
        inflateReset(&stream_);
    else if (pending_.empty())
        ended_ = true;
    else
        fail("has trailing bytes after the gzip data");
}

}  // namespace knn
