#pragma once
/// Files of vectors, written piece by piece, whose format follows from the name; NPY of any numbers.

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "data/core/rows.h"

namespace knn {

/// The endings of names that `generate` lists, and what type an ending needs; none: any.
inline constexpr const char* written_endings = ".npy, .csv, .fvecs, .bvecs, .fbin or .u8bin";
bool can_write_vectors(const std::string& file);
std::optional<ElementType> written_type(const std::string& file);

/// Magic, version 1.0 and header of an array in C order, padded to a multiple of 64 bytes; its elements follow. `type`: without the
/// order of bytes, which is the machine's: "f4".
void put_npy_header(std::ostream& out, std::span<const std::int64_t> shape, std::string_view type);

/// Whole files: rows, as count × dim elements or, of `images`, count × rows × cols; and numbers of one byte.
void write_npy(std::ostream& out, const Rows& rows, std::optional<ImageShape> images = {});
void write_npy(std::ostream& out, std::span<const std::uint8_t> numbers);

/// The type of elements there: "f4".
std::string_view npy_type(ElementType type);

class VectorWriter {
  public:
    /// Writes the header of count × dim elements. `file` names the format alone.
    VectorWriter(std::ostream& out, const std::string& file, std::int64_t count, std::int64_t dim,
                 ElementType type);
    /// The next rows, of this dim and type.
    void add(const Rows& rows);

  private:
    std::ostream& out_;
    const struct BinaryFormat* format_;
    bool is_csv_;
    std::int64_t dim_;
};

}  // namespace knn
