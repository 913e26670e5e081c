#include "app/report/npz.h"

#include <zlib.h>

#include <ostream>
#include <sstream>

#include "app/console/interrupt.h"
#include "data/vectors/npy.h"

namespace knn {

namespace {

/// Numbers in the order of bytes of zip files, the smallest first.
class ZipRecord {
  public:
    ZipRecord& u16(std::uint64_t value) { return number(value, 2); }
    ZipRecord& u32(std::uint64_t value) { return number(value, 4); }
    ZipRecord& u64(std::uint64_t value) { return number(value, 8); }
    ZipRecord& text(std::string_view text) {
        bytes_ += text;
        return *this;
    }
    const std::string& bytes() const { return bytes_; }

  private:
    ZipRecord& number(std::uint64_t value, int size) {
        for (int i = 0; i < size; ++i)
            bytes_ += static_cast<char>(value >> (8 * i));
        return *this;
    }

    std::string bytes_;
};

constexpr std::uint64_t zip_version = 45;  ///< 4.5 has ZIP64
constexpr std::uint64_t first_day = 0x21;  ///< January 1, 1980: zip has no "none"
constexpr std::uint64_t in_extra = 0xffffffff;

/// What the two headers of a file have in common: version, flags, no compression, time, checksum, sizes in the extra field.
ZipRecord& put_description(ZipRecord& record, std::uint32_t checksum, std::size_t name_size,
                           std::size_t extra_size) {
    return record.u16(zip_version)
        .u16(0)
        .u16(0)
        .u16(0)
        .u16(first_day)
        .u32(checksum)
        .u32(in_extra)
        .u32(in_extra)
        .u16(name_size)
        .u16(extra_size);
}

}  // namespace

void NpzWriter::add(const std::string& name, std::span<const std::int64_t> shape, std::string_view type,
                    const std::vector<std::span<const std::uint8_t>>& pieces) {
    std::ostringstream header;
    put_npy_header(header, shape, type);
    const std::string head = header.str();
    Entry entry{name + ".npy", 0, head.size(), written_};
    std::uint64_t checksum = ::crc32_z(0, reinterpret_cast<const unsigned char*>(head.data()), head.size());
    for (const std::span<const std::uint8_t> piece : pieces) {
        stop_if_asked();
        if (piece.empty()) continue;  // a null pointer would start the checksum again
        checksum = ::crc32_z(checksum, piece.data(), piece.size());
        entry.size += piece.size();
    }
    entry.checksum = static_cast<std::uint32_t>(checksum);
    constexpr std::size_t extra_size = 4 + 2 * 8;
    ZipRecord local;
    put_description(local.u32(0x04034b50), entry.checksum, entry.name.size(), extra_size).text(entry.name);
    local.u16(1).u16(extra_size - 4).u64(entry.size).u64(entry.size).text(head);
    out_ << local.bytes();
    for (const std::span<const std::uint8_t> piece : pieces)
        out_.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    written_ += local.bytes().size() + entry.size - head.size();
    entries_.push_back(entry);
}

void NpzWriter::finish() {
    constexpr std::size_t extra_size = 4 + 3 * 8;
    ZipRecord directory;
    for (const Entry& entry : entries_) {
        put_description(directory.u32(0x02014b50).u16(zip_version), entry.checksum, entry.name.size(),
                        extra_size)
            .u16(0)
            .u16(0)
            .u16(0)
            .u32(0)
            .u32(in_extra)
            .text(entry.name);
        directory.u16(1).u16(extra_size - 4).u64(entry.size).u64(entry.size).u64(entry.offset);
    }
    const std::uint64_t size = directory.bytes().size(), n = entries_.size(), after = written_ + size;
    directory.u32(0x06064b50)
        .u64(44)
        .u16(zip_version)
        .u16(zip_version)
        .u32(0)
        .u32(0)
        .u64(n)
        .u64(n)
        .u64(size)
        .u64(written_);
    directory.u32(0x07064b50).u32(0).u64(after).u32(1);
    directory.u32(0x06054b50).u16(0).u16(0).u16(0xffff).u16(0xffff).u32(in_extra).u32(in_extra).u16(0);
    out_ << directory.bytes();
}

}  // namespace knn
