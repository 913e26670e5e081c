#pragma once
/// The header of NumPy's format for one array (numpy.lib.format).

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/vectors/content.h"

namespace knn {

struct NpyHeader {
    std::string type;  ///< "<f4"
    bool fortran_order = false;
    std::vector<std::uint64_t> shape;
};

/// What the text of a header says. Throws DataError.
NpyHeader parse_npy_header(std::string_view text, const Content& content);

/// Magic, version 1.0 and header of an array in C order, padded to a multiple of 64 bytes; its elements follow. `type`: without the
/// order of bytes, which is the machine's: "f4".
void put_npy_header(std::ostream& out, std::span<const std::int64_t> shape, std::string_view type);

/// Whole files: rows, and numbers of one byte.
void write_npy(std::ostream& out, const Rows& rows);
void write_npy(std::ostream& out, std::span<const std::uint8_t> numbers);

/// The type of elements there: "f4".
std::string_view npy_type(ElementType type);

}  // namespace knn
