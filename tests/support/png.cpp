#include "tests/support/png.h"

#include <zlib.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace knn::test {

namespace {

void expect(bool right, const char* what) {
    if (!right) throw std::runtime_error(std::string("PNG: ") + what);
}

std::uint32_t number_at(const std::vector<std::uint8_t>& bytes, std::size_t at) {
    expect(at + 4 <= bytes.size(), "cut short");
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
        value = value << 8 | bytes[at + i];
    return value;
}

/// The predictors of the five filters, from the bytes to the left, above, and above left.
int predicted(int filter, int left, int above, int corner) {
    if (filter == 1) return left;
    if (filter == 2) return above;
    if (filter == 3) return (left + above) / 2;
    if (filter != 4) return 0;
    const int to_left = std::abs(above - corner), to_above = std::abs(left - corner);
    const int to_corner = std::abs(left + above - 2 * corner);
    return to_left <= to_above && to_left <= to_corner ? left : to_above <= to_corner ? above : corner;
}

void unfilter(Png& png, const std::vector<std::uint8_t>& packed) {
    const auto stride = static_cast<std::size_t>(png.width * png.channels);
    std::vector<std::uint8_t> rows((stride + 1) * static_cast<std::size_t>(png.height));
    auto size = static_cast<uLongf>(rows.size());
    expect(uncompress(rows.data(), &size, packed.data(), static_cast<uLong>(packed.size())) == Z_OK &&
               size == rows.size(),
           "the pixels do not fit the size");
    png.pixels.resize(stride * static_cast<std::size_t>(png.height));
    const auto step = static_cast<std::size_t>(png.channels);
    for (std::size_t y = 0; y < static_cast<std::size_t>(png.height); ++y)
        for (std::size_t x = 0; x < stride; ++x) {
            const auto done = [&](bool inside, std::size_t up, std::size_t back) {
                return inside ? int{png.pixels[(y - up) * stride + x - back]} : 0;
            };
            const int guess = predicted(rows[y * (stride + 1)], done(x >= step, 0, step), done(y > 0, 1, 0),
                                        done(x >= step && y > 0, 1, step));
            png.pixels[y * stride + x] = static_cast<std::uint8_t>(rows[y * (stride + 1) + 1 + x] + guess);
        }
}

}  // namespace

Png read_png(const std::vector<std::uint8_t>& bytes) {
    expect(bytes.size() > 8 && bytes[0] == 0x89 && bytes[1] == 'P', "not one");
    Png png;
    std::vector<std::uint8_t> packed;
    for (std::size_t at = 8; at < bytes.size();) {
        const std::size_t size = number_at(bytes, at), data = at + 8;
        expect(data + size + 4 <= bytes.size(), "cut short");
        const std::string type(bytes.begin() + static_cast<std::ptrdiff_t>(at + 4),
                               bytes.begin() + static_cast<std::ptrdiff_t>(data));
        expect(crc32(0, bytes.data() + at + 4, static_cast<uInt>(size + 4)) == number_at(bytes, data + size),
               "wrong checksum");
        if (type == "IHDR") {
            png.width = static_cast<int>(number_at(bytes, data));
            png.height = static_cast<int>(number_at(bytes, data + 4));
            expect(bytes[data + 8] == 8 && (bytes[data + 9] == 0 || bytes[data + 9] == 2), "another kind");
            png.channels = bytes[data + 9] == 0 ? 1 : 3;
        }
        if (type == "IDAT")
            packed.insert(packed.end(), bytes.begin() + static_cast<std::ptrdiff_t>(data),
                          bytes.begin() + static_cast<std::ptrdiff_t>(data + size));
        at = data + size + 4;
    }
    unfilter(png, packed);
    return png;
}

}  // namespace knn::test
