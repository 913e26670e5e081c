#pragma once
/// The content of a file of vectors while it is read: its beginning, before a format is chosen, and its rows.

#include <array>
#include <bit>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/core/problem.h"
#include "data/file/byte_source.h"
#include "data/vectors/vectors.h"

namespace knn {

inline constexpr bool is_little = std::endian::native == std::endian::little;

/// How the elements of a file are stored.
enum class Stored { uint8, int8, float32, float64, int32 };

constexpr std::int64_t bytes_of(Stored stored) {
    return stored == Stored::float64 ? 8 : stored == Stored::float32 || stored == Stored::int32 ? 4 : 1;
}
/// The type that they get in memory.
constexpr ElementType type_of(Stored stored) {
    return stored == Stored::int32 ? ElementType::float64 : static_cast<ElementType>(stored);
}

/// A format without magic, which the ending of a file's name tells.
struct BinaryFormat {
    const char* ending;
    Stored stored;
    bool counted;  ///< each row is preceded by its length; else all rows by their number and length
};
inline constexpr BinaryFormat binary_formats[] = {
    {".fvecs", Stored::float32, true}, {".bvecs", Stored::uint8, true},  {".ivecs", Stored::int32, true},
    {".fbin", Stored::float32, false}, {".u8bin", Stored::uint8, false}, {".i8bin", Stored::int8, false},
    {".ibin", Stored::int32, false}};

/// The rows that follow in a file.
struct RowLayout {
    std::optional<std::uint64_t> count = {};  ///< none: as many as there are
    std::uint64_t dim = 0;
    Stored stored = Stored::uint8;
    bool swapped = false;  ///< not in the byte order of the machine
    bool counted = false;  ///< each row is preceded by dim as int32
    /// Not 0: Fortran order, in which the first elements of all rows come first; of images of so many rows, else 1.
    std::uint64_t fortran_rows = 0;
    std::int64_t max_columns = knn::max_columns;

    std::uint64_t row_bytes() const {
        return dim * static_cast<std::uint64_t>(bytes_of(stored)) + (counted ? 4 : 0);
    }
};

/// Text that grows without being copied where realloc moves its pages, and without being cleared.
class GrowingText {
  public:
    std::string_view view() const { return {data_.get(), size_}; }
    char* data() { return data_.get(); }
    /// Throws std::bad_alloc.
    void resize(std::size_t size);

  private:
    struct Free {
        void operator()(char* data) const { std::free(data); }
    };
    std::unique_ptr<char, Free> data_;
    std::size_t size_ = 0;
};

class Content {
  public:
    explicit Content(ByteSource& source, const VectorOptions& options = {});

    /// The first bytes, at most 4,096.
    std::span<const std::uint8_t> head() const { return head_; }
    const VectorOptions& options() const { return options_; }
    std::string file() const { return source_.file().string(); }

    /// The next bytes; fewer than asked for only where the content ends.
    std::size_t read(std::span<std::uint8_t> out);
    /// Fills `out`, or says that the file is cut short within `part`.
    void read_exactly(std::span<std::uint8_t> out, const std::string& part);
    /// Bytes that follow; exact for a plain file, at most that many for gzip, none if that is unknown.
    std::optional<std::uint64_t> left() const;
    bool is_exact() const { return !source_.is_gzip(); }

    /// The rows that follow, the first of them where the options say so, to the end of the content, which must be there. Fills in
    /// count, dim, type and elements.
    VectorSet rows(const RowLayout& layout);

    /// All bytes that follow, or those up to where `enough(bytes so far)` holds, which is asked after each piece.
    GrowingText text(const std::function<bool(std::string_view)>& enough);

    /// Throws MemoryError if this many bytes of memory are not free.
    void check_memory(std::uint64_t bytes) const;
    [[noreturn]] void fail(const std::string& what, const std::string& expected) const;
    /// Throws MemoryError. `memory`: "12 bytes of memory, which are not free".
    [[noreturn]] void lack(const std::string& memory) const;
    /// "; expected one of these formats".
    [[noreturn]] void fail(const std::string& what) const { source_.fail(what); }

  private:
    void check_sizes(const RowLayout& layout) const;
    void read_in_pieces(const RowLayout& layout, VectorSet& set);
    void read_in_order(const RowLayout& layout, std::uint64_t most, VectorSet& set);
    void read_by_columns(const RowLayout& layout, VectorSet& set);
    void check_end(std::uint64_t count, const RowLayout& layout);
    Bytes allocated(std::uint64_t bytes) const;

    ByteSource& source_;
    VectorOptions options_;
    std::vector<std::uint8_t> head_;
    std::uint64_t position_ = 0;
};

/// Labels as a file has them, each with the number that it got when it came first. Throws DataError if there are more than max_classes.
template <class Value>
class Dictionary {
  public:
    explicit Dictionary(const Content& content) : content_(&content) {}
    std::uint32_t id_of(const auto& value) {
        if (!values_.empty() && values_[last_] == value) return last_;
        const auto [found, is_new] =
            ids_.try_emplace(Value(value), static_cast<std::uint32_t>(values_.size()));
        if (is_new && values_.size() == max_classes)
            content_->fail("has more than " + std::to_string(max_classes) + " different labels",
                           "at most " + std::to_string(max_classes) + " classes");
        if (is_new) values_.push_back(found->first);
        return last_ = found->second;
    }
    const std::vector<Value>& values() const { return values_; }

  private:
    const Content* content_;
    std::vector<Value> values_;
    std::unordered_map<Value, std::uint32_t> ids_;
    std::uint32_t last_ = 0;
};

// The formats, each from the beginning of the content.
VectorSet read_npy(Content& content);
VectorSet read_csv(Content& content);
VectorSet read_idx_vectors(Content& content);
VectorSet read_binary(Content& content, const BinaryFormat& format);
Labels read_npy_labels(Content& content);
Labels read_idx_labels(Content& content);
Labels read_text_labels(Content& content);

/// Whole numbers as labels: those from 0 to 255 stay as they are, if all are. Throws DataError if there are more than max_classes.
Labels numbered(std::span<const std::int64_t> values, const Content& content);
/// Labels as texts: label i is names[ids[i]].
Labels named_labels(std::span<const std::uint32_t> ids, std::span<const std::string> names,
                    const std::string& file);

}  // namespace knn
