#pragma once
/// The IDX format of MNIST: magic 00 00 TYPE RANK, RANK big-endian 32-bit sizes, then the data; plain or
/// gzip, recognized by content, never by name. Only 8-bit unsigned images (rank 3) and labels (rank 1) are
/// supported.

#include <array>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory_resource>
#include <string>

#include "data/core/dataset.h"
#include "data/core/errors.h"

namespace knn {

class ByteSource;  // data/file/byte_source.h

/// A size in a header: big-endian.
inline std::uint32_t big32(const std::uint8_t* bytes) {
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 |
           bytes[3];
}

/// What a file is expected to have.
struct IdxKind {
    std::uint8_t rank;
    const char* name;
    const char* expected;  ///< as messages say it

    static const IdxKind images, labels;
};
inline constexpr IdxKind IdxKind::images{3, "images",
                                         "an IDX file of 8-bit images (magic 00 00 08 03), plain or gzip"};
inline constexpr IdxKind IdxKind::labels{1, "labels",
                                         "an IDX file of 8-bit labels (magic 00 00 08 01), plain or gzip"};

/// What a file declares, all that is known of it before its data take memory.
struct IdxHeader {
    std::array<std::uint64_t, 3> sizes = {1, 1, 1};  ///< count, rows, cols; of labels the count alone
    std::uint64_t bytes = 0;                         ///< of the header itself
    std::uint64_t data_bytes = 0;                    ///< declared by the sizes
};

/// The content of one file, or the first part of it.
struct IdxData {
    std::int64_t count = 0;
    int rows = 1, cols = 1;   ///< of images; of labels 1
    Bytes bytes;              ///< count × rows × cols
    std::uint32_t crc32 = 0;  ///< of the whole uncompressed file
};

/// Labels where images were expected, or vice versa.
struct SwappedFiles : DataError {
    using DataError::DataError;
};

/// Throws DataError, a sentence that begins with `has`, of images with more than max_dim pixels.
void require_max_dim(const std::string& has, const ImageShape& shape);

/// Reads straight into memory from `memory`. Throws DataError, one line that names the file, what is wrong and what was
/// expected. Sizes are checked in 64 bits before anything is allocated. `first`: keeps only that many images or labels (0:
/// all); the rest of the file is read and checked all the same, but takes no memory.
IdxData read_idx(const std::filesystem::path& file, const IdxKind& kind,
                 std::pmr::memory_resource* memory = std::pmr::get_default_resource(),
                 std::int64_t first = 0);
/// The same from an open source, whose messages end as it says.
IdxData read_idx(ByteSource& source, const IdxKind& kind,
                 std::pmr::memory_resource* memory = std::pmr::get_default_resource(),
                 std::int64_t first = 0);

/// The two halves of it, for who compares the headers of several files before their data are read.
IdxHeader read_idx_header(ByteSource& source, const IdxKind& kind);
IdxData read_idx_data(ByteSource& source, const IdxKind& kind, const IdxHeader& header,
                      std::pmr::memory_resource* memory, std::int64_t first);

/// Plain IDX. Sizes fit 32 bits.
void write_idx_images(std::ostream& out, const LabeledImages& images);
void write_idx_labels(std::ostream& out, const LabeledImages& images);

}  // namespace knn
