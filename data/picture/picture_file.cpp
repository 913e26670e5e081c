#include "data/picture/picture_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/transfer.h"
#include "data/picture/picture_header.h"
#include "data/picture/picture_module.h"

namespace knn {

namespace {

constexpr const char* expected_picture = "a picture (PNG, JPEG, BMP, TIFF, WebP or PNM)";

/// Enough for 100 megapixels with four 16-bit samples.
constexpr std::size_t max_file_bytes = std::size_t{1} << 30;

constexpr std::int64_t max_side = 1'000'000;  // of libpng; the other codecs have limits near

/// What a picture of the largest size needs.
constexpr std::int64_t all_bytes = max_picture_pixels * decoding_bytes_per_pixel;

/// At most `all_bytes`.
std::int64_t bytes_needed(const std::string& file) {
    struct stat status = {};
    if (file != "-" && ::stat(file.c_str(), &status) != 0) return 0;  // reading it tells why
    if (file == "-" || !S_ISREG(status.st_mode)) return all_bytes;
    constexpr std::int64_t beginning = 1 << 18;  // has the size of a photo behind its thumbnail
    std::vector<std::uint8_t> bytes(
        static_cast<std::size_t>(std::min<std::int64_t>(beginning, status.st_size)));
    std::ifstream stream(file, std::ios::binary);
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(stream.gcount()));
    const std::optional<PictureHeader> header = picture_header(bytes);
    const std::int64_t file_bytes =
        std::min<std::int64_t>(2 * status.st_size, all_bytes);  // and PictureHeader::still
    if (!header) return file_bytes;                             // it is refused
    if (header->rows <= 0 || header->cols <= 0 || !header->fits(max_picture_pixels)) return all_bytes;
    return std::min(all_bytes, file_bytes + header->pixels() * decoding_bytes_per_pixel);
}

[[noreturn]] void fail(const std::string& name, const std::string& what,
                       const std::string& instead = expected_picture) {
    throw DataError(name + ": " + what + "; expected " + instead);
}

PictureHeader header_of(std::span<const std::uint8_t> bytes, const std::string& name) {
    if (std::optional<PictureHeader> header = picture_header(bytes)) return std::move(*header);
    const std::string foreign = foreign_format(bytes);
    if (foreign.empty()) fail(name, "is not a picture in a supported format");
    fail(name, "is " + foreign + ", which is not supported", "a picture: convert it to PNG first");
}

/// The whole file, if its beginning is that of a picture: a device may have no end.
std::vector<std::uint8_t> content_of(int descriptor, const std::string& name) {
    struct stat found {};
    if (::fstat(descriptor, &found) != 0) fail_to_read(name, errno, expected_picture);
    if (S_ISDIR(found.st_mode)) fail(name, "is a folder");

    constexpr std::size_t beginning = 4096;
    const auto whole = static_cast<std::size_t>(std::max<off_t>(found.st_size, 65535)) + 1;
    std::vector<std::uint8_t> bytes(beginning);
    for (std::size_t size = 0;;) {
        if (size > max_file_bytes || whole > max_file_bytes + 1)
            fail(name, "is larger than 1 GiB", "a picture of at most 100 megapixels");
        if (size == beginning) header_of(bytes, name);
        if (size == bytes.size()) bytes.resize(std::min(std::max(whole, 2 * size), max_file_bytes + 1));
        const ssize_t got = read_some(descriptor, std::span(bytes).subspan(size));
        if (got < 0) fail_to_read(name, errno, expected_picture);
        size += static_cast<std::size_t>(got);
        if (got > 0) continue;
        bytes.resize(size);
        return bytes;
    }
}

void check(const PictureHeader& header, const std::string& name) {
    const auto size_text = [](std::int64_t cols, std::int64_t rows) {
        return std::to_string(cols) + "x" + std::to_string(rows) + " pixels";
    };
    const std::string size = size_text(header.cols, header.rows);
    if (header.cut_short) fail(name, "is cut short", "a whole " + header.format + " file");
    if (header.rows <= 0 || header.cols <= 0) fail(name, "has a size of " + size);
    if (header.rows > max_picture_pixels / header.cols) fail(name, "has " + size, "at most 100 megapixels");
    if (header.rows > max_picture_pixels / header.weight / header.cols)
        fail(name, "has " + size + " of " + with_commas(8 * header.weight) + " bytes", "at most 800 MB");
    if (!header.fits(max_picture_pixels))
        fail(name, "has tiles of " + size_text(header.tile_cols, header.tile_rows), "at most 100 megapixels");
    if (std::max(header.rows, header.cols) > max_side)
        fail(name, "has " + size, "at most 1,000,000 in a row or column");
    if (header.odd_range)
        fail(name, "has samples of another range", "a PNM whose largest sample is declared as 255 or 65535");
    if (header.apart)
        fail(name, "has planes of more than 8 bits, one for each color",
             "a TIFF with the colors of a pixel together");
    if (header.padded) fail(name, "has more data than its pixels", "a usual PNG");
    // Each scan of a progressive JPEG is a pass over all pixels, even if it has 20 bytes. 10 are usual; 100 is libtiff's limit.
    const std::int64_t max_scans =
        std::min<std::int64_t>(100, 20 * max_picture_pixels / (header.rows * header.cols));
    if (header.scans > max_scans)
        fail(name, "has " + with_commas(header.scans) + " scans",
             "a JPEG of this size with at most " + std::to_string(max_scans));
    if (header.unclear_colors)
        fail(name, "is a CMYK JPEG without Adobe's marker, so that its colors are not known",
             "gray, RGB or Adobe's CMYK");
}

/// The eight orientations of EXIF: how the stored rows and columns lie in the upright picture.
Picture upright(Picture stored, int orientation) {
    if (orientation <= 1 || orientation > 8) return stored;
    const bool transposed = orientation >= 5;
    const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    Picture result{transposed ? stored.cols : stored.rows, transposed ? stored.rows : stored.cols, {}};
    result.gray.resize(stored.gray.size());
    std::uint8_t* to = result.gray.data();
    for (int row = 0; row < result.rows; ++row)
        for (int col = 0; col < result.cols; ++col) {
            int y = transposed ? col : row, x = transposed ? row : col;
            if (from_bottom) y = stored.rows - 1 - y;
            if (from_right) x = stored.cols - 1 - x;
            *to++ = stored.gray[static_cast<std::size_t>(y) * static_cast<std::size_t>(stored.cols) +
                                static_cast<std::size_t>(x)];
        }
    return result;
}

/// Whether so much memory can be had.
bool is_free(std::int64_t bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED && ::munmap(memory, size) == 0;
}

thread_local const char* in_codec = nullptr;

/// False, with `error`, if it cannot be decoded. Throws std::bad_alloc.
bool decode(std::span<const std::uint8_t> bytes, const Opacity& opacity, const std::string& name,
            Picture& picture, bool& damaged, std::string& error) {
    struct InCodec {
        std::string name;
        ~InCodec() { in_codec = nullptr; }
    };
    const InCodec guard{harmless(name)};
    in_codec = guard.name.c_str();
    const bool decoded =
        picture_module().decode(bytes.data(), bytes.size(), opacity, picture, damaged, error);
    if (!decoded && error.empty()) throw std::bad_alloc();
    return decoded;
}

}  // namespace

const char* picture_in_codec() noexcept {
    return in_codec;
}

Picture turned(Picture picture, int quarters) {
    constexpr std::array orientations = {1, 6, 3, 8};
    return upright(std::move(picture), orientations.at(static_cast<std::size_t>(quarters)));
}

void limit_codecs() {
    // The codecs' default limit is 2^30 pixels. Those that are set for other programs would make them refuse pictures without saying
    // why; where one is no number they crash.
    ::setenv("OPENCV_IO_MAX_IMAGE_PIXELS", std::to_string(max_picture_pixels).c_str(), 1);
    for (const char* side : {"OPENCV_IO_MAX_IMAGE_WIDTH", "OPENCV_IO_MAX_IMAGE_HEIGHT"})
        ::setenv(side, std::to_string(max_side).c_str(), 1);
}

Picture decode_picture(std::span<const std::uint8_t> bytes, const std::string& name) {
    if (bytes.empty()) fail(name, "is empty");
    const PictureHeader header = header_of(bytes, name);
    check(header, name);
    const std::span<const std::uint8_t> still = header.still.empty() ? bytes : std::span(header.still);

    Picture picture;
    bool damaged = false;
    std::string error;
    const bool decoded = decode(still, header.opacity, name, picture, damaged, error);
    // Codecs that lack memory give up and do not say why.
    if ((!decoded || damaged) && !is_free(header.pixels() * decoding_bytes_per_pixel)) throw std::bad_alloc();
    const std::string usual = "a whole " + header.format + " file of a usual kind";
    if (!decoded) fail(name, error, usual);
    if (damaged) fail(name, "is damaged or cut short", usual);
    if (header.negative)
        for (std::uint8_t& gray : picture.gray)
            gray = static_cast<std::uint8_t>(255 - gray);
    return upright(std::move(picture), header.orientation);
}

Picture read_picture(const std::string& file) {
    // On a FIFO without a writer a blocking open() would not return.
    const FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!descriptor.is_open()) fail_to_read(file, errno, expected_picture);
    return decode_picture(content_of(descriptor.number(), file), file);
}

Picture read_picture(int descriptor, const std::string& name) {
    return decode_picture(content_of(descriptor, name), name);
}

/// A part of the memory, for as long as it lives; waits for it.
class PictureMemory::Share {
  public:
    Share(PictureMemory& memory, std::int64_t bytes) : memory_(memory), bytes_(bytes) {
        std::unique_lock lock(memory_.mutex_);
        memory_.released_.wait(lock,
                               [&] { return memory_.used_ == 0 || memory_.used_ + bytes_ <= all_bytes; });
        memory_.used_ += bytes_;
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() {
        {
            const std::lock_guard lock(memory_.mutex_);
            memory_.used_ -= bytes_;
        }
        memory_.released_.notify_all();
    }

  private:
    PictureMemory& memory_;
    std::int64_t bytes_;
};

void PictureMemory::decode(const std::string& file, std::int64_t more_bytes,
                           const std::function<void()>& work) {
    const std::int64_t needed = std::min(all_bytes, bytes_needed(file) + more_bytes);
    try {
        const Share share(*this, needed);
        return work();
    } catch (const std::bad_alloc&) {
        if (needed == all_bytes) throw;  // it was alone
    }
    const Share alone(*this, all_bytes);
    work();
}

}  // namespace knn
