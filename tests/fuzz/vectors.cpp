/// Files of vectors and of labels in each format, plain and gzip: the same content read at once and in pieces, of known and of unknown
/// size; written as NPY and read again; written as CSV by their shortest decimals and read again.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "data/core/errors.h"
#include "data/file/byte_source.h"
#include "data/vectors/vectors.h"
#include "data/vectors/write.h"
#include "tests/fuzz/input.h"
#include "tests/support/idx_bytes.h"

namespace knn {

namespace {

using test::require;
using View = std::span<const std::uint8_t>;

constexpr std::array names = {"x",       "x.npy",  "x.csv",   "x.fvecs", "x.bvecs",
                              "x.ivecs", "x.fbin", "x.u8bin", "x.i8bin", "x.ibin"};

struct Way {
    std::string name;
    std::size_t piece;
    bool size_known;
    VectorOptions options;
    bool labels;
};

/// None if the content is refused. Of labels they alone.
std::optional<VectorSet> read(View content, const Way& way) {
    try {
        std::optional<std::uint64_t> bytes;
        if (way.size_known) bytes = content.size();
        ByteSource source(test::in_pieces({content.begin(), content.end()}, way.piece), bytes, way.name,
                          "vectors");
        VectorSet set;
        if (way.labels)
            set.labels = read_labels(source, way.options.first);
        else
            set = read_vectors(source, way.options);
        return set;
    } catch (const DataError& error) {
        require(std::string_view(error.what()).find('\n') == std::string_view::npos, "an error is one line");
        return std::nullopt;
    }
}

bool same(View a, View b) {
    return std::ranges::equal(a, b);
}

void check_equal(const VectorSet& a, const VectorSet& b, const char* what) {
    require(a.type == b.type && a.count == b.count && a.dim == b.dim && a.shape == b.shape, what);
    require(same(a.elements.span(), b.elements.span()), what);
    require(same(a.labels.numbers.span(), b.labels.numbers.span()) && a.labels.classes == b.labels.classes,
            what);
}

void check_sizes(const VectorSet& set) {
    require(set.count > 0 && set.dim > 0, "there are rows and columns");
    require(std::int64_t(set.elements.size()) == set.rows().bytes(),
            "there is an element for each row and column");
    require(!set.has_labels() || std::int64_t(set.labels.numbers.size()) == set.count,
            "there is a label for each row");
    for (const std::uint8_t label : set.labels.numbers.span())
        require(set.labels.classes.empty() || label < set.labels.classes.size(), "a label has a name");
    const Bytes wide = converted(set.rows(), ElementType::float64);
    for (std::size_t i = 0; i < wide.size(); i += 8) {
        double value = 0;
        std::memcpy(&value, wide.data() + i, 8);
        require(std::isfinite(value), "numbers are finite");
    }
}

/// Written in another format and read again.
void check_written(const VectorSet& set) {
    std::ostringstream npy, csv;
    write_npy(npy, set.rows());
    VectorWriter(csv, "x.csv", set.count, set.dim, set.type).add(set.rows());
    const std::string text = npy.str(), lines = csv.str();
    const Way way{"y.npy", 1 << 20, true, {}, false};
    const auto again = read({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, way);
    require(again && again->type == set.type && same(again->elements.span(), set.elements.span()),
            "NPY keeps every bit");
    Way as_csv = way;
    as_csv.name = "y.csv";
    as_csv.options.label_column = "none";
    const auto numbers = read({reinterpret_cast<const std::uint8_t*>(lines.data()), lines.size()}, as_csv);
    require(numbers.has_value() && numbers->count == set.count && numbers->dim == set.dim,
            "CSV keeps the shape");
    const Bytes a = converted(set.rows(), ElementType::float64),
                b = converted(numbers->rows(), ElementType::float64);
    for (std::size_t i = 0; i < a.size(); i += 8) {
        double x = 0, y = 0;
        std::memcpy(&x, a.data() + i, 8);
        std::memcpy(&y, b.data() + i, 8);
        if (set.type == ElementType::float32) y = static_cast<float>(y);
        require(x == y, "CSV keeps the numbers");
    }
}

}  // namespace

}  // namespace knn

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    knn::test::Input input(data, size);
    const unsigned format = input.byte(), flags = input.byte();
    constexpr std::array<std::size_t, 4> pieces = {1, 3, 100, 5000};
    knn::Way way{knn::names[format % knn::names.size()], size + 1, true, {}, (flags & 1) != 0};
    way.options.free_bytes = 1 << 30;
    if (flags & 2) way.options.first = 1 + (flags >> 6);
    if (flags & 4) way.options.label_column = flags & 8 ? "1" : "none";
    std::vector<std::uint8_t> content(input.rest().begin(), input.rest().end());
    if (format & 128) {
        const std::string packed =
            knn::test::gzip({reinterpret_cast<const char*>(content.data()), content.size()}, 1);
        content.assign(packed.begin(), packed.end());
        way.name += ".gz";
    }
    const auto whole = knn::read(content, way);
    way.piece = pieces[flags >> 4 & 3];
    way.size_known = false;
    way.options.threads = 1;
    const auto other = knn::read(content, way);
    // Sizes beyond those of the file are noticed early where they are known, but files of one size are accepted alike.
    knn::test::require(whole.has_value() == other.has_value() || way.options.first > 0,
                       "both ways to read accept the same");
    if (!whole || !other) return 0;
    knn::check_equal(*whole, *other, "both ways to read give the same");
    if (way.labels) return 0;
    knn::check_sizes(*whole);
    if (whole->dim * whole->count < 1000) knn::check_written(*whole);
    return 0;
}
