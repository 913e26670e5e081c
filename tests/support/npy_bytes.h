#pragma once
/// The bytes of numbers and of NPY files, made by hand.

#include "tests/support/test.h"

namespace knn::test {

/// The bytes of a number in the order of the machine, or the other way round.
template <class Number>
std::string raw(Number number, bool swapped = false) {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    return swapped ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
}
template <class Number>
std::string raw(const std::vector<Number>& numbers, bool swapped = false) {
    std::string bytes;
    for (const Number number : numbers)
        bytes += raw(number, swapped);
    return bytes;
}

/// An NPY file of version `major`, whose header is this text.
inline std::string npy(std::string header, std::string_view data, int major = 1) {
    header += '\n';
    std::string bytes = "\x93NUMPY";
    bytes += static_cast<char>(major);
    bytes += '\0';
    const auto length = static_cast<std::uint32_t>(header.size());
    bytes += raw(length).substr(0, major == 1 ? 2 : 4);
    return bytes + header + std::string(data);
}

/// As NumPy writes it, with 128 bytes before the data.
inline std::string npy_of(std::string_view type, std::string_view shape, std::string_view data) {
    std::string header = "{'descr': '" + std::string(type) +
                         "', 'fortran_order': False, 'shape': " + std::string(shape) + ", }";
    header.resize(std::max<std::size_t>(header.size(), 117), ' ');
    return npy(header, data);
}
inline std::string npy_of(std::string_view type, std::size_t rows, std::size_t cols, std::string_view data) {
    return npy_of(type, '(' + std::to_string(rows) + ", " + std::to_string(cols) + ')', data);
}

}  // namespace knn::test
