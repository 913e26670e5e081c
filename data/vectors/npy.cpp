#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <optional>

#include "data/core/format.h"
#include "data/core/problem.h"
#include "data/vectors/content.h"
#include "data/vectors/write.h"

namespace knn {

namespace {

constexpr const char* expected_header =
    "a dictionary with descr, fortran_order and shape, as numpy.save writes it";
constexpr std::uint32_t max_npy_header = 1 << 20;

/// The header of NumPy's format for one array (numpy.lib.format).
struct NpyHeader {
    std::string type;  ///< "<f4"
    bool fortran_order = false;
    std::vector<std::uint64_t> shape;
};

/// A Python dictionary of a string, a truth value and a tuple of whole numbers, in any order.
class HeaderParser {
  public:
    HeaderParser(std::string_view text, const Content& content) : rest_(text), content_(content) {}

    NpyHeader parse() {
        NpyHeader header;
        bool has_type = false, has_order = false, has_shape = false;
        expect('{');
        while (!accept('}')) {
            const std::string key = string();
            expect(':');
            if (key == "descr" && !has_type) {
                has_type = true;
                if (next() == '[') content_.fail("holds records of several fields", "one number type");
                header.type = string();
            } else if (key == "fortran_order" && !has_order) {
                has_order = true;
                header.fortran_order = truth();
            } else if (key == "shape" && !has_shape) {
                has_shape = true;
                header.shape = sizes();
            } else {
                fail();
            }
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        if (next() != '\0' || !has_type || !has_order || !has_shape) fail();
        return header;
    }

  private:
    static constexpr std::size_t most_letters = 32, most_sizes = 32;  // NumPy has no array of more

    [[noreturn]] void fail() const { content_.fail("has a damaged NPY header", expected_header); }

    char next() {
        while (!rest_.empty() &&
               (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t' || rest_[0] == '\r'))
            rest_.remove_prefix(1);
        return rest_.empty() ? '\0' : rest_[0];
    }
    bool accept(char c) {
        if (next() != c || rest_.empty()) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char c) {
        if (!accept(c)) fail();
    }
    std::string string() {
        const char quote = next();
        if (quote != '\'' && quote != '"') fail();
        const std::size_t end = rest_.find(quote, 1);
        if (end == rest_.npos) fail();
        std::string text(rest_.substr(1, end - 1));
        const bool is_printed = std::ranges::all_of(text, [](unsigned char c) { return c >= ' '; });
        if (text.size() > most_letters || !is_printed) fail();
        rest_.remove_prefix(end + 1);
        return text;
    }
    bool truth() {
        next();
        for (const std::string_view word : {"True", "False"})
            if (rest_.starts_with(word)) {
                rest_.remove_prefix(word.size());
                return word == "True";
            }
        fail();
    }
    std::vector<std::uint64_t> sizes() {
        std::vector<std::uint64_t> all;
        expect('(');
        while (!accept(')')) {
            next();
            std::uint64_t size = 0;
            const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
            constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
            if (error == std::errc::result_out_of_range || size > most)
                content_.fail("declares a size beyond 63 bits", expected_header);
            if (error != std::errc()) fail();
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            accept('L');  // of Python 2
            all.push_back(size);
            if (all.size() > most_sizes) fail();
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return all;
    }

    std::string_view rest_;
    const Content& content_;
};

NpyHeader npy_header(Content& content) {
    std::array<std::uint8_t, 12> start = {};
    content.read_exactly(std::span(start).first(8), "header");
    const int version = start[6];
    if (version < 1 || version > 3 || start[7] != 0)
        content.fail("is NPY of version " + std::to_string(version) + "." + std::to_string(start[7]),
                     "1.0, 2.0 or 3.0");
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    content.read_exactly(std::span(start).subspan(8, length_bytes), "header");
    std::uint32_t length = 0;
    for (std::size_t i = length_bytes; i-- > 0;)
        length = length << 8 | start[8 + i];
    if (length > max_npy_header)
        content.fail("declares a header of " + std::to_string(length) + " bytes",
                     "at most " + std::to_string(max_npy_header));
    std::vector<std::uint8_t> text(length);
    content.read_exactly(text, "header");
    return HeaderParser({reinterpret_cast<const char*>(text.data()), text.size()}, content).parse();
}

bool is_swapped(const NpyHeader& header) {
    return header.type[0] == (is_little ? '>' : '<');
}

/// "f4" of "<f4"; "" where the text is no such type.
std::string_view plain_type(const NpyHeader& header) {
    const std::string_view type = header.type;
    const bool known =
        type.size() >= 3 && (type[0] == '<' || type[0] == '>' || type[0] == '|' || type[0] == '=');
    return known ? type.substr(1) : std::string_view();
}

/// "int64" of "<i8", which reads like int8; other types as they are written.
std::string type_text(const NpyHeader& header) {
    constexpr std::string_view letters = "iufcb";
    constexpr std::array<std::string_view, letters.size()> names = {"int", "uint", "float", "complex",
                                                                    "bool"};
    const std::string_view type = plain_type(header);
    const std::size_t at = letters.find(type.substr(0, 1));
    std::size_t bytes = 0;
    if (type.empty() || at == letters.npos ||
        std::from_chars(type.data() + 1, type.data() + type.size(), bytes).ptr != type.data() + type.size() ||
        bytes > 64)
        return header.type;
    return std::string(names[at]) + (letters[at] == 'b' ? "" : std::to_string(8 * bytes));
}

std::string shape_text(const NpyHeader& header) {
    return '(' + joined(header.shape, [](std::uint64_t size) { return std::to_string(size); }) +
           (header.shape.size() == 1 ? ",)" : ")");
}

template <class Whole>
std::vector<std::int64_t> whole_numbers(const std::vector<std::uint8_t>& raw, bool other_order) {
    std::vector<std::int64_t> values(raw.size() / sizeof(Whole));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto value = load_as<Whole>(raw.data() + i * sizeof(Whole));
        values[i] = static_cast<std::int64_t>(other_order ? swapped(value) : value);
    }
    return values;
}

using ToWhole = std::vector<std::int64_t> (*)(const std::vector<std::uint8_t>&, bool);
struct WholeType {
    std::string_view name;
    std::size_t bytes;
    ToWhole values;
};
constexpr WholeType whole_types[] = {
    {"b1", 1, whole_numbers<std::uint8_t>}, {"u1", 1, whole_numbers<std::uint8_t>},
    {"i1", 1, whole_numbers<std::int8_t>},  {"u2", 2, whole_numbers<std::uint16_t>},
    {"i2", 2, whole_numbers<std::int16_t>}, {"u4", 4, whole_numbers<std::uint32_t>},
    {"i4", 4, whole_numbers<std::int32_t>}, {"u8", 8, whole_numbers<std::uint64_t>},
    {"i8", 8, whole_numbers<std::int64_t>},
};

}  // namespace

VectorSet read_npy(Content& content) {
    const NpyHeader header = npy_header(content);
    const std::string_view type = plain_type(header);
    const std::size_t rank = header.shape.size();
    std::optional<Stored> stored;
    for (const Stored one : {Stored::uint8, Stored::int8, Stored::float32, Stored::float64})
        if (type == npy_type(type_of(one))) stored = one;
    if (!stored) content.fail("holds " + type_text(header), "uint8, int8, float32 or float64");
    if (rank != 2 && rank != 3)
        content.fail("has the shape " + shape_text(header),
                     "two sizes, rows and columns, or three of images");
    RowLayout layout{header.shape[0], header.shape[1], *stored, is_swapped(header)};
    std::int64_t pixels = 0;
    if (rank == 3 && __builtin_mul_overflow(header.shape[1], header.shape[2], &pixels))
        content.fail("has the shape " + shape_text(header), "sizes within 63 bits");
    if (rank == 3) layout.dim = static_cast<std::uint64_t>(pixels);
    if (header.fortran_order) layout.fortran_rows = rank == 3 ? header.shape[1] : 1;
    const bool images = rank == 3 && *stored == Stored::uint8;
    if (images) {
        constexpr std::uint64_t most = std::numeric_limits<int>::max();
        if (header.shape[1] > most || header.shape[2] > most)
            content.fail("has the shape " + shape_text(header), "images of sizes within 31 bits");
        layout.max_columns = max_dim;
    }
    VectorSet set = content.rows(layout);
    if (images) set.shape = {static_cast<int>(header.shape[1]), static_cast<int>(header.shape[2])};
    return set;
}

Labels read_npy_labels(Content& content) {
    const NpyHeader header = npy_header(content);
    const std::string_view type = plain_type(header);
    const std::size_t rank = header.shape.size();
    if (rank != 1 && !(rank == 2 && header.shape[1] == 1))
        content.fail("has the shape " + shape_text(header), "one size, a label for each row");
    for (const WholeType& whole : whole_types) {
        if (whole.name != type) continue;
        // As rows of so many bytes they are checked and read like others.
        const VectorSet raw = content.rows({header.shape[0], whole.bytes, Stored::uint8});
        const std::vector<std::uint8_t> bytes(raw.elements.data(), raw.elements.data() + raw.elements.size());
        const std::vector<std::int64_t> values = whole.values(bytes, is_swapped(header));
        if (type == "u8")
            for (const std::int64_t value : values)
                if (value < 0)
                    content.fail("has a label above 9,223,372,036,854,775,807", "labels within 63 bits");
        return numbered(values, content);
    }
    content.fail("holds " + type_text(header), "labels: integers of any type");
}

}  // namespace knn
