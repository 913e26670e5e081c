/// IDX files, plain and gzip: the same content read at once and in pieces, of known and of unknown size.

#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "data/file/byte_source.h"
#include "data/set/idx.h"
#include "tests/fuzz/input.h"
#include "tests/support/idx_bytes.h"

namespace knn {

namespace {

using test::require;
using View = std::span<const std::uint8_t>;

struct Read {
    LabeledImages images;  ///< of labels the labels alone
    std::uint32_t crc = 0;
};

/// None if the content is refused.
std::optional<Read> read(View content, bool labels, std::size_t piece, bool size_known) {
    try {
        std::optional<std::uint64_t> bytes;
        if (size_known) bytes = content.size();
        ByteSource source(test::in_pieces({content.begin(), content.end()}, piece), bytes, "input", "IDX");
        Read result;
        LabeledImages& images = result.images;
        IdxData found = read_idx(source, labels ? IdxKind::labels : IdxKind::images);
        images.count = found.count;
        images.rows = found.rows;
        images.cols = found.cols;
        (labels ? images.labels : images.pixels) = std::move(found.bytes);
        result.crc = found.crc32;
        return result;
    } catch (const DataError&) {
        return std::nullopt;
    }
}

/// Written again it has the checksum that was read, and, unless it was compressed, the same bytes.
void check_written(const Read& read, View content, bool labels, bool gzip) {
    std::ostringstream stream;
    if (labels)
        write_idx_labels(stream, read.images);
    else
        write_idx_images(stream, read.images);
    const std::string text = stream.str();
    require(read.crc == ::crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()),
            "the checksum is that of the content");
    require(gzip || std::equal(text.begin(), text.end(), content.begin(), content.end(),
                               [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; }),
            "images written again have the bytes of the file");
}

}  // namespace

}  // namespace knn

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    knn::test::Input input(data, size);
    const unsigned flags = input.byte();
    const bool labels = flags & 1, size_known = flags & 2, compress = flags & 4;
    constexpr std::array<std::size_t, 4> pieces = {1, 2, 7, 4096};
    std::vector<std::uint8_t> content(input.rest().begin(), input.rest().end());
    if (compress) {  // so that changes of it do not end at a checksum
        const std::string packed =
            knn::test::gzip({reinterpret_cast<const char*>(content.data()), content.size()}, 1);
        content.assign(packed.begin(), packed.end());
    }
    const bool gzip = content.size() >= 2 && content[0] == 0x1f && content[1] == 0x8b;

    const auto whole = knn::read(content, labels, content.size(), true);
    const auto other = knn::read(content, labels, pieces[flags >> 3 & 3], size_known);
    knn::test::require(whole.has_value() == other.has_value(), "both ways to read accept the same");
    if (!whole) return 0;
    knn::test::require(whole->crc == other->crc, "both ways to read give the same checksum");
    knn::check_written(*whole, content, labels, gzip);
    knn::check_written(*other, content, labels, gzip);
    return 0;
}
