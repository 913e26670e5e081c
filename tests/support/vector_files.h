#pragma once
/// Handmade files of vectors, valid and invalid.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "data/core/errors.h"
#include "data/vectors/vectors.h"
#include "tests/support/error_of.h"
#include "tests/support/npy_bytes.h"

namespace knn::test {

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
