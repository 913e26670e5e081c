#include "tests/support/idx_bytes.h"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>

namespace knn::test {

std::string idx_header(std::uint8_t type, const std::vector<std::uint32_t>& sizes) {
    std::string bytes = {0, 0, static_cast<char>(type), static_cast<char>(sizes.size())};
    for (const std::uint32_t size : sizes)
        for (const int shift : {24, 16, 8, 0})
            bytes += static_cast<char>(size >> shift & 255);
    return bytes;
}

std::string pattern(std::size_t n) {
    std::string bytes;
    for (std::size_t i = 0; i < n; ++i)
        bytes += static_cast<char>(i * i * 7 + i / 256);
    return bytes;
}

std::string idx_images(std::uint32_t count, std::uint32_t rows, std::uint32_t cols) {
    return idx_header(8, {count, rows, cols}) + pattern(std::size_t{count} * rows * cols);
}

std::string idx_labels(std::uint32_t count) {
    return idx_header(8, {count}) + pattern(count);
}

std::string gzip(std::string_view content, int level) {
    z_stream stream = {};
    if (deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("deflateInit2 failed");
    std::string out(deflateBound(&stream, content.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int code = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    if (code != Z_STREAM_END) throw std::runtime_error("deflate failed");
    return out;
}

std::function<std::size_t(std::span<std::uint8_t>)> in_pieces(std::string content, std::size_t piece) {
    return [content, piece, at = std::size_t{0}](std::span<std::uint8_t> out) mutable {
        const std::size_t n = std::min({content.size() - at, out.size(), piece});
        std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(at), n, out.begin());
        at += n;
        return n;
    };
}

void write_small_dataset(const TempFolder& folder, std::string_view subfolder) {
    const std::string in = std::string(subfolder) + "/";
    folder.write(in + "train-images-idx3-ubyte", idx_images(12, 4, 3));
    folder.write(in + "train-labels-idx1-ubyte", idx_labels(12));
    folder.write(in + "t10k-images-idx3-ubyte", idx_images(5, 4, 3));
    folder.write(in + "t10k-labels-idx1-ubyte", idx_labels(5));
}

}  // namespace knn::test
