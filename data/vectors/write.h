#pragma once
/// Files of vectors, written piece by piece; the format follows from the name.

#include <iosfwd>
#include <optional>
#include <string>

#include "data/core/rows.h"

namespace knn {

/// The endings of names that `generate` lists, and what type an ending needs; none: any. `condense` writes .i8bin too.
inline constexpr const char* written_endings = ".npy, .csv, .fvecs, .bvecs, .fbin or .u8bin";
bool can_write_vectors(const std::string& file);
std::optional<ElementType> written_type(const std::string& file);

class VectorWriter {
  public:
    /// Writes the header of count × dim elements. `file` names the format alone.
    VectorWriter(std::ostream& out, const std::string& file, std::int64_t count, std::int64_t dim,
                 ElementType type);
    /// The next rows, of this dim and type.
    void add(const Rows& rows);

  private:
    std::ostream& out_;
    std::string ending_;
    std::int64_t dim_;
};

}  // namespace knn
