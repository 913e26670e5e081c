#include "data/picture/picture_header.h"
#include "tests/support/test.h"

using namespace knn;
using namespace std::literals;

namespace {

PictureHeader header_of(std::string_view bytes) {
    const auto header = picture_header({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    REQUIRE(header.has_value());
    return *header;
}

void check(std::string_view bytes, std::int64_t rows, std::int64_t cols) {
    const PictureHeader header = header_of(bytes);
    CAPTURE(header.format);
    CHECK(header.rows == rows);
    CHECK(header.cols == cols);
    CHECK(!header.cut_short);
    CHECK(header_of(bytes.substr(0, bytes.size() - 1)).cut_short);
}

}  // namespace

TEST_CASE("picture header: rows and columns, and whether the last byte is there") {
    check("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\1\2\0\0\3\4\x08\0\0\0\0crc_\0\0\0\0IENDcrc_"sv, 0x304, 0x102);
    check("\xff\xd8\xff\xc0\0\x0b\x08\3\4\1\2\1\1\x11\0\xff\xd9"sv, 0x304, 0x102);
    check(
        "II*\0\x08\0\0\0\4\0\0\1\3\0\1\0\0\0\2\1\0\0"  // width, 16 bits
        "\1\1\4\0\1\0\0\0\4\3\0\0"                     // length, 32 bits
        "\x11\1\4\0\1\0\0\0\x3a\0\0\0"                 // one strip, at byte 58
        "\x17\1\4\0\1\0\0\0\2\0\0\0"                   // of two bytes
        "ab"sv,
        0x304, 0x102);
    check("P4\n9 3\nabcdef"sv, 3, 9);
    check("P5\n2 3\n255\nabcdef"sv, 3, 2);
    check("P5\n1 3\n256\nabcdef"sv, 3, 1);
    check("P6\n1 2\n255\nabcdef"sv, 2, 1);
}

TEST_CASE("picture header: the scans of a JPEG are counted up to its end") {
    const std::string frame = "\xff\xd8\xff\xc2\0\x0b\x08\0\x08\0\x08\1\1\x11\0"s;
    const std::string scan = "\xff\xda\0\x08\1\1\0\0\1\0\x55\xff\0\xff\xd0"s;
    const std::string comment = "\xff\xfe\0\x04\xff\xda"s;  // no scan
    CHECK(header_of(frame + scan + "\xff\xd9"s).scans == 1);
    CHECK(header_of(frame + scan + comment + scan + scan + "\xff\xd9"s + scan).scans == 3);
}

TEST_CASE("picture header: samples of an unusual range") {
    for (const auto& [text, odd] : {std::pair("P5\n1 2\n300\n\1\1\1\1"sv, true),
                                    {"P5\n1 2\n1\n\1\1"sv, true},
                                    {"P5\n1 2\n255\n\1\1"sv, false},
                                    {"P2\n1 1\n7\n5\n"sv, false},
                                    {"P2\n1 1\n256\n5\n"sv, true},
                                    {"P3\n1 1\n1023\n5 5 5\n"sv, true},
                                    {"P3\n1 1\n65535\n5 5 5\n"sv, false},
                                    {"P1\n1 1\n1\n"sv, false}})
        CHECK(header_of(text).odd_range == odd);
}

TEST_CASE("picture header: a PNG is decoded without its compressed texts, and its data must fit its size") {
    const auto chunk = [](const std::string& type, const std::string& data) {
        return "\0\0\0"s + static_cast<char>(data.size()) + type + data + "crc_";
    };
    const std::string begin = "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\1\0\0\0\1\x08\0\0\0\0crc_"s,
                      data = chunk("IDAT", "zTXt"), plain = chunk("tEXt", "kept"), end = chunk("IEND", "");
    const auto texts = header_of(begin + chunk("zTXt", "one") + chunk("iTXt", "") + plain + data +
                                 chunk("zTXt", "two") + end + "after");
    CHECK(std::string(texts.still.begin(), texts.still.end()) == begin + plain + data + end);
    CHECK(!texts.cut_short);
    CHECK(header_of(begin + plain + data + end).still.empty());
    CHECK(header_of(begin + chunk("zTXt", "one") + data).cut_short);
    std::string much = begin;
    for (int i = 0; i < 700; ++i)
        much += chunk("IDAT", std::string(100, 'a'));
    CHECK(header_of(much + end).padded);
    std::string without_bits = begin + chunk("tRNS", "\0\5"s) + data + end;
    CHECK(header_of(without_bits).opacity.transparent == 5);
    without_bits[24] = 0;  // no depth has no bits
    CHECK(!header_of(without_bits).cut_short);
    much[20] = 1;  // 16,777,217 columns
    CHECK(!header_of(much + end).padded);
}
