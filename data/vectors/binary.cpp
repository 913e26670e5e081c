/// The binary formats without a header of text: IDX, .fvecs and its kin, .fbin and its kin.

#include <array>
#include <limits>

#include "data/core/problem.h"
#include "data/set/idx.h"
#include "data/vectors/content.h"

namespace knn {

namespace {

std::uint32_t little32(const std::uint8_t* bytes) {
    const auto number = load_as<std::uint32_t>(bytes);
    return is_little ? number : swapped(number);
}

/// What the header of an IDX file says.
struct IdxShape {
    std::uint8_t type = 0;
    int rank = 0;
    std::array<std::uint64_t, 3> sizes = {1, 1, 1};
};

IdxShape idx_shape(Content& content) {
    std::array<std::uint8_t, 4> magic = {};
    content.read_exactly(magic, "header");
    IdxShape shape;
    shape.type = magic[2];
    shape.rank = magic[3];
    if (shape.rank > 3) content.fail("has " + std::to_string(shape.rank) + " sizes", "an IDX file of 1 to 3");
    for (int i = 0; i < shape.rank; ++i) {
        std::array<std::uint8_t, 4> size = {};
        content.read_exactly(size, "header");
        shape.sizes[static_cast<std::size_t>(i)] = big32(size.data());
    }
    return shape;
}

Stored idx_stored(const Content& content, std::uint8_t type) {
    switch (type) {
        case 0x08:
            return Stored::uint8;
        case 0x09:
            return Stored::int8;
        case 0x0d:
            return Stored::float32;
        case 0x0e:
            return Stored::float64;
        default:
            content.fail(std::string("holds ") + (type == 0x0b ? "int16" : "int32"),
                         "uint8, int8, float32 or float64");
    }
}

}  // namespace

VectorSet read_idx_vectors(Content& content) {
    const IdxShape shape = idx_shape(content);
    if (shape.rank < 2)
        content.fail(shape.type == 0x08 ? "holds labels" : "has one size",
                     "rows: an IDX file of 2 or 3 sizes");
    const auto [count, rows, cols] = shape.sizes;
    RowLayout layout{count, rows * cols, idx_stored(content, shape.type), is_little};
    const bool images = shape.rank == 3 && layout.stored == Stored::uint8;
    if (images) layout.max_columns = max_dim;
    VectorSet set = content.rows(layout);
    if (images) set.shape = {static_cast<int>(rows), static_cast<int>(cols)};
    return set;
}

Labels read_idx_labels(Content& content) {
    const IdxShape shape = idx_shape(content);
    if (shape.rank != 1 || shape.type != 0x08)
        content.fail("holds no labels", "an IDX file of 8-bit labels (magic 00 00 08 01)");
    return {content.rows({shape.sizes[0], 1, Stored::uint8}).elements, {}};
}

VectorSet read_binary(Content& content, const BinaryFormat& format) {
    if (!format.counted) {
        std::array<std::uint8_t, 8> header = {};
        content.read_exactly(header, "header");
        return content.rows(
            {little32(header.data()), little32(header.data() + 4), format.stored, !is_little});
    }
    if (content.head().size() < 4)
        content.fail("is cut short within its first row", "the number of columns as int32");
    const std::uint32_t dim = little32(content.head().data());
    if (dim > std::numeric_limits<std::int32_t>::max())
        content.fail("declares rows of " + std::to_string(static_cast<std::int32_t>(dim)) + " columns",
                     "1 to " + std::to_string(max_columns));
    return content.rows({{}, dim, format.stored, !is_little, true});
}

}  // namespace knn
