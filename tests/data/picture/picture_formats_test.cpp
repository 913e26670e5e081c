/// Rarer kinds of picture files, most of them built here byte by byte.

#include <zlib.h>

#include <array>

#include "data/core/errors.h"
#include "data/picture/picture_file.h"
#include "data/picture/picture_header.h"
#include "tests/support/decoded.h"
#include "tests/support/test.h"

using knn::DataError;
using knn::Picture;
using knn::test::codecs;
using knn::test::encoded;
using knn::test::error_of;
using knn::test::marked;

namespace {

using Bytes = std::vector<std::uint8_t>;

// 48×32 as CMYK by libjpeg 6.2: jpeg_set_defaults, quality 90, optimized tables. With Adobe's marker the
// values are stored as their negative; as YCCK; and without the marker.
constexpr const char* cmyk_of_adobe =
    "ffd8ffee000e41646f626500640000000000ffdb0043000302020302020303030304030304050805050404050a070706080c0a0c"
    "0c0b0a0b0b0d0e12100d0e110e0b0b1016101113141515150c0f171816141812141514ffc000140800200030044311004d110059"
    "11004b1100ffc40016000101010000000000000000000000000000090affc40014100100000000000000000000000000000000ff"
    "da000e0443004d0059004b00003f00aa6aa6aa69540003550000256000095400035500002560000aa60000000000000000000000"
    "ffd9";
constexpr const char* ycck_of_adobe =
    "ffd8ffee000e41646f626500640000000002ffdb0043000302020302020303030304030304050805050404050a070706080c0a0c"
    "0c0b0a0b0b0d0e12100d0e110e0b0b1016101113141515150c0f171816141812141514ffdb00430103040405040509050509140d"
    "0b0d1414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414"
    "ffc00014080020003004012200021101031101042200ffc40016000101010000000000000000000000000000090affc400141001"
    "00000000000000000000000000000000ffc40014010100000000000000000000000000000000ffc4001411010000000000000000"
    "0000000000000000ffda000e040100021103110400003f009540025500000d540000095800002a9800000000000fffd9";
constexpr const char* cmyk_without_marker =
    "ffd8ffdb0043000302020302020303030304030304050805050404050a070706080c0a0c0c0b0a0b0b0d0e12100d0e110e0b0b10"
    "16101113141515150c0f171816141812141514ffc000140800200030044311004d11005911004b1100ffc4001600010101000000"
    "0000000000000000000000090affc40014100100000000000000000000000000000000ffda000e0443004d0059004b00003f0095"
    "4954954aa600032ae0002a90000aac00032ae0002a9000095a0000000000000000000000ffd9";

Bytes from_hex(const std::string& text) {
    Bytes bytes;
    for (std::size_t i = 0; i < text.size(); i += 2)
        bytes.push_back(static_cast<std::uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
    return bytes;
}

/// The gray of the marked picture, whose middle one is 128 here.
int gray_of_marked(int x, int y) {
    return y >= 16 || (x >= 16 && x < 32) ? 255 : x < 16 ? 0 : 128;
}

Bytes operator+(Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
Bytes text(std::string_view letters) {
    return {letters.begin(), letters.end()};
}
Bytes big32(std::uint32_t value) {
    return {std::uint8_t(value >> 24), std::uint8_t(value >> 16), std::uint8_t(value >> 8),
            std::uint8_t(value)};
}
Bytes little(std::uint64_t value, int bytes) {
    Bytes result;
    for (int i = 0; i < bytes; ++i)
        result.push_back(std::uint8_t(value >> (8 * i)));
    return result;
}

Bytes chunk(const char* name, const Bytes& data) {
    const Bytes named = text(name) + data;
    const auto sum = ::crc32(0, named.data(), static_cast<unsigned>(named.size()));
    return big32(static_cast<std::uint32_t>(data.size())) + named + big32(static_cast<std::uint32_t>(sum));
}

Bytes squeezed(const Bytes& data) {
    Bytes result(::compressBound(data.size()));
    uLongf size = result.size();
    REQUIRE(::compress(result.data(), &size, data.data(), data.size()) == Z_OK);
    result.resize(size);
    return result;
}

/// Rows of 48 samples of `bits` bits each, by the gray that the picture has there; each row begins with
/// PNG's filter 0.
Bytes png_rows(int bits, const std::function<std::uint64_t(int gray)>& sample) {
    Bytes rows;
    for (int y = 0; y < 32; ++y) {
        rows.push_back(0);
        std::uint64_t held = 0;
        int count = 0;
        for (int x = 0; x < 48; ++x) {
            held = held << bits | sample(gray_of_marked(x, y));
            for (count += bits; count >= 8; count -= 8)
                rows.push_back(std::uint8_t(held >> (count - 8)));
        }
    }
    return rows;
}

constexpr std::uint8_t gray_png = 0, palette_png = 3, gray_alpha_png = 4;

Bytes png(std::uint8_t depth, std::uint8_t kind, const Bytes& before, const Bytes& rows,
          const Bytes& after = {}) {
    return text("\x89PNG\r\n\x1a\n") + chunk("IHDR", big32(48) + big32(32) + Bytes{depth, kind, 0, 0, 0}) +
           before + chunk("IDAT", squeezed(rows)) + after + chunk("IEND", {});
}

/// EXIF: a TIFF directory with only the orientation, a number of 16 bits or of 32, or several.
Bytes exif(std::uint8_t orientation, bool wide = false, std::uint8_t count = 1) {
    const Bytes value = wide ? Bytes{0, 0, 0, orientation} : Bytes{0, orientation, 0, 0};
    return Bytes{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 18, 0, std::uint8_t(wide ? 4 : 3), 0, 0, 0, count} +
           value + Bytes(4, 0);
}

/// Tag, type and value, in the order of the tags; `place_of_pixels` as the value: where these lie.
using TiffTags = std::vector<std::array<std::uint32_t, 3>>;
constexpr std::uint32_t place_of_pixels = 0xffffffff;

/// Not compressed, little-endian.
Bytes tiff_of(const TiffTags& tags, const Bytes& data) {
    Bytes file = text("II") + little(42, 2) + little(8, 4) + little(tags.size(), 2);
    for (const auto& [tag, type, value] : tags)
        file = file + little(tag, 2) + little(type, 2) + little(1, 4) +
               little(value == place_of_pixels ? 8 + 2 + 12 * tags.size() + 4 : value, 4);
    return file + little(0, 4) + data;
}

/// Samples of `bits` bits in one strip; `more`: tags behind the usual ones.
Bytes strip_tiff(std::uint32_t bits, std::uint32_t colors, std::uint32_t samples, const Bytes& data,
                 const TiffTags& more = {}) {
    TiffTags tags = {{256, 4, 48},      {257, 4, 32},     {258, 3, bits},
                     {259, 3, 1},       {262, 3, colors}, {273, 4, place_of_pixels},
                     {277, 3, samples}, {278, 4, 32},     {279, 4, static_cast<std::uint32_t>(data.size())}};
    tags.insert(tags.end(), more.begin(), more.end());
    return tiff_of(tags, data);
}

/// Gray with the orientation (274) as a number of 16 bits (type 3) or 32 (4). `rows_tag`: 278, or another in its place.
Bytes tiff(int orientation, std::uint32_t rows_tag = 278, std::uint32_t type = 3) {
    const cv::Mat mat = marked();
    return tiff_of({{256, 4, 48},
                    {257, 4, 32},
                    {258, 3, 8},
                    {259, 3, 1},
                    {262, 3, 1},
                    {273, 4, place_of_pixels},
                    {274, type, std::uint32_t(orientation)},
                    {277, 3, 1},
                    {rows_tag, 4, 32},
                    {279, 4, 48 * 32}},
                   Bytes(mat.datastart, mat.dataend));
}

/// The same in two tiles of 32 × 32, the second of which is wider than what is left of the picture.
Bytes tiled_tiff(int orientation) {
    constexpr std::uint32_t side = 32, bytes = side * side, place = 8 + 2 + 12 * 11 + 4;
    cv::Mat wide(side, 2 * side, CV_8U, cv::Scalar(0));
    marked().copyTo(wide.colRange(0, 48));
    Bytes data = little(place + 16, 4) + little(place + 16 + bytes, 4) + little(bytes, 4) + little(bytes, 4);
    for (const int tile : {0, 1}) {
        const cv::Mat one = wide.colRange(32 * tile, 32 * tile + 32).clone();
        data = data + Bytes(one.datastart, one.dataend);
    }
    Bytes file = tiff_of({{256, 4, 48},
                          {257, 4, 32},
                          {258, 3, 8},
                          {259, 3, 1},
                          {262, 3, 1},
                          {274, 3, std::uint32_t(orientation)},
                          {277, 3, 1},
                          {322, 4, side},
                          {323, 4, side},
                          {324, 4, place},
                          {325, 4, place + 8}},
                         data);
    file[10 + 12 * 9 + 4] = file[10 + 12 * 10 + 4] = 2;  // values of the last two tags
    return file;
}

/// Two frames; the second is black.
Bytes animated_webp() {
    const auto frame = [](const Bytes& still) {
        const Bytes picture(still.begin() + 12, still.end());
        const Bytes data =
            little(0, 3) + little(0, 3) + little(47, 3) + little(31, 3) + little(100, 3) + Bytes{0} + picture;
        return text("ANMF") + little(data.size(), 4) + data;
    };
    Bytes black;
    REQUIRE(codecs().imencode(".webp", cv::Mat(32, 48, CV_8UC3, cv::Scalar::all(0)), black,
                              {cv::IMWRITE_WEBP_QUALITY, 101}));
    const Bytes chunks = text("WEBPVP8X") + little(10, 4) + little(2, 4) + little(47, 3) + little(31, 3) +
                         text("ANIM") + little(6, 4) + little(0, 6) +
                         frame(encoded(".webp", marked(), {cv::IMWRITE_WEBP_QUALITY, 101})) + frame(black);
    return text("RIFF") + little(chunks.size(), 4) + chunks;
}

/// The still picture, then one black frame.
Bytes animated_png() {
    const auto frame = [](std::uint32_t number) {
        return chunk("fcTL", big32(number) + big32(48) + big32(32) + Bytes(8, 0) + Bytes{0, 1, 0, 10, 0, 0});
    };
    const Bytes black = squeezed(png_rows(8, [](int) { return 0; }));
    return png(8, gray_png, chunk("acTL", big32(2) + big32(0)) + frame(0),
               png_rows(8, [](int gray) { return std::uint64_t(gray); }),
               frame(1) + chunk("fdAT", big32(2) + black));
}

Bytes pbm(bool plain) {
    Bytes file = text(plain ? "P1\n# a comment\n48 32\n" : "P4\n48 32\n");
    for (int y = 0; y < 32; ++y)
        for (int x = 0; x < 48; ++x) {
            const bool black = gray_of_marked(x, y) == 0;
            if (plain)
                file = file + text(black ? "1 " : "0 ");
            else if (x % 8 == 0)
                file.push_back(black ? 255 : 0);
        }
    return file;
}

/// White is `most`; above 255 samples have two bytes.
Bytes pgm_up_to(int most) {
    Bytes file = text("P5\n48 32\n" + std::to_string(most) + "\n");
    for (int y = 0; y < 32; ++y)
        for (int x = 0; x < 48; ++x) {
            const int sample = (gray_of_marked(x, y) * most + 127) / 255;
            if (most > 255) file.push_back(static_cast<std::uint8_t>(sample >> 8));
            file.push_back(static_cast<std::uint8_t>(sample));
        }
    return file;
}

/// 24 bits a pixel; a negative height if the first row is the top one.
Bytes bmp(bool downward) {
    const std::uint32_t rows = 32, height = downward ? 0 - rows : rows;
    Bytes file = text("BM") + little(54 + 48 * 3 * rows, 4) + little(0, 4) + little(54, 4) + little(40, 4) +
                 little(48, 4) + little(height, 4) + little(1, 2) + little(24, 2) + Bytes(24, 0);
    for (std::uint32_t row = 0; row < rows; ++row)
        for (int x = 0; x < 48; ++x)
            file = file + Bytes(3, static_cast<std::uint8_t>(
                                       gray_of_marked(x, static_cast<int>(downward ? row : rows - 1 - row))));
    return file;
}

/// Of `bits` a pixel and 48×32 pixels, with masks behind a header of `header` bytes, or in it; without pixels.
Bytes bmp_masks(std::uint32_t header, std::uint32_t bits, const std::array<std::uint32_t, 4>& masks) {
    const std::uint32_t place = 14 + std::max(header, 52u), pixels = 48 * 32 * bits / 8;
    Bytes file = text("BM") + little(place + pixels, 4) + little(0, 4) + little(place, 4) +
                 little(header, 4) + little(48, 4) + little(32, 4) + little(1, 2) + little(bits, 2) +
                 little(3, 4) + Bytes(20, 0);
    for (const std::uint32_t mask : masks)
        file = file + little(mask, 4);
    file.resize(place);
    return file;
}

/// 32 bits a pixel; the fourth byte, which has no mask, is 0.
Bytes bmp_with_masks(std::uint32_t header, std::uint32_t red = 0xff0000) {
    Bytes file = bmp_masks(header, 32, {red, 0xff00, 0xff, 0});
    for (int y = 31; y >= 0; --y)
        for (int x = 0; x < 48; ++x)
            file = file + Bytes(3, static_cast<std::uint8_t>(gray_of_marked(x, y))) + Bytes{0};
    return file;
}

/// 5, 6 and 5 bits, or 5 each and one of opacity.
Bytes bmp_of_16_bits(std::uint32_t header, bool opacity) {
    const std::array<std::uint32_t, 4> masks = {0xf800, 0x7e0, 0x1f, 0},
                                       other = {0x7c00, 0x3e0, 0x1f, 0x8000};
    Bytes file = bmp_masks(header, 16, opacity ? other : masks);
    for (int y = 31; y >= 0; --y)
        for (int x = 0; x < 48; ++x) {
            const auto gray = static_cast<std::uint32_t>(gray_of_marked(x, y));
            file = file + little(gray >> 3 << 11 | gray >> 2 << 5 | gray >> 3, 2);
        }
    return file;
}

std::string corners(const Bytes& bytes) {
    return knn::test::corners(knn::decode_picture(bytes, "it"));
}

Bytes palette(std::uint8_t depth) {
    // Entry 0 is red and not used; 3 is transparent green, which shows the paper.
    const Bytes colors = chunk("PLTE", {255, 0, 0, 0, 0, 0, 128, 128, 128, 0, 255, 0});
    return png(depth, palette_png, colors + chunk("tRNS", {255, 255, 255, 0}), png_rows(depth, [](int gray) {
                   return gray == 0 ? 1u : gray == 128 ? 2u : 3u;
               }));
}

}  // namespace

TEST_CASE("picture formats: palettes, gray with alpha, gray of 1 to 16 bits") {
    for (const int depth : {1, 2, 4, 8, 16}) {
        CAPTURE(depth);
        const std::uint64_t full = (1u << depth) - 1;
        const Bytes rows =
            png_rows(depth, [&](int gray) { return (std::uint64_t(gray) * full + 127) / 255; });
        CHECK(corners(png(std::uint8_t(depth), gray_png, {}, rows)) == (depth == 1 ? "bwww" : "bgww"));
        // Of a gray that is transparent the paper shows.
        const Bytes ink = png_rows(depth, [&](int gray) { return gray == 0 ? 0u : 1u; });
        const Bytes clear = chunk("tRNS", {0, 1});
        CHECK(corners(png(std::uint8_t(depth), gray_png, clear, ink)) == "bwww");
        if (depth >= 8) {  // black ink with the picture in its opacity
            const Bytes opacity = png_rows(2 * depth, [&](int gray) { return (255 - gray) * full / 255; });
            CHECK(corners(png(std::uint8_t(depth), gray_alpha_png, {}, opacity)) == "bgww");
        }
        if (depth >= 2 && depth <= 8) CHECK(corners(palette(std::uint8_t(depth))) == "bgww");
    }
}

TEST_CASE("picture formats: PBM, as text and packed, PGM, and BMP from either end") {
    Bytes unended = pbm(true);
    REQUIRE(unended.back() == ' ');
    unended.pop_back();  // nothing behind the last digit
    for (const Bytes& two_levels : {pbm(true), pbm(false), unended})
        CHECK(corners(two_levels) == "bwww");
    for (const int most : {255, 65535}) {
        CAPTURE(most);
        CHECK(corners(pgm_up_to(most)) == "bgww");
    }
    // Digits of comments are no numbers.
    const auto with = [](const char* header, const Bytes& file, std::size_t samples) {
        return text(header) + Bytes(file.begin() + std::ptrdiff_t(samples), file.end());
    };
    for (const char* header : {"P5#7 1\n48 32\n255\n", "P5\n48#7 1\n32\n255\n", "P5\n48 32#7 1\n255\n",
                               "P5\n48 32\n255#7 1\n", "P5\n48 32 255#7 1\r"})
        CHECK(corners(with(header, pgm_up_to(255), 13)) == "bgww");
    for (const char* header : {"P1#7 1\n48 32\n", "P1\n48#7 1\n32\n", "P1\n48 32#7 1\n"})
        CHECK(corners(with(header, pbm(true), 21)) == "bwww");
    CHECK(corners(with("P1\n48 32\n1#7 1\n", pbm(true), 23)) == "bwww");  // behind the first sample
    for (const bool downward : {false, true})
        CHECK(corners(bmp(downward)) == "bgww");
}

TEST_CASE("picture formats: the fourth byte of a BMP of 32 bits is no opacity unless it has a mask") {
    for (const std::uint32_t header : {40u, 52u, 56u, 108u, 124u}) {
        CAPTURE(header);
        CHECK(corners(bmp_with_masks(header)) == "bgww");
    }
    CHECK(knn::test::contains(error_of(bmp_with_masks(40, 0xff000000)), "of a usual kind"));
}

TEST_CASE("picture formats: the masks of a BMP of 16 bits, behind its header or in it") {
    for (const std::uint32_t header : {40u, 52u, 56u, 108u, 124u}) {
        CAPTURE(header);
        CHECK(corners(bmp_of_16_bits(header, false)) == "bgww");
    }
    CHECK(knn::test::contains(error_of(bmp_of_16_bits(108, true)), "of a usual kind"));
}

TEST_CASE("picture formats: CMYK JPEG") {
    CHECK(corners(from_hex(cmyk_of_adobe)) == "bgww");
    CHECK(corners(from_hex(ycck_of_adobe)) == "bgww");
    CHECK(knn::test::contains(error_of(from_hex(cmyk_without_marker)), "CMYK JPEG without Adobe's marker"));
}

TEST_CASE("picture formats: of a TIFF's tag that is there twice, and of an animation, the first") {
    const Bytes twice = tiff(1, 256);
    CHECK(knn::decode_picture(twice, "it").cols == 48);
    CHECK(knn::picture_header(twice)->cols == 48);
    CHECK(corners(animated_png()) == "bgww");
    CHECK(corners(animated_webp()) == "bgww");
}

TEST_CASE("picture formats: all eight orientations, of JPEG, PNG, WebP and TIFF") {
    // Positions of the stored corners, clockwise b g w w, in the upright picture (EXIF 2.3, table 6).
    const char* expected[] = {"bgww", "gbww", "wwbg", "wwgb", "bwwg", "wbgw", "wgbw", "gwwb"};
    const Bytes still = encoded(".webp", marked(), {cv::IMWRITE_WEBP_QUALITY, 101}), jpeg = encoded(".jpg");
    const Bytes gray = png_rows(8, [](int value) { return std::uint64_t(value); });
    for (std::uint8_t turn = 1; turn <= 8; ++turn) {
        CAPTURE(int(turn));
        const Bytes start(jpeg.begin(), jpeg.begin() + 2), rest(jpeg.begin() + 2, jpeg.end());
        const Bytes segment = Bytes{0xff, 0xe1, 0, 34} + text(std::string_view("Exif\0\0", 6)) + exif(turn);
        const Picture upright = knn::decode_picture(start + segment + rest, "it");
        CHECK(upright.cols == (turn >= 5 ? 32 : 48));
        CHECK(knn::test::corners(upright) == expected[turn - 1]);
        CHECK(corners(png(8, gray_png, chunk("eXIf", exif(turn)), gray)) == expected[turn - 1]);
        CHECK(corners(png(8, gray_png, chunk("eXIf", exif(turn, true)), gray)) == expected[turn - 1]);
        CHECK(corners(png(8, gray_png, chunk("eXIf", exif(turn, false, 2)), gray)) == "bgww");
        CHECK(corners(tiff(turn)) == expected[turn - 1]);
        CHECK(corners(tiff(turn, 278, 4)) == expected[turn - 1]);
        CHECK(corners(tiled_tiff(turn)) == expected[turn - 1]);
        const Bytes chunks = text("WEBPVP8X") + little(10, 4) + little(8, 4) + little(47, 3) + little(31, 3) +
                             Bytes(still.begin() + 12, still.end()) + text("EXIF") + little(26, 4) +
                             exif(turn);
        CHECK(corners(text("RIFF") + little(chunks.size(), 4) + chunks) == expected[turn - 1]);
    }
}

TEST_CASE("picture formats: a TIFF whose white is 0") {
    for (const std::uint32_t bits : {8u, 16u}) {
        Bytes data;
        for (int y = 0; y < 32; ++y)
            for (int x = 0; x < 48; ++x)
                data = data + Bytes(bits / 8, static_cast<std::uint8_t>(255 - gray_of_marked(x, y)));
        CHECK(corners(strip_tiff(bits, 0, 1, data)) == "bgww");
    }
}

TEST_CASE("picture formats: the fourth sample of a TIFF of 16 bits is opacity only if it says so") {
    constexpr std::uint32_t unspecified = 0, weighted = 1, opacity = 2;
    const auto file = [](std::uint32_t fourth, const std::function<std::uint16_t(std::uint16_t gray)>& color,
                         const std::function<std::uint16_t(std::uint16_t gray)>& last) {
        Bytes data;
        for (int y = 0; y < 32; ++y)
            for (int x = 0; x < 48; ++x) {
                const auto gray = static_cast<std::uint16_t>(257 * gray_of_marked(x, y));
                for (const auto sample : {color(gray), color(gray), color(gray), last(gray)})
                    data = data + little(sample, 2);
            }
        return strip_tiff(16, 2, 4, data, {{338, 3, fourth}});
    };
    const auto same = [](std::uint16_t gray) { return gray; };
    const auto none = [](std::uint16_t) { return std::uint16_t{0}; };
    const auto ink = [](std::uint16_t gray) { return static_cast<std::uint16_t>(65535 - gray); };
    CHECK(corners(file(unspecified, same, none)) == "bgww");
    CHECK(corners(file(opacity, none, ink)) == "bgww");
    CHECK(corners(file(weighted, same, same)) == "bgww");  // white with the picture in its opacity, on black
}

TEST_CASE("picture formats: a TIFF of 16 bits with a plane for each color is refused") {
    const auto planes = [](std::uint32_t bits, std::uint32_t together) {
        return tiff_of({{256, 4, 1},
                        {257, 4, 1},
                        {258, 3, bits},
                        {259, 3, 1},
                        {262, 3, 2},
                        {273, 4, place_of_pixels},
                        {277, 3, 3},
                        {278, 4, 1},
                        {279, 4, 6},
                        {284, 3, together}},
                       Bytes(18));
    };
    CHECK(knn::test::contains(error_of(planes(16, 2)), "planes of more than 8 bits"));
    CHECK_FALSE(knn::test::contains(error_of(planes(16, 1)), "planes"));
    CHECK_FALSE(knn::test::contains(error_of(planes(8, 2)), "planes"));
}

TEST_CASE("picture formats: cut short at every hundredth of their length") {
    cv::Mat noisy(64, 64, CV_8UC3);
    cv::RNG(1).fill(noisy, cv::RNG::UNIFORM, 0, 255);
    std::vector<std::pair<const char*, Bytes>> files = {
        {"palette", palette(4)},
        {"APNG", animated_png()},
        {"WebP animation", animated_webp()},
        {"CMYK", from_hex(cmyk_of_adobe)},
        {"progressive", encoded(".jpg", marked(), {cv::IMWRITE_JPEG_PROGRESSIVE, 1})},
        {"PBM", pbm(false)},
        {"PGM of 16 bits", pgm_up_to(65535)},
        {"TIFF", tiff(1)}};
    for (const char* format : {".png", ".jpg", ".bmp", ".tiff", ".webp", ".ppm"})
        files.emplace_back(format, encoded(format, noisy));
    for (const auto& file : files) {
        REQUIRE(error_of(file.second).empty());
        for (std::size_t percent = 0; percent < 100; ++percent) {
            CAPTURE(file.first);
            CAPTURE(percent);
            const Bytes& whole = file.second;
            const Bytes part(whole.begin(), whole.begin() + std::ptrdiff_t(whole.size() * percent / 100));
            CHECK_FALSE(error_of(part).empty());
        }
    }
}

TEST_CASE("picture formats: a TIFF of damaged data, or packed in an unknown way, is no blank picture") {
    cv::Mat noisy(64, 64, CV_8U);
    cv::RNG(1).fill(noisy, cv::RNG::UNIFORM, 0, 255);
    for (const int packing : {5, 8}) {  // LZW, deflate
        Bytes file = encoded(".tiff", noisy, {cv::IMWRITE_TIFF_COMPRESSION, packing});
        CHECK(error_of(file).empty());
        std::fill(file.begin() + 500, file.begin() + 1500, std::uint8_t{0xff});
        CHECK(knn::test::contains(error_of(file), "is damaged or cut short"));
    }
    Bytes fax = tiff(1);
    fax[42] = 1, fax[54] = 4, fax[126] = 7, fax[127] = 0;  // the tags 258, 259 and 279
    fax.resize(134);
    const Bytes white_lines{0xff, 0xff, 0xff, 0xff, 0, 0x10, 1},
        line_of_63{0x26, 0x81, 0xbf, 0xff, 0xff, 0xff, 0xf0};
    CHECK(error_of(fax + white_lines).empty());
    CHECK(error_of(fax + line_of_63).find("is damaged or cut short") != std::string::npos);
    Bytes unknown = tiff(1);
    REQUIRE(unknown[46] == 3);  // the tag 259
    unknown[55] = 3;            // 769
    CHECK(knn::test::contains(error_of(unknown), "of a usual kind"));
    CHECK(corners(tiff(0)) == "bgww");  // an orientation that there is not
}

TEST_CASE("picture formats: what is not read says what to do") {
    for (const char* start : {"GIF87a", "GIF89a", "%PDF-1.7", "<svg xmlns=", "<?xml version="})
        CHECK(knn::test::contains(error_of(text(start)), "convert it to PNG first"));
    for (const auto& [brand, error] :
         {std::pair{"heic", "is a HEIF file"}, {"hevx", "is a HEIF file"}, {"avif", "is an AVIF file"}})
        CHECK(knn::test::contains(error_of(big32(24) + text("ftyp") + text(brand)), error));
}
