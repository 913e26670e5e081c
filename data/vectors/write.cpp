#include "data/vectors/write.h"

#include <array>
#include <charconv>
#include <cstring>
#include <ostream>

#include "data/core/format.h"
#include "data/file/transfer.h"
#include "data/vectors/content.h"

namespace knn {

namespace {

/// The one of the file's name; null: CSV, NPY, or nothing that is written.
const BinaryFormat* binary_format_of(const std::string& name) {
    for (const BinaryFormat& format : binary_formats)
        if (name.ends_with(format.ending) && format.stored != Stored::int8 && format.stored != Stored::int32)
            return &format;
    return nullptr;
}

template <class Number>
void put_cells(std::string& text, const std::uint8_t* row, std::int64_t dim) {
    for (std::int64_t j = 0; j < dim; ++j) {
        const auto value = load_as<Number>(row + static_cast<std::size_t>(j) * sizeof(Number));
        char cell[32];
        const auto end = std::to_chars(cell, cell + sizeof cell, value)
                             .ptr;  // the shortest that is read back as this number
        text.append(cell, end);
        text += j + 1 < dim ? ',' : '\n';
    }
}

}  // namespace

bool can_write_vectors(const std::string& file) {
    const std::string name = lower_case(file);
    return name.ends_with(".npy") || name.ends_with(".csv") || binary_format_of(name) != nullptr;
}

std::optional<ElementType> written_type(const std::string& file) {
    const BinaryFormat* format = binary_format_of(lower_case(file));
    return format != nullptr ? std::optional(type_of(format->stored)) : std::nullopt;
}

std::string_view npy_type(ElementType type) {
    constexpr std::array names = {"u1", "i1", "f4", "f8"};
    return names[static_cast<std::size_t>(type)];
}

void put_npy_header(std::ostream& out, std::span<const std::int64_t> shape, std::string_view type) {
    std::string sizes = joined(shape, [](std::int64_t size) { return std::to_string(size); });
    if (shape.size() == 1) sizes += ',';
    const bool is_byte = type.ends_with('1');
    std::string header = std::string("{'descr': '") +
                         (is_byte     ? '|'
                          : is_little ? '<'
                                      : '>') +
                         std::string(type) + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
    constexpr std::size_t before = 10, multiple = 64;
    header.append(multiple - 1 - (before + header.size()) % multiple, ' ');
    header += '\n';
    const std::string_view magic("\x93NUMPY\x01\x00", 8);
    out << magic << static_cast<char>(header.size() & 255) << static_cast<char>(header.size() >> 8) << header;
}

void write_npy(std::ostream& out, const Rows& rows, std::optional<ImageShape> images) {
    std::vector<std::int64_t> shape = {rows.count, rows.dim};
    if (images) shape = {rows.count, images->rows, images->cols};
    put_npy_header(out, shape, npy_type(rows.type));
    out.write(reinterpret_cast<const char*>(rows.pixels), static_cast<std::streamsize>(rows.bytes()));
}

void write_npy(std::ostream& out, std::span<const std::uint8_t> numbers) {
    put_npy_header(out, std::array{std::int64_t(numbers.size())}, "u1");
    out.write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(numbers.size()));
}

VectorWriter::VectorWriter(std::ostream& out, const std::string& file, std::int64_t count, std::int64_t dim,
                           ElementType type)
    : out_(out),
      format_(binary_format_of(lower_case(file))),
      is_csv_(lower_case(file).ends_with(".csv")),
      dim_(dim) {
    if (format_ == nullptr && !is_csv_) put_npy_header(out_, std::array{count, dim}, npy_type(type));
    if (format_ != nullptr && !format_->counted)
        out_ << little_bytes(static_cast<std::uint32_t>(count))
             << little_bytes(static_cast<std::uint32_t>(dim));
}

void VectorWriter::add(const Rows& rows) {
    const auto bytes = static_cast<std::streamsize>(rows.row_bytes());
    if (is_csv_) {
        constexpr std::size_t piece_bytes = 1 << 20;  // some milliseconds
        std::string text;
        for (std::int64_t i = 0; i < rows.count; ++i) {
            of_type(rows.type,
                    [&](auto element) { put_cells<decltype(element)>(text, rows.row(i), rows.dim); });
            if (text.size() < piece_bytes) continue;
            throw_if_stopped();
            out_ << text;
            text.clear();
        }
        out_ << text;
    } else if (format_ != nullptr && format_->counted) {
        std::string text;
        for (std::int64_t i = 0; i < rows.count; ++i) {
            text += little_bytes(static_cast<std::uint32_t>(dim_));
            text.append(reinterpret_cast<const char*>(rows.row(i)), static_cast<std::size_t>(bytes));
        }
        out_ << text;
    } else {
        out_.write(reinterpret_cast<const char*>(rows.pixels), static_cast<std::streamsize>(rows.bytes()));
    }
}

}  // namespace knn
