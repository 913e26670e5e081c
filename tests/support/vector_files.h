#pragma once
/// Handmade files of vectors, valid and invalid.

#include "data/core/errors.h"
#include "data/vectors/vectors.h"
#include "tests/support/npy_bytes.h"
#include "tests/support/test.h"

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

/// A file by its name and bytes, and what it says wrongly.
struct WrongFile {
    std::string name, bytes, error;
    VectorOptions options = {};
};

/// Of a test case: files in a folder of its own.
struct VectorFolder : InFolder {
    VectorSet read(const std::string& name, const std::string& bytes,
                   const VectorOptions& options = {}) const {
        return load_vectors(folder.write(name, bytes), options);
    }
    std::vector<double> values(const std::string& name, const std::string& bytes,
                               const VectorOptions& options = {}) const {
        return values_of(read(name, bytes, options));
    }
    void check_wrong(std::initializer_list<WrongFile> files) const {
        for (const WrongFile& one : files)
            CHECK(vectors_error(folder.write(one.name, one.bytes), one.options) == one.error);
    }
};

}  // namespace knn::test
