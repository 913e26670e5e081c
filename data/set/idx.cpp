#include "data/set/idx.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <new>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/core/format.h"
#include "data/core/problem.h"
#include "data/file/byte_source.h"

namespace knn {

namespace {

constexpr std::uint8_t unsigned_byte = 0x08;  // MNIST's element type

/// The other element types of the format; null if there is none with this code.
const char* element_type(std::uint8_t code) {
    constexpr std::array<const char*, 6> types = {"int8", nullptr, "int16", "int32", "float32", "float64"};
    constexpr std::uint8_t first = 0x09;
    return code >= first && code - first < int{types.size()} ? types[code - first] : nullptr;
}

/// What a failed download may have stored instead of data, by its first bytes.
std::string describe_stranger(std::string_view head) {
    struct Stranger {
        std::string_view start, name;
    };
    constexpr Stranger strangers[] = {
        {"<!doctype html", "is a web page, not data"},
        {"<html", "is a web page, not data"},
        {"<?xml", "is an XML page, not data"},
        {"version https://git-lfs", "is a Git LFS pointer, not data"},
        {"pk\3\4", "is a zip archive"},
        {"bzh", "is a bzip2 file"},
        {"\xfd"
         "7zxz",
         "is an xz file"},
        {"\x28\xb5\x2f\xfd", "is a zstd file"},
        {"\x89png", "is a PNG picture"},
    };
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (head.starts_with(byte_order_mark)) head.remove_prefix(byte_order_mark.size());
    head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
    const std::string lower = lower_case(head);
    for (const Stranger& stranger : strangers)
        if (lower.starts_with(stranger.start)) return std::string(stranger.name);
    return "";
}

/// The file begins with `magic`, which is not IDX.
[[noreturn]] void fail_magic(ByteSource& source, const std::array<std::uint8_t, 4>& magic) {
    std::array<std::uint8_t, 256> head = {};
    std::copy(magic.begin(), magic.end(), head.begin());
    const std::size_t size = 4 + source.read(std::span(head).subspan(4));
    const std::string stranger = describe_stranger({reinterpret_cast<const char*>(head.data()), size});
    if (!stranger.empty()) source.fail(stranger);
    std::string text = "has the wrong magic";
    for (const std::uint8_t byte : magic) {
        constexpr const char* digits = "0123456789abcdef";
        text += {' ', digits[byte >> 4], digits[byte & 15]};
    }
    source.fail(text);
}

void check_magic(ByteSource& source, const IdxKind& kind) {
    std::array<std::uint8_t, 4> magic = {};
    const std::size_t got = source.read(magic);
    if (got == 0) source.fail("is empty after decompression");
    if (got < magic.size()) source.fail("is cut short within its header");
    const char* other_type = element_type(magic[2]);
    if (magic[0] != 0 || magic[1] != 0 || (magic[2] != unsigned_byte && other_type == nullptr))
        fail_magic(source, magic);
    if (other_type != nullptr) source.fail(std::string("holds elements of type ") + other_type);
    const IdxKind& other = kind.rank == IdxKind::images.rank ? IdxKind::labels : IdxKind::images;
    if (magic[3] == other.rank)
        throw SwappedFiles(source.file().string() + ": holds " + other.name + " where " + kind.name +
                           " were expected (swapped files?); expected " + kind.expected);
    if (magic[3] != kind.rank) source.fail("has rank " + std::to_string(magic[3]));
}

std::string grouped(std::uint64_t count) {
    return with_commas(static_cast<std::int64_t>(count));
}

std::string grouped(std::uint64_t count, const char* one) {
    return counted(static_cast<std::int64_t>(count), one);
}

std::string describe(const IdxHeader& header, const IdxKind& kind) {
    const bool of_images = kind.rank == IdxKind::images.rank;
    std::string text = grouped(header.sizes[0], of_images ? "image" : "label");
    if (of_images) text += " of " + std::to_string(header.sizes[1]) + "x" + std::to_string(header.sizes[2]);
    return text;
}

/// Checks before any allocation that the sizes are valid and the file can hold them.
void check_sizes(const ByteSource& source, IdxHeader& header, const IdxKind& kind) {
    const auto [count, rows, cols] = header.sizes;
    constexpr std::uint64_t most = std::numeric_limits<int>::max();
    if (count == 0) source.fail(std::string("holds zero ") + kind.name);
    if (rows == 0 || cols == 0) source.fail("declares " + describe(header, kind) + ", without pixels");
    if (rows > most || cols > most || __builtin_mul_overflow(count, rows * cols, &header.data_bytes) ||
        header.data_bytes > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()))
        source.fail("declares " + describe(header, kind) + ", more than fits in 64-bit sizes");
    require_max_dim(source.file().string() + ": has images of ",
                    {static_cast<int>(rows), static_cast<int>(cols)});
    if (!source.max_bytes()) return;
    const std::uint64_t available = *source.max_bytes() - std::min(*source.max_bytes(), header.bytes);
    const std::string declared =
        "declares " + describe(header, kind) + " = " + grouped(header.data_bytes, "byte") + ", but ";
    if (header.data_bytes > available)
        source.fail("is cut short: it " + declared +
                    (source.is_gzip() ? grouped(*source.file_bytes()) + " bytes of gzip cannot hold them"
                                      : "has " + grouped(available)));
    if (!source.is_gzip() && header.data_bytes < available)
        source.fail("has trailing bytes: it " + declared + "has " + grouped(available));
}

/// Reads `size` bytes into memory from `memory`; fewer if the content ends early (`got`).
Bytes read_data(ByteSource& source, std::size_t size, std::pmr::memory_resource* memory, std::size_t& got) {
    if (source.max_bytes()) {
        Bytes bytes(size, memory);
        got = source.read({bytes.data(), size});
        return bytes;
    }
    // The declared size of a pipe cannot be checked: memory grows with the bytes received.
    std::vector<std::uint8_t> grown;
    constexpr std::size_t first_piece = 1 << 20;
    for (got = 0; got == grown.size() && got < size;) {
        grown.resize(std::min(size, std::max(first_piece, 2 * got)));
        got += source.read(std::span(grown).subspan(got));
    }
    Bytes bytes(got, memory);
    std::copy_n(grown.begin(), got, bytes.data());
    return bytes;
}

/// Reads `size` bytes, or fewer if the content ends early, and keeps none of them. Returns their number.
std::uint64_t skip(ByteSource& source, std::uint64_t size) {
    constexpr std::uint64_t largest_piece = 1 << 18;
    std::vector<std::uint8_t> piece(static_cast<std::size_t>(std::min(size, largest_piece)));
    std::uint64_t done = 0;
    while (done < size) {
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size - done, piece.size()));
        const std::size_t got = source.read(std::span(piece).first(wanted));
        if (got == 0) break;
        done += got;
    }
    return done;
}

void write_idx(std::ostream& out, std::initializer_list<std::int64_t> sizes, const Bytes& bytes) {
    std::string header = {0, 0, 8, static_cast<char>(sizes.size())};
    for (const std::int64_t size : sizes)
        for (int shift = 24; shift >= 0; shift -= 8)
            header += static_cast<char>(size >> shift & 255);
    out.write(header.data(), static_cast<std::streamsize>(header.size()));
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

void require_max_dim(const std::string& has, const ImageShape& shape) {
    if (shape.dim() > max_dim)
        throw DataError(has + shape.text() + " = " + with_commas(shape.dim()) + " pixels; expected at most " +
                        with_commas(max_dim) + " pixels, which keep squared distances within 32 bits");
}

IdxData read_idx(const std::filesystem::path& file, const IdxKind& kind, std::pmr::memory_resource* memory,
                 std::int64_t first) {
    ByteSource source(file, kind.expected);
    return read_idx(source, kind, memory, first);
}

IdxData read_idx(ByteSource& source, const IdxKind& kind, std::pmr::memory_resource* memory,
                 std::int64_t first) {
    return read_idx_data(source, kind, read_idx_header(source, kind), memory, first);
}

IdxHeader read_idx_header(ByteSource& source, const IdxKind& kind) {
    check_magic(source, kind);
    std::array<std::uint8_t, 12> raw = {};
    const std::size_t size_bytes = std::size_t{4} * kind.rank;
    if (source.read(std::span(raw).first(size_bytes)) < size_bytes)
        source.fail("is cut short within its header");
    IdxHeader header;
    header.bytes = 4 + size_bytes;
    for (std::size_t i = 0; i < kind.rank; ++i)
        header.sizes[i] = big32(&raw[4 * i]);
    check_sizes(source, header, kind);
    return header;
}

IdxData read_idx_data(ByteSource& source, const IdxKind& kind, const IdxHeader& header,
                      std::pmr::memory_resource* memory, std::int64_t first) {
    const auto [all, rows, cols] = header.sizes;
    const std::uint64_t count = first > 0 ? std::min(all, static_cast<std::uint64_t>(first)) : all;
    const std::uint64_t kept_bytes = count * (header.data_bytes / all);
    try {
        std::size_t read = 0;
        Bytes bytes = read_data(source, static_cast<std::size_t>(kept_bytes), memory, read);
        const std::uint64_t got =
            read < kept_bytes ? read : kept_bytes + skip(source, header.data_bytes - kept_bytes);
        if (got < header.data_bytes)
            source.fail("is cut short: it declares " + describe(header, kind) + " = " +
                        grouped(header.data_bytes, "byte") + ", but has " + grouped(got));
        if (!source.is_at_end()) source.fail("has trailing bytes after " + describe(header, kind));
        return {static_cast<std::int64_t>(count), static_cast<int>(rows), static_cast<int>(cols),
                std::move(bytes), source.crc32()};
    } catch (const std::bad_alloc&) {
        throw MemoryError(source.file().string() + ": needs " + grouped(kept_bytes) +
                          " bytes of memory, which are not free; expected that much free memory");
    }
}

void write_idx_images(std::ostream& out, const LabeledImages& images) {
    write_idx(out, {images.count, images.rows, images.cols}, images.pixels);
}

void write_idx_labels(std::ostream& out, const LabeledImages& images) {
    write_idx(out, {images.count}, images.labels);
}

}  // namespace knn
