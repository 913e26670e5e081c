#include "data/vectors/write.h"

#include <array>
#include <charconv>
#include <cstring>
#include <ostream>

#include "data/file/transfer.h"
#include "data/vectors/npy.h"

namespace knn {

namespace {

struct Ending {
    const char* text;
    std::optional<ElementType> type;
    bool counted;  ///< each row begins with its length
};
const std::array<Ending, 7> endings_written = {{{".npy", {}, false},
                                                {".csv", {}, false},
                                                {".fvecs", ElementType::float32, true},
                                                {".bvecs", ElementType::uint8, true},
                                                {".fbin", ElementType::float32, false},
                                                {".u8bin", ElementType::uint8, false},
                                                {".i8bin", ElementType::int8, false}}};

const Ending* ending_of(const std::string& file) {
    const std::string name = lower_case(file);
    for (const Ending& ending : endings_written)
        if (name.ends_with(ending.text)) return &ending;
    return nullptr;
}

std::string little_bytes(std::uint32_t number) {
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8)
        bytes += static_cast<char>(number >> shift & 255);
    return bytes;
}

template <class Number>
void put_cells(std::string& text, const std::uint8_t* row, std::int64_t dim) {
    for (std::int64_t j = 0; j < dim; ++j) {
        Number value;
        std::memcpy(&value, row + static_cast<std::size_t>(j) * sizeof value, sizeof value);
        char cell[32];
        const auto end = std::to_chars(cell, cell + sizeof cell, value)
                             .ptr;  // the shortest that is read back as this number
        text.append(cell, end);
        text += j + 1 < dim ? ',' : '\n';
    }
}

}  // namespace

bool can_write_vectors(const std::string& file) {
    return ending_of(file) != nullptr;
}

std::optional<ElementType> written_type(const std::string& file) {
    const Ending* ending = ending_of(file);
    return ending != nullptr ? ending->type : std::nullopt;
}

VectorWriter::VectorWriter(std::ostream& out, const std::string& file, std::int64_t count, std::int64_t dim,
                           ElementType type)
    : out_(out), ending_(ending_of(file)->text), dim_(dim) {
    if (ending_ == ".npy") put_npy_header(out_, std::array{count, dim}, npy_type(type));
    if (ending_.ends_with("bin"))
        out_ << little_bytes(static_cast<std::uint32_t>(count))
             << little_bytes(static_cast<std::uint32_t>(dim));
}

void VectorWriter::add(const Rows& rows) {
    const auto bytes = static_cast<std::streamsize>(rows.row_bytes());
    if (ending_ == ".csv") {
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
    } else if (ending_of(ending_)->counted) {
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
