#include "app/report/page.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "data/core/errors.h"

namespace knn {

namespace {

void put_32(std::vector<std::uint8_t>& out, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8)
        out.push_back(static_cast<std::uint8_t>(value >> shift));
}

/// Length, type, data, and the checksum of type and data (PNG specification, section 5.3).
void put_chunk(std::vector<std::uint8_t>& out, std::string_view type, const std::vector<std::uint8_t>& data) {
    put_32(out, static_cast<std::uint32_t>(data.size()));
    const std::size_t begin = out.size();
    out.insert(out.end(), type.begin(), type.end());
    out.insert(out.end(), data.begin(), data.end());
    put_32(out, static_cast<std::uint32_t>(crc32_z(0, out.data() + begin, out.size() - begin)));
}

/// Rows with filter type 0 ("none"), deflated: digits are mostly flat background, where filters do not help.
std::vector<std::uint8_t> deflated_rows(const std::uint8_t* pixels, std::size_t rows, std::size_t row_bytes) {
    std::vector<std::uint8_t> plain(rows * (row_bytes + 1));
    for (std::size_t row = 0; row < rows; ++row)
        std::copy_n(pixels + row * row_bytes, row_bytes,
                    plain.begin() + static_cast<std::ptrdiff_t>(row * (row_bytes + 1) + 1));
    uLongf size = compressBound(static_cast<uLong>(plain.size()));
    std::vector<std::uint8_t> packed(size);
    if (compress2(packed.data(), &size, plain.data(), static_cast<uLong>(plain.size()), Z_BEST_COMPRESSION) !=
        Z_OK)
        throw DataError("PNG: zlib could not compress the pixels; more free memory was expected");
    packed.resize(size);
    return packed;
}

}  // namespace

std::vector<std::uint8_t> encode_png(const std::uint8_t* pixels, int rows, int cols, int channels) {
    const std::uint8_t color_type = channels == 1 ? 0 : 2;  // PNG specification, table 11.1
    std::vector<std::uint8_t> header;
    put_32(header, static_cast<std::uint32_t>(cols));
    put_32(header, static_cast<std::uint32_t>(rows));
    // 8 bits, color, deflate, standard filters, not interlaced
    header.insert(header.end(), {8, color_type, 0, 0, 0});

    std::vector<std::uint8_t> png = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    put_chunk(png, "IHDR", header);
    put_chunk(png, "IDAT",
              deflated_rows(pixels, static_cast<std::size_t>(rows),
                            static_cast<std::size_t>(cols) * static_cast<std::size_t>(channels)));
    put_chunk(png, "IEND", {});
    return png;
}

}  // namespace knn
