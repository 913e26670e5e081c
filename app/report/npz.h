#pragma once
/// NumPy's archives of arrays (.npz): a zip file of .npy files, here without compression.

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace knn {

/// Writes one array after another, in one pass; sizes have 64 bits (ZIP64), and no entry has a time.
class NpzWriter {
  public:
    explicit NpzWriter(std::ostream& out) : out_(out) {}

    /// The array of this name and shape. `type` as put_npy_header takes it; `pieces`: the bytes of its elements.
    void add(const std::string& name, std::span<const std::int64_t> shape, std::string_view type,
             const std::vector<std::span<const std::uint8_t>>& pieces);
    /// After the last array.
    void finish();

  private:
    struct Entry {
        std::string name;
        std::uint32_t checksum;
        std::uint64_t size, offset;
    };

    std::ostream& out_;
    std::vector<Entry> entries_;
    std::uint64_t written_ = 0;
};

template <class Number>
std::span<const std::uint8_t> bytes_of(std::span<const Number> numbers) {
    return {reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size_bytes()};
}

}  // namespace knn
