#include "data/vectors/content.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/transfer.h"

namespace knn {

namespace {

constexpr std::size_t head_bytes = 4096;
constexpr std::uint64_t vector_piece_bytes = 4 << 20;
constexpr std::uint64_t most_elements_bytes = std::numeric_limits<std::ptrdiff_t>::max();

std::string grouped_count(std::uint64_t count) {
    return (count > most_elements_bytes ? "more than " : "") +
           with_commas(static_cast<std::int64_t>(std::min(count, most_elements_bytes)));
}

/// "1 row", "1,234 rows".
std::string grouped_count(std::uint64_t count, const std::string& one) {
    return grouped_count(count) + ' ' + noun(static_cast<std::int64_t>(count), one);
}

template <class Word>
void swap_all(std::uint8_t* bytes, std::size_t n) {
    for (const std::uint8_t* const end = bytes + n * sizeof(Word); bytes < end; bytes += sizeof(Word))
        store_as(bytes, swapped(load_as<Word>(bytes)));
}

/// The index of the first number that is infinite or none at all, or n: one whose exponent has all bits set.
template <class Word>
std::size_t first_not_finite(const std::uint8_t* bytes, std::size_t n) {
    constexpr Word exponent = sizeof(Word) == 4 ? Word{0x7f800000} : static_cast<Word>(0x7ff0000000000000);
    const auto at = [&](std::size_t i) {
        return (load_as<Word>(bytes + i * sizeof(Word)) & exponent) == exponent;
    };
    constexpr std::size_t block = 1024;  // without a branch for each, so that the compiler uses vectors
    for (std::size_t begin = 0; begin < n; begin += block) {
        const std::size_t end = std::min(n, begin + block);
        bool any = false;
        for (std::size_t i = begin; i < end; ++i)
            any |= at(i);
        if (!any) continue;
        for (std::size_t i = begin; i < end; ++i)
            if (at(i)) return i;
    }
    return n;
}

/// Brings rows as the file has them into their form in memory.
class RowReader {
  public:
    RowReader(const Content& content, const RowLayout& layout)
        : content_(content), layout_(layout), type_(type_of(layout.stored)) {}

    std::uint64_t out_bytes() const { return layout_.dim * static_cast<std::uint64_t>(size_of(type_)); }
    /// Whether a row of the file has the form of one in memory.
    bool in_place() const { return !layout_.counted && layout_.stored != Stored::int32; }

    /// n rows, the first of them row `first` of the file; `raw` may be `out` where `in_place`.
    void take(std::uint8_t* raw, std::uint64_t first, std::size_t n, std::uint8_t* out) const {
        if (in_place()) {
            if (raw != out) std::memcpy(out, raw, n * out_bytes());
            return finish(out, first, n);
        }
        for (std::size_t i = 0; i < n; ++i, raw += layout_.row_bytes(), out += out_bytes()) {
            if (layout_.counted) check_dim(raw, first + i);
            std::uint8_t* const row = raw + (layout_.counted ? 4 : 0);
            if (layout_.stored == Stored::int32)
                widen(row, out);
            else
                std::memcpy(out, row, out_bytes());
        }
        if (layout_.stored != Stored::int32) finish(out - n * out_bytes(), first, n);
    }

  private:
    void check_dim(const std::uint8_t* raw, std::uint64_t row) const {
        auto dim = load_as<std::uint32_t>(raw);
        if (layout_.swapped) dim = swapped(dim);
        if (dim != layout_.dim)
            content_.fail(
                "row " + grouped_count(row + 1) + " has " + counted(static_cast<std::int32_t>(dim), "column"),
                "as many as row 1 has, " + grouped_count(layout_.dim));
    }
    void widen(std::uint8_t* row, std::uint8_t* out) const {
        if (layout_.swapped) swap_all<std::uint32_t>(row, layout_.dim);
        for (std::uint64_t i = 0; i < layout_.dim; ++i)
            store_as(out + 8 * i, static_cast<double>(load_as<std::int32_t>(row + 4 * i)));
    }
    void finish(std::uint8_t* rows, std::uint64_t first, std::size_t n) const {
        const std::size_t all = n * layout_.dim;
        std::size_t bad = all;
        if (type_ == ElementType::float32) {
            if (layout_.swapped) swap_all<std::uint32_t>(rows, all);
            bad = first_not_finite<std::uint32_t>(rows, all);
        } else if (type_ == ElementType::float64) {
            if (layout_.swapped) swap_all<std::uint64_t>(rows, all);
            bad = first_not_finite<std::uint64_t>(rows, all);
        }
        if (bad == all) return;
        const double value = type_ == ElementType::float64
                                 ? load_as<double>(rows + bad * sizeof(double))
                                 : double{load_as<float>(rows + bad * sizeof(float))};
        content_.fail("row " + grouped_count(first + bad / layout_.dim + 1) + ", column " +
                          grouped_count(bad % layout_.dim + 1) + " is " +
                          (value != value ? "not a number (NaN)" : "infinite"),
                      "finite numbers");
    }

    const Content& content_;
    const RowLayout& layout_;
    ElementType type_;
};

}  // namespace

Content::Content(ByteSource& source, const VectorOptions& options) : source_(source), options_(options) {
    head_.resize(head_bytes);
    head_.resize(source_.read(head_));
    if (head_.empty()) fail("is empty after decompression");
}

std::size_t Content::read(std::span<std::uint8_t> out) {
    std::size_t done = 0;
    if (position_ < head_.size()) {
        done = std::min(out.size(), head_.size() - static_cast<std::size_t>(position_));
        std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(position_), done, out.begin());
    }
    done += source_.read(out.subspan(done));
    position_ += done;
    return done;
}

void Content::read_exactly(std::span<std::uint8_t> out, const std::string& part) {
    if (read(out) < out.size()) fail("is cut short within its " + part);
}

std::optional<std::uint64_t> Content::left() const {
    const std::optional<std::uint64_t> most = source_.max_bytes();
    if (!most) return std::nullopt;
    return *most - std::min(*most, position_);
}

void Content::fail(const std::string& what, const std::string& expected) const {
    throw DataError(file() + ": " + what + "; expected " + expected);
}

void Content::lack(const std::string& memory) const {
    throw MemoryError(file() + ": needs " + memory + "; expected that much free memory, or fewer rows");
}

void Content::check_memory(std::uint64_t bytes) const {
    if (options_.free_bytes >= 0 && bytes > static_cast<std::uint64_t>(options_.free_bytes))
        lack(grouped_count(bytes) + " bytes of memory, of which " + with_commas(options_.free_bytes) +
             " are free");
}

Bytes Content::allocated(std::uint64_t bytes) const {
    check_memory(bytes);
    try {
        return Bytes(static_cast<std::size_t>(bytes), options_.memory);
    } catch (const std::bad_alloc&) {
        lack(grouped_count(bytes) + " bytes of memory, which are not free");
    }
}

/// Before any memory is asked for.
void Content::check_sizes(const RowLayout& layout) const {
    if (layout.count == std::uint64_t{0}) fail("holds no rows", "at least one");
    if (layout.dim == 0) fail("has rows without columns", "at least one column");
    const std::string shape = (layout.count ? grouped_count(*layout.count, "row") : "rows") + " of " +
                              grouped_count(layout.dim, "column");
    if (layout.dim > static_cast<std::uint64_t>(layout.max_columns))
        fail("declares " + shape, "at most " + with_commas(layout.max_columns) + " columns");
    std::uint64_t size = 0, in_memory = 0;
    if (layout.count && (__builtin_mul_overflow(*layout.count, layout.row_bytes(), &size) ||
                         __builtin_mul_overflow(*layout.count, 8 * layout.dim, &in_memory) ||
                         in_memory > most_elements_bytes))
        fail("declares " + shape, "sizes within 63 bits");
    const std::optional<std::uint64_t> available = left();
    if (!available) return;
    if (!layout.count) {
        if (is_exact() && *available % layout.row_bytes() != 0)
            fail("has " + grouped_count(*available, "byte") + ", which are not rows of " +
                     grouped_count(layout.dim, "column"),
                 "whole rows, all with as many columns as the first");
        return;
    }
    const std::string declared = "declares " + shape + " = " + grouped_count(size, "byte");
    if (size > *available)
        fail("is cut short: it " + declared,
             is_exact() ? "as many, not " + grouped_count(*available)
                        : "more than " + grouped_count(*source_.file_bytes()) + " bytes of gzip can hold");
    if (is_exact() && size < *available)
        fail("has trailing bytes: it " + declared, "as many, not " + grouped_count(*available));
}

VectorSet Content::rows(const RowLayout& layout) {
    check_sizes(layout);
    VectorSet set;
    set.type = type_of(layout.stored);
    set.dim = static_cast<std::int64_t>(layout.dim);
    const std::uint64_t first = options_.first > 0 ? static_cast<std::uint64_t>(options_.first)
                                                   : std::numeric_limits<std::uint64_t>::max();
    std::optional<std::uint64_t> count = layout.count;
    if (!count && left() && is_exact()) count = *left() / layout.row_bytes();
    const std::uint64_t most = std::min(first, count.value_or(first));
    set.count = static_cast<std::int64_t>(most);
    if (layout.fortran_rows > 0) {
        read_by_columns(layout, set);
    } else if (source_.can_read_at()) {
        read_in_pieces(layout, set);
    } else {
        read_in_order(layout, most, set);
    }
    return set;
}

/// By several threads, each piece from its place in the file.
void Content::read_in_pieces(const RowLayout& layout, VectorSet& set) {
    const RowReader reader(*this, layout);
    const auto count = static_cast<std::uint64_t>(set.count);
    set.elements = allocated(count * reader.out_bytes());
    const std::uint64_t rows = std::max<std::uint64_t>(1, vector_piece_bytes / layout.row_bytes());
    for_pieces(static_cast<std::int64_t>((count + rows - 1) / rows), options_.threads,
               [&](std::int64_t piece) {
                   const std::uint64_t begin = static_cast<std::uint64_t>(piece) * rows,
                                       n = std::min(rows, count - begin);
                   std::uint8_t* const out = set.elements.data() + begin * reader.out_bytes();
                   std::vector<std::uint8_t> buffer(reader.in_place() ? 0 : n * layout.row_bytes());
                   std::uint8_t* const raw = reader.in_place() ? out : buffer.data();
                   const std::span<std::uint8_t> wanted(raw, n * layout.row_bytes());
                   if (source_.read_at(position_ + begin * layout.row_bytes(), wanted) < wanted.size())
                       fail("became shorter while it was read", "a file that does not change");
                   reader.take(raw, begin, n, out);
               });
}

/// Where the content comes in one stream: gzip, a pipe. Memory grows with what was received, in parts that go back one by one while they
/// are put together: never twice as much.
void Content::read_in_order(const RowLayout& layout, std::uint64_t most, VectorSet& set) {
    const RowReader reader(*this, layout);
    const std::uint64_t rows = std::max<std::uint64_t>(1, vector_piece_bytes / layout.row_bytes());
    constexpr std::size_t part_bytes = 64 << 20;  // so large that malloc gives it back at once
    std::vector<std::uint8_t> raw;
    std::vector<GrowingText> parts;
    std::uint64_t count = 0;
    bool ended = false;
    try {
        while (count < most && !ended) {
            const std::uint64_t n = std::min(rows, most - count);
            raw.resize(n * layout.row_bytes());
            const std::size_t got = read(raw);
            ended = got < raw.size();
            if (got % layout.row_bytes() != 0 || (ended && layout.count))
                fail("is cut short within row " + grouped_count(count + got / layout.row_bytes() + 1),
                     (layout.count ? grouped_count(*layout.count, "row") : "whole rows") + " of " +
                         grouped_count(layout.dim, "column"));
            const std::size_t whole = got / layout.row_bytes();
            const std::uint64_t all_bytes = (count + whole) * reader.out_bytes();
            check_memory(all_bytes + std::min<std::uint64_t>(all_bytes, part_bytes));
            if (parts.empty() || parts.back().view().size() >= part_bytes) parts.emplace_back();
            GrowingText& part = parts.back();
            const std::size_t before = part.view().size();
            part.resize(before + whole * reader.out_bytes());
            reader.take(raw.data(), count, whole, reinterpret_cast<std::uint8_t*>(part.data()) + before);
            count += whole;
        }
    } catch (const std::bad_alloc&) {
        lack("more memory than is free");
    }
    const bool limited = options_.first > 0 && most == static_cast<std::uint64_t>(options_.first);
    if (!limited) check_end(most, layout);
    set.count = static_cast<std::int64_t>(count);
    set.elements = allocated(count * reader.out_bytes());
    std::uint8_t* to = set.elements.data();
    for (GrowingText& part : parts) {
        to = std::copy(part.view().begin(), part.view().end(), to);
        part = {};
    }
}

/// Nothing may follow the rows.
void Content::check_end(std::uint64_t count, const RowLayout& layout) {
    if (!source_.is_at_end() || position_ < head_.size())
        fail("has trailing bytes",
             grouped_count(count, "row") + " of " + grouped_count(layout.dim, "column") + " alone");
}

/// Fortran order, in one stream: each element goes to its place in the first set.count rows.
void Content::read_by_columns(const RowLayout& layout, VectorSet& set) {
    const RowReader reader(*this, layout);
    const std::uint64_t kept = static_cast<std::uint64_t>(set.count), out_bytes = reader.out_bytes();
    const std::uint64_t rows = layout.fortran_rows, cols = layout.dim / rows;
    set.elements = allocated(kept * out_bytes);
    std::vector<std::uint8_t> raw;
    std::uint64_t row = 0, column = 0;  // of the next element; columns as the file counts them
    const auto place = [&](auto word) {
        const auto place_of_column = [&] { return column % rows * cols + column / rows; };
        std::uint64_t to = place_of_column();
        for (std::size_t at = 0; at < raw.size(); at += sizeof word) {
            if (row < kept)
                std::memcpy(set.elements.data() + (row * layout.dim + to) * sizeof word, raw.data() + at,
                            sizeof word);
            if (++row < *layout.count) continue;
            row = 0;
            ++column;
            to = place_of_column();
        }
    };
    constexpr std::uint64_t piece_bytes = 1 << 16;  // each element may be the first of a page of memory
    for (std::uint64_t left = *layout.count * out_bytes; left > 0; left -= raw.size()) {
        throw_if_stopped();
        raw.resize(std::min(piece_bytes, left));
        if (read(raw) < raw.size())
            fail("is cut short within its elements",
                 grouped_count(*layout.count, "row") + " of " + grouped_count(layout.dim, "column"));
        out_bytes == layout.dim       ? place(std::uint8_t{})
        : out_bytes == 4 * layout.dim ? place(std::uint32_t{})
                                      : place(std::uint64_t{});
    }
    check_end(*layout.count, layout);
    for (std::uint64_t i = 0, n; i < kept; i += n) {
        throw_if_stopped();
        n = std::min(std::max<std::uint64_t>(1, vector_piece_bytes / out_bytes), kept - i);
        reader.take(set.elements.data() + i * out_bytes, i, n, set.elements.data() + i * out_bytes);
    }
}

void GrowingText::resize(std::size_t size) {
    char* const moved = static_cast<char*>(std::realloc(data_.get(), std::max<std::size_t>(size, 1)));
    if (!moved) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(moved);
    size_ = size;
}

GrowingText Content::text(const std::function<bool(std::string_view)>& enough) {
    constexpr std::size_t first_piece = 1 << 16, largest_piece = 4 << 20;
    GrowingText all;
    try {
        for (std::size_t piece = first_piece;; piece = std::min(2 * piece, largest_piece)) {
            throw_if_stopped();
            const std::size_t before = all.view().size();
            check_memory(before + 1);
            all.resize(before + piece);
            const std::size_t got = read({reinterpret_cast<std::uint8_t*>(all.data()) + before, piece});
            all.resize(before + got);
            if (enough(all.view()) || got < piece) return all;
        }
    } catch (const std::bad_alloc&) {
        lack("more memory than is free");
    }
}

}  // namespace knn
