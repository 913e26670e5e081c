#include "data/picture/picture_memory.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <optional>
#include <vector>

#include "data/picture/picture_file.h"
#include "data/picture/picture_header.h"

namespace knn {

namespace {

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

}  // namespace

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
