#pragma once
/// Handmade files of vectors, valid and invalid.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "data/core/errors.h"
#include "data/vectors/vectors.h"
#include "tests/support/error_of.h"

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
inline std::string npy_of(std::string_view type, std::string_view shape, std::string_view data) {
    return npy("{'descr': '" + std::string(type) +
                   "', 'fortran_order': False, 'shape': " + std::string(shape) + ", }",
               data);
}

/// All elements, row by row.
inline std::vector<double> values_of(const Rows& rows) {
    const Bytes wide = converted(rows, ElementType::float64);
    std::vector<double> values(static_cast<std::size_t>(rows.count * rows.dim));
    std::memcpy(values.data(), wide.data(), wide.size());
    return values;
}
inline std::vector<double> values_of(const VectorSet& set) {
    return values_of(set.rows());
}

inline std::vector<int> numbers_of(const Labels& labels) {
    const auto numbers = labels.numbers.span();
    return {numbers.begin(), numbers.end()};
}

/// What is wrong with a file, without its name in front.
template <class Load>
std::string vector_error(const std::filesystem::path& file, const Load& load) {
    const std::string what = error_of<DataError>([&] { load(file); }), front = file.string() + ": ";
    if (what.empty()) return "no error";
    return what.starts_with(front) ? what.substr(front.size()) : "no name: " + what;
}
inline std::string vectors_error(const std::filesystem::path& file, const VectorOptions& options = {}) {
    return vector_error(file, [&](auto& one) { load_vectors(one, options); });
}
inline std::string labels_error(const std::filesystem::path& file) {
    return vector_error(file, [](auto& one) { load_labels(one); });
}

}  // namespace knn::test
