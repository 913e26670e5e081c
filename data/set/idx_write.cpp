/// The writing half of idx.h.

#include <initializer_list>
#include <limits>
#include <ostream>
#include <string>
#include <system_error>

#include "data/file/atomic_file.h"
#include "data/set/idx.h"
#include "data/set/mnist_checksums.h"

namespace knn {

namespace {

using Sizes = std::initializer_list<std::int64_t>;

void write_idx(std::ostream& out, Sizes sizes, const Bytes& bytes) {
    std::string header = {0, 0, 8, static_cast<char>(sizes.size())};
    for (const std::int64_t size : sizes)
        for (int shift = 24; shift >= 0; shift -= 8)
            header += static_cast<char>(size >> shift & 255);
    out.write(header.data(), static_cast<std::streamsize>(header.size()));
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void write_idx(const std::filesystem::path& file, Sizes sizes, const Bytes& bytes) {
    for (const std::int64_t size : sizes)
        if (size > std::numeric_limits<std::uint32_t>::max())
            throw DataError(file.string() + ": cannot be written: a size of " + std::to_string(size) +
                            "; expected sizes that fit the 32 bits of an IDX header");
    write_file_atomically(file, [&](std::ostream& out) { write_idx(out, sizes, bytes); });
}

}  // namespace

void write_idx_images(const std::filesystem::path& file, const LabeledImages& images) {
    write_idx(file, {images.count, images.rows, images.cols}, images.pixels);
}

void write_idx_labels(const std::filesystem::path& file, const LabeledImages& images) {
    write_idx(file, {images.count}, images.labels);
}

void write_idx_images(std::ostream& out, const LabeledImages& images) {
    write_idx(out, {images.count, images.rows, images.cols}, images.pixels);
}

void write_idx_labels(std::ostream& out, const LabeledImages& images) {
    write_idx(out, {images.count}, images.labels);
}

void write_dataset(const std::filesystem::path& folder, const Dataset& data) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw DataError(folder.string() + ": cannot be made: " + error.message() +
                        "; expected a folder, or a place for a new one");
    write_idx_images(folder / mnist_files[0].name, data.train);
    write_idx_labels(folder / mnist_files[1].name, data.train);
    write_idx_images(folder / mnist_files[2].name, data.test);
    write_idx_labels(folder / mnist_files[3].name, data.test);
}

}  // namespace knn
