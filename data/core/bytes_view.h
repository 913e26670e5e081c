#pragma once
/// Numbers in a file's bytes, by offset; bytes outside of the file read as zero.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace knn {

/// Never reads past the end, whatever the offsets say; they come from the file itself.
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
        if (!has(at, text.size())) return false;
        for (std::size_t i = 0; i < text.size(); ++i)
            if (bytes_[at + i] != static_cast<std::uint8_t>(text[i])) return false;
        return true;
    }
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

}  // namespace knn
