/// The writing half of idx.h.

#include <initializer_list>
#include <ostream>
#include <string>

#include "data/set/idx.h"

namespace knn {

namespace {

void write_idx(std::ostream& out, std::initializer_list<std::int64_t> sizes, const Bytes& bytes) {
    std::string header = {0, 0, 8, static_cast<char>(sizes.size())};
    for (const std::int64_t size : sizes)
        for (int shift = 24; shift >= 0; shift -= 8)
            header += static_cast<char>(size >> shift & 255);
    out.write(header.data(), static_cast<std::streamsize>(header.size()));
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

void write_idx_images(std::ostream& out, const LabeledImages& images) {
    write_idx(out, {images.count, images.rows, images.cols}, images.pixels);
}

void write_idx_labels(std::ostream& out, const LabeledImages& images) {
    write_idx(out, {images.count}, images.labels);
}

}  // namespace knn
