#include "data/picture/picture_header.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace knn {

namespace {

/// Numbers in a file's bytes, by offset; bytes outside of the file read as zero. Never reads past the end, whatever the
/// offsets say; they come from the file itself.
class BytesView {
  public:
    explicit BytesView(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    std::uint64_t size() const { return bytes_.size(); }
    bool has(std::uint64_t at, std::uint64_t length) const {
        return at <= bytes_.size() && length <= bytes_.size() - at;
    }
    /// Up to `length` bytes from `at`, as many of them as there are.
    BytesView from(std::uint64_t at, std::uint64_t length) const {
        if (at > bytes_.size()) return BytesView({});
        return BytesView(bytes_.subspan(at, std::min<std::uint64_t>(length, bytes_.size() - at)));
    }
    bool is(std::string_view text, std::uint64_t at) const {
        return has(at, text.size()) &&
               std::equal(text.begin(), text.end(), bytes_.data() + at,
                          [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
    }
    std::span<const std::uint8_t> bytes() const { return bytes_; }
    std::vector<std::uint8_t> copy() const { return {bytes_.begin(), bytes_.end()}; }
    std::uint32_t u8(std::uint64_t at) const { return has(at, 1) ? bytes_[at] : 0; }
    std::uint32_t u16(std::uint64_t at, bool big_endian) const {
        const std::uint32_t a = u8(at), b = u8(at + 1);
        return big_endian ? a << 8 | b : b << 8 | a;
    }
    std::uint32_t u32(std::uint64_t at, bool big_endian) const {
        const std::uint32_t a = u16(at, big_endian), b = u16(at + 2, big_endian);
        return big_endian ? a << 16 | b : b << 16 | a;
    }

  private:
    std::span<const std::uint8_t> bytes_;
};

/// Where the first directory of a TIFF has its first entry with one of two tags, which libtiff takes; 0: nowhere.
std::uint64_t tiff_entry(const BytesView& tiff, std::uint32_t tag, std::uint32_t other) {
    const bool big = tiff.is("MM", 0);
    const std::uint64_t directory = tiff.u32(4, big), count = tiff.u16(directory, big);
    for (std::uint64_t entry = 0; entry < count; ++entry) {
        const std::uint64_t at = directory + 2 + 12 * entry;
        if (!tiff.has(at, 12)) break;
        if (const std::uint32_t found = tiff.u16(at, big); found == tag || found == other) return at;
    }
    return 0;
}

/// Entry `index` of a TIFF value of 16 or 32 bits; values of up to 4 bytes are in the directory itself.
std::uint64_t tiff_value(const BytesView& file, std::uint64_t entry, std::uint64_t index, bool big) {
    const std::uint64_t type = file.u16(entry + 2, big), count = file.u32(entry + 4, big);
    const std::uint64_t size = type == 3 ? 2 : 4;
    const std::uint64_t at = (count * size <= 4 ? entry + 8 : file.u32(entry + 8, big)) + index * size;
    return size == 2 ? file.u16(at, big) : file.u32(at, big);
}

/// The orientation (tag 274) in a TIFF, the format of EXIF. 1 if there is none.
int orientation_of(const BytesView& tiff) {
    const bool big = tiff.is("MM", 0);
    const std::uint64_t entry = tiff_entry(tiff, 274, 274);
    const std::uint64_t value =
        entry > 0 && tiff.u32(entry + 4, big) == 1 ? tiff_value(tiff, entry, 0, big) : 1;
    return value >= 1 && value <= 8 ? int(value) : 1;
}

// PNG (W3C, third edition): chunks of length, type, data, CRC; IHDR first, IEND last; eXIf holds EXIF. Compressed texts are
// left out of what is decoded: libpng unpacks each, to 8 MB at most, and keeps a thousand of them.
PictureHeader png(const BytesView& file) {
    PictureHeader header("PNG");
    header.cut_short = true;
    header.cols = file.u32(16, true);
    header.rows = file.u32(20, true);
    constexpr std::array channels = {1, 1, 3, 1, 2, 1, 4, 1};  // by type of color
    const double row_bytes = double(header.cols) * file.u8(24) * channels[file.u8(25) % 8] / 8 + 4;
    std::uint64_t at = 8, kept_from = 0, packed = 0;
    const auto keep_to = [&](std::uint64_t end) {
        const auto kept = file.from(kept_from, end - kept_from).bytes();
        header.still.reserve(file.size());
        header.still.insert(header.still.end(), kept.begin(), kept.end());
    };
    while (file.has(at, 12)) {
        const std::uint64_t length = file.u32(at, true), end = at + 12 + length;
        if (!file.has(at, 12 + length)) break;
        if (file.is("tRNS", at + 4) && file.u8(25) == 0 &&
            packed == 0) {  // one gray, which OpenCV leaves out
            const unsigned depth = std::clamp<unsigned>(file.u8(24), 1, 16), most = (1u << depth) - 1,
                           gray = file.u16(at + 8, true) & most;
            header.opacity.transparent = int(depth < 8 ? gray * 255 / most : gray);
        }
        if (file.is("eXIf", at + 4)) header.orientation = orientation_of(file.from(at + 8, length));
        if (file.is("zTXt", at + 4) || file.is("iTXt", at + 4)) {
            keep_to(at);
            kept_from = end;
        }
        if (file.is("IDAT", at + 4)) packed += length;
        if (file.is("IEND", at + 4)) {
            header.cut_short = false;
            header.padded = double(packed) > 65536 + 1.25 * row_bytes * double(header.rows);
            if (kept_from > 0) keep_to(end);
            break;
        }
        at = end;
    }
    return header;
}

// JPEG (ITU-T T.81, annex B): segments that begin with FF and a code. Entropy-coded data follows SOS (DA);
// there FF is followed by 00 or by a restart marker (D0 to D7). EOI (D9) ends the picture.
PictureHeader jpeg(const BytesView& file) {
    PictureHeader header("JPEG");
    header.cut_short = true;
    bool adobe = false;  // its marker means that four components are CMYK, stored inverted
    std::uint32_t colors = 0;
    for (std::uint64_t at = 2; file.has(at, 2);) {
        const unsigned code = file.u8(at + 1);
        const bool marker = file.u8(at) == 0xff && code != 0x00 && code != 0xff;
        if (!marker || code == 0x01 || (code >= 0xd0 && code <= 0xd8)) {
            at += file.u8(at) == 0xff && code != 0xff ? 2 : 1;
            continue;
        }
        if (code == 0xd9) {
            header.cut_short = false;
            break;
        }
        const std::uint64_t length = file.u16(at + 2, true);
        const bool frame = code >= 0xc0 && code <= 0xcf && code != 0xc4 && code != 0xc8 && code != 0xcc;
        if (frame && header.cols == 0) {
            header.rows = file.u16(at + 5, true);
            header.cols = file.u16(at + 7, true);
            colors = file.u8(at + 9);
        }
        header.scans += code == 0xda;
        adobe = adobe || (code == 0xee && file.is("Adobe", at + 4));
        if (code == 0xe1 && file.is(std::string_view("Exif\0\0", 6), at + 4) && length > 8)
            header.orientation = orientation_of(file.from(at + 10, length - 8));
        at += 2 + length;
    }
    header.unclear_colors = colors == 4 && !adobe;
    return header;
}

// BMP: the file header's offset of the pixels, then the size in 32 (OS/2: 16) bits; rows < 0 run downward.
PictureHeader bmp(const BytesView& file) {
    PictureHeader header("BMP");
    const std::uint32_t size = file.u32(14, false);
    const bool old = size == 12;
    header.cols = std::int32_t(old ? file.u16(18, false) : file.u32(18, false));
    header.rows = std::int32_t(old ? file.u16(20, false) : file.u32(22, false));
    header.rows = header.rows < 0 ? -header.rows : header.rows;
    const std::uint64_t bits = file.u16(old ? 24 : 28, false), packing = old ? 0 : file.u32(30, false);
    const bool plain = packing == 0 || packing == 3;
    const bool usual = header.cols > 0 && header.rows > 0 && bits <= 64;
    const std::uint64_t row = usual ? (std::uint64_t(header.cols) * bits + 31) / 32 * 4 : 0;
    header.cut_short = !file.has(10, 20) ||
                       (plain && usual && !file.has(file.u32(10, false), row * std::uint64_t(header.rows)));
    // OpenCV reads the masks of 32 bits in headers of 56 bytes and more alone: without them it takes the fourth byte for opacity.
    if (packing == 3 && bits == 32 && size < 56) {
        constexpr std::uint8_t no_masks = 0, unknown = 255;
        const bool usual_masks =
            file.u32(54, false) == 0xff0000 && file.u32(58, false) == 0xff00 && file.u32(62, false) == 0xff;
        header.still = file.copy();
        header.still[30] = usual_masks ? no_masks : unknown;
    }
    // Of 16 bits it reads them behind the header alone, which for one of 40 bytes is where longer ones have them.
    const std::uint32_t opacity = size >= 56 ? file.u32(66, false) : 0;
    if (packing == 3 && bits == 16 && size >= 52 && opacity == 0) {
        header.still = file.copy();
        header.still[14] = 40;
    }
    return header;
}

// TIFF 6.0: a directory of tagged values; strips (273, 279) or tiles (324, 325) must lie within the file.
PictureHeader tiff(const BytesView& file) {
    PictureHeader header("TIFF");
    const bool big = file.is("MM", 0);
    const std::uint64_t directory = file.u32(4, big), count = file.u16(directory, big);
    header.cut_short = count == 0 || !file.has(directory, 2 + 12 * count);
    header.orientation = orientation_of(file);
    if (header.orientation != 1) {  // libtiff mixes up tiles that it turns
        header.still = file.copy();
        const std::uint64_t entry = tiff_entry(file, 274, 274), size = file.u16(entry + 2, big) == 3 ? 2 : 4;
        std::uint8_t* const value = header.still.data() + entry + 8;
        std::fill_n(value, size, std::uint8_t{0});
        value[big ? size - 1 : 0] = 1;
    }
    const auto side = [&](std::uint32_t tag) {
        const std::uint64_t entry = tiff_entry(file, tag, tag);
        return entry > 0 ? std::int64_t(tiff_value(file, entry, 0, big)) : 0;
    };
    header.cols = side(256);
    header.rows = side(257);
    header.tile_cols = side(322);
    header.tile_rows = side(323);
    header.weight = std::max<std::int64_t>(1, (side(258) * std::max<std::int64_t>(1, side(277)) + 63) / 64);
    const bool wide = side(258) > 8;  // which OpenCV reads itself; of others libtiff weights the colors
    header.opacity = {.none = wide && side(338) == 0, .weighted = !wide || side(338) == 1};
    header.negative = side(262) == 0 && wide;
    header.apart = side(284) == 2 && side(277) > 1 && wide;
    const std::uint64_t offsets = tiff_entry(file, 273, 324), sizes = tiff_entry(file, 279, 325);
    if (offsets == 0 || sizes == 0) return header;
    const auto parts =
        std::min<std::uint64_t>({file.u32(offsets + 4, big), file.u32(sizes + 4, big), file.size()});
    for (std::uint64_t part = 0; part < parts && !header.cut_short; ++part)
        header.cut_short =
            !file.has(tiff_value(file, offsets, part, big), tiff_value(file, sizes, part, big));
    return header;
}

// WebP container: RIFF chunks with even sizes. The picture size is in VP8X, VP8L or VP8; ANMF holds one frame
// of an animation, which is converted to a file of its own.
void webp_frame(const BytesView& file, std::uint64_t at, std::uint64_t length, PictureHeader& header) {
    if (length < 24 || !header.still.empty()) return;
    std::vector<std::uint8_t>& still = header.still;
    const auto put = [&](const auto& bytes) {
        for (const auto byte : bytes)
            still.push_back(std::uint8_t(byte));
    };
    const auto put32 = [&](std::uint64_t value) {
        for (int i = 0; i < 4; ++i)
            still.push_back(std::uint8_t(value >> (8 * i)));
    };
    const BytesView chunks = file.from(at + 16, length - 16);
    still.reserve(30 + chunks.size());
    put(std::string_view("RIFF"));
    put32(4 + 18 + chunks.size());
    put(std::string_view("WEBPVP8X"));
    put32(10);
    put32(chunks.is("ALPH", 0) || chunks.is("VP8L", 0) ? 0x10 : 0);  // possibly transparent
    put(file.from(at + 6, 6).copy());                                // the frame's size
    put(chunks.copy());
    header.cols = 1 + std::int64_t(file.u32(at + 6, false) & 0xffffff);
    header.rows = 1 + std::int64_t(file.u32(at + 9, false) & 0xffffff);
}

PictureHeader webp(const BytesView& file) {
    PictureHeader header("WebP");
    header.cut_short = file.u32(4, false) + std::uint64_t{8} > file.size();
    for (std::uint64_t at = 12; file.has(at, 8);) {
        const std::uint64_t length = file.u32(at + 4, false), data = at + 8;
        if (file.is("VP8X", at)) {
            header.cols = 1 + std::int64_t(file.u32(data + 4, false) & 0xffffff);
            header.rows = 1 + std::int64_t((file.u32(data + 6, false) >> 8) & 0xffffff);
        } else if (file.is("VP8 ", at) && header.cols == 0) {
            header.cols = file.u16(data + 6, false) & 0x3fff;
            header.rows = file.u16(data + 8, false) & 0x3fff;
        } else if (file.is("VP8L", at) && header.cols == 0) {
            const std::uint32_t bits = file.u32(data + 1, false);
            header.cols = 1 + std::int64_t(bits & 0x3fff);
            header.rows = 1 + std::int64_t(bits >> 14 & 0x3fff);
        } else if (file.is("EXIF", at)) {
            // Some writers put the JPEG prefix "Exif" before the TIFF.
            const std::uint64_t prefix = file.is("Exif", data) ? 6 : 0;
            if (length > prefix)
                header.orientation = orientation_of(file.from(data + prefix, length - prefix));
        } else if (file.is("ANMF", at)) {
            header.cut_short = header.cut_short || !file.has(data, length);
            webp_frame(file, data, length, header);
        }
        at = data + length + length % 2;
    }
    return header;
}

bool ends_line(unsigned c) {
    return c == '\n' || c == '\r';
}

/// The file without the comments (# to the end of the line) that begin before `end`. Behind a number OpenCV takes their digits for
/// numbers, and in samples too.
std::vector<std::uint8_t> without_comments(const BytesView& file, std::uint64_t end) {
    std::vector<std::uint8_t> kept;
    kept.reserve(file.size() + 1);
    bool comment = false;
    for (std::uint64_t at = 0; at < file.size(); ++at) {
        const std::uint32_t c = file.u8(at);
        comment = at < end && (comment || c == '#') && !ends_line(c);
        if (!comment) kept.push_back(static_cast<std::uint8_t>(c));
    }
    return kept;
}

/// PNM: P1 to P6, then numbers between white space and comments (# to the end of the line).
PictureHeader pnm(const BytesView& file) {
    PictureHeader header("PNM");
    header.cut_short = true;
    const unsigned kind = file.u8(1) - '0';
    const int numbers = kind == 1 || kind == 4 ? 2 : 3;
    std::int64_t values[3] = {0, 0, 1};
    std::uint64_t at = 2;
    for (int i = 0; i < numbers; ++i) {
        for (bool comment = false; file.has(at, 1); ++at) {
            const unsigned c = file.u8(at);
            if (c == '#') comment = true;
            if (ends_line(c))
                comment = false;
            else if (!comment && c > ' ')
                break;
        }
        std::int64_t value = 0;
        for (; file.has(at, 1) && file.u8(at) >= '0' && file.u8(at) <= '9'; ++at)
            value = std::min<std::int64_t>(value * 10 + file.u8(at) - '0', 1'000'000'000);
        values[i] = value;
    }
    if (file.u8(at) == '#')
        while (file.has(at, 1) && !ends_line(file.u8(at)))
            ++at;
    const bool plain = kind <= 3;
    header.cols = values[0];
    header.rows = values[1];
    const auto most = std::uint64_t(values[2]);
    const std::uint64_t samples = std::uint64_t(values[0]) * (kind % 3 == 0 ? 3 : 1);
    const std::uint64_t row = kind == 4 ? (samples + 7) / 8 : samples * (most > 255 ? 2 : 1);
    const std::uint64_t size = row * std::uint64_t(values[1]);
    header.cut_short = !file.has(at, 1 + (plain ? 0 : size));
    header.odd_range = most != 65535 && (kind >= 5 ? most != 255 : most > 255);
    if (header.cut_short) return header;
    const auto begin = file.from(0, at).bytes();
    if (plain || std::ranges::find(begin, '#') != begin.end())
        header.still = without_comments(file, plain ? file.size() : at);
    if (plain) header.still.push_back('\n');  // OpenCV asks for one behind the last digit
    return header;
}

}  // namespace

std::optional<PictureHeader> picture_header(std::span<const std::uint8_t> bytes) {
    const BytesView file(bytes);
    if (file.is("\x89PNG\r\n\x1a\n", 0)) return png(file);
    if (file.is("\xff\xd8\xff", 0)) return jpeg(file);
    if (file.is(std::string_view("II*\0", 4), 0) || file.is(std::string_view("MM\0*", 4), 0))
        return tiff(file);
    if (file.is("RIFF", 0) && file.is("WEBP", 8)) return webp(file);
    if (file.is("BM", 0) &&
        (file.u32(14, false) == 12 || (file.u32(14, false) >= 40 && file.u32(14, false) <= 124)))
        return bmp(file);
    const bool pnm_kind = file.is("P", 0) && file.u8(1) >= '1' && file.u8(1) <= '6';
    if (pnm_kind && (file.u8(2) == '#' || (file.u8(2) <= ' ' && file.has(2, 1)))) return pnm(file);
    return std::nullopt;
}

std::string foreign_format(std::span<const std::uint8_t> bytes) {
    const BytesView file(bytes);
    if (file.is("GIF8", 0)) return "a GIF file";
    if (file.is("ftypavi", 4)) return "an AVIF file";
    for (const char* brand : {"ftyphe", "ftypmif1", "ftypmsf1"})
        if (file.is(brand, 4)) return "a HEIF file";
    if (file.is("%PDF", 0)) return "a PDF file";
    if (file.is("<svg", 0) || file.is("<?xml", 0)) return "an SVG or XML file";
    return "";
}

}  // namespace knn
