#pragma once
/// The content of a file, plain or gzip, recognized by content, decompressed into the reader's memory.

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/file/transfer.h"

namespace knn {

/// Reads one file from beginning to end. While waiting for a pipe or device, throws Interrupted if the user asks to
/// stop (data/file/transfer.h).
class ByteSource {
  public:
    /// Writes the next bytes to the front of its argument and returns their number; 0: the end.
    using Reader = std::function<std::size_t(std::span<std::uint8_t>)>;

    /// `expected` ends each message: "an IDX file of ...". Throws DataError: no such file, a folder, not
    /// readable, empty.
    ByteSource(std::filesystem::path file, std::string expected);
    /// The bytes that `reader` gives, in pieces of any size, where there is no file; `bytes`: their number, or empty if
    /// that is unknown. `name` stands for the file in messages.
    ByteSource(Reader reader, std::optional<std::uint64_t> bytes, std::string name, std::string expected);
    ~ByteSource();

    /// Fills `out`, or as much of it as the content has left. Throws DataError: gzip data that is cut short,
    /// damaged, or followed by something else (checked when the content ends).
    std::size_t read(std::span<std::uint8_t> out);

    /// Whether it is a plain file whose size is known: read_at then fills `out` from that place, or as much of it as there is, without
    /// moving `read`; several threads may call it.
    bool can_read_at() const { return descriptor_.is_open() && file_bytes_ && !gzip_; }
    std::size_t read_at(std::uint64_t place, std::span<std::uint8_t> out) const;

    /// Whether nothing follows. Where gzip data goes on, up to 64 MiB of it are read too, since damage is the likelier
    /// cause: throws DataError if it shows there.
    bool is_at_end();

    bool is_gzip() const { return gzip_; }
    /// The size of the file itself; empty if that is unknown before it is read (a pipe).
    std::optional<std::uint64_t> file_bytes() const { return file_bytes_; }
    /// How many bytes the content can have at most: exact for a plain file, by deflate's best ratio for gzip.
    std::optional<std::uint64_t> max_bytes() const;
    /// CRC-32 of the content read so far.
    std::uint32_t crc32() const;

    const std::filesystem::path& file() const { return file_; }

    /// Throws DataError "FILE: what; expected ...".
    [[noreturn]] void fail(const std::string& what) const;

  private:
    void open();
    void begin();
    std::size_t read_file(std::span<std::uint8_t> out);
    bool refill();
    bool begins_gzip();
    std::size_t read_plain(std::span<std::uint8_t> out);
    std::size_t read_gzip(std::span<std::uint8_t> out);
    void inflate_some();
    void end_member();

    std::filesystem::path file_;
    std::string expected_;
    FileDescriptor descriptor_;
    Reader read_file_;
    std::optional<std::uint64_t> file_bytes_;
    std::vector<std::uint8_t> buffer_;       // of the file, not yet consumed: `pending_`
    std::span<const std::uint8_t> pending_;  // the part of buffer_ that is left
    bool gzip_ = false;
    bool ended_ = false;     // all gzip members are read and checked
    z_stream stream_ = {};   // of the gzip member that is being read
    std::uint32_t crc_ = 0;  // plain: so far; gzip: of the members before this one
};

}  // namespace knn
