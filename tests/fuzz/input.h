#pragma once
/// What the fuzzers share: numbers from the front of an input, and checks that end the process.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

namespace knn::test {

/// The bytes of an input. What is behind its end is 0.
class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

    std::uint8_t byte() { return static_cast<std::uint8_t>(number(1)); }
    /// Of so many bytes, the lowest first.
    std::uint64_t number(std::size_t bytes) {
        std::uint64_t value = 0;
        const std::size_t given = std::min(bytes, rest_.size());
        for (std::size_t i = 0; i < given; ++i)
            value |= std::uint64_t{rest_[i]} << (8 * i);
        rest_ = rest_.subspan(given);
        return value;
    }
    std::span<const std::uint8_t> rest() const { return rest_; }
    std::string_view text() const { return {reinterpret_cast<const char*>(rest_.data()), rest_.size()}; }

  private:
    std::span<const std::uint8_t> rest_;
};

/// Ends the process, which libFuzzer reports with the input, unless `holds`.
inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "not so: %s\n", what);
    std::abort();
}

}  // namespace knn::test
