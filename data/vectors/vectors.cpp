#include "data/vectors/vectors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "data/core/errors.h"
#include "data/core/exact_distance.h"
#include "data/core/format.h"
#include "data/file/transfer.h"
#include "data/vectors/content.h"

namespace knn {

namespace fs = std::filesystem;

namespace {

constexpr const char* expected_vectors =
    "vectors as IDX, NPY, CSV, .fvecs, .bvecs, .ivecs, .fbin, .u8bin, .i8bin or .ibin, plain or gzip";
constexpr const char* expected_labels =
    "labels as IDX, NPY of integers, or a text with one on each line, plain or gzip";

enum class Format { npy, idx, binary, text, unknown };

struct Recognized {
    Format format = Format::unknown;
    const BinaryFormat* binary = nullptr;
};

bool is_text(std::span<const std::uint8_t> head) {
    return std::ranges::none_of(
        head, [](std::uint8_t c) { return c < ' ' && c != '\n' && c != '\r' && c != '\t'; });
}

Recognized recognized(const Content& content) {
    const std::span<const std::uint8_t> head = content.head();
    const std::string_view start(reinterpret_cast<const char*>(head.data()), head.size());
    if (start.starts_with("\x93NUMPY")) return {Format::npy};
    const std::string name = plain_name(content.file());
    for (const BinaryFormat& format : binary_formats)
        if (name.ends_with(format.ending)) return {Format::binary, &format};
    const bool idx = head.size() >= 4 && head[0] == 0 && head[1] == 0 && head[2] >= 0x08 && head[2] <= 0x0e &&
                     head[2] != 0x0a && head[3] >= 1;
    if (idx) return {Format::idx};
    return {is_text(head) || name.ends_with(".csv") ? Format::text : Format::unknown};
}

/// Whether a text is a whole number as it is usually written, not "007", of any size.
bool is_whole_number(std::string_view text) {
    const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
    return !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos &&
           (digits[0] != '0' || text == "0");
}

/// Names in the order of their class numbers: by value if all are whole numbers, else byte by byte.
bool class_before(const std::string& a, const std::string& b, bool numbers) {
    if (!numbers) return a < b;
    const bool negative = a[0] == '-';
    if (negative != (b[0] == '-')) return negative;
    const std::string &nearer_0 = negative ? b : a, &farther = negative ? a : b;
    return nearer_0.size() != farther.size() ? nearer_0.size() < farther.size() : nearer_0 < farther;
}

struct Classes {
    std::vector<std::string> names;  ///< empty: the numbers are the labels
    std::map<std::string, std::uint8_t, std::less<>> number_of;
};

/// The classes of different names. Throws DataError.
Classes classes_of(std::vector<std::string> names, const std::string& file) {
    if (names.size() > max_classes)
        throw DataError(file + ": has " + with_commas(std::ssize(names)) +
                        " different labels; expected at most " + std::to_string(max_classes) + " classes");
    const bool whole = std::ranges::all_of(names, is_whole_number);
    const bool are_bytes = whole && std::ranges::all_of(names, [](const std::string& name) {
                               return number_of<std::uint8_t>(name).has_value();
                           });
    std::ranges::sort(names, [&](auto& a, auto& b) { return class_before(a, b, whole); });
    Classes classes;
    for (std::size_t i = 0; i < names.size(); ++i)
        classes.number_of[names[i]] =
            static_cast<std::uint8_t>(are_bytes ? *number_of<std::uint8_t>(names[i]) : i);
    if (!are_bytes) classes.names = std::move(names);
    // A report has a replacement for each byte that is not UTF-8.
    std::set<std::string> written;
    for (const std::string& name : classes.names)
        if (!written
                 .insert(nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
                 .second)
            throw DataError(file +
                            ": has labels that differ only in bytes that are not UTF-8; expected a text of "
                            "ASCII or UTF-8");
    return classes;
}

std::string name_of_class(const Labels& labels, std::size_t number) {
    return labels.classes.empty() ? std::to_string(number) : labels.classes[number];
}

template <class From, class To>
void convert_all(const std::uint8_t* from, std::size_t n, std::uint8_t* to) {
    constexpr std::size_t piece = 1 << 20;
    for (std::size_t i = 0; i < n; ++i) {
        if (i % piece == 0) throw_if_stopped();
        store_as(to + i * sizeof(To), static_cast<To>(load_as<From>(from + i * sizeof(From))));
    }
}

/// The name without .gz and the ending of the format.
std::string stem_of(const fs::path& file) {
    return fs::path(file.filename().string().substr(0, plain_name(file).size())).stem().string();
}

/// Labels in a file of vectors, with one column of whole numbers.
Labels labels_of_column(const VectorSet& set, const Content& content) {
    if (set.dim != 1)
        content.fail("has " + with_commas(set.dim) + " columns", "labels: one column of whole numbers");
    std::vector<std::int64_t> values(static_cast<std::size_t>(set.count));
    const Bytes wide = converted(set.rows(), ElementType::float64);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto value = load_as<double>(wide.data() + i * sizeof(double));
        values[i] = value > -0x1p53 && value < 0x1p53 ? static_cast<std::int64_t>(value) : 0;
        if (static_cast<double>(values[i]) != value)
            content.fail("row " + with_commas(std::int64_t(i) + 1) + " is " + shortest(value),
                         "labels: whole numbers");
    }
    return numbered(values, content);
}

}  // namespace

std::string plain_name(const fs::path& file) {
    const std::string name = lower_case(file.filename().string());
    return name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
}

VectorSet load_vectors(const fs::path& file, const VectorOptions& options) {
    ByteSource source(file, expected_vectors);
    return read_vectors(source, options);
}

VectorSet read_vectors(ByteSource& source, const VectorOptions& options) {
    Content content(source, options);
    const auto [format, binary] = recognized(content);
    VectorSet set = format == Format::npy    ? read_npy(content)
                    : format == Format::idx  ? read_idx_vectors(content)
                    : binary != nullptr      ? read_binary(content, *binary)
                    : format == Format::text ? read_csv(content)
                                             : (content.fail("is in none of the known formats"), VectorSet());
    set.source = content.file();
    set.is_csv = format == Format::text;
    set.name = stem_of(source.file());
    return set;
}

Labels load_labels(const fs::path& file, std::int64_t first) {
    ByteSource source(file, expected_labels);
    return read_labels(source, first);
}

Labels read_labels(ByteSource& source, std::int64_t first) {
    Content content(source, {.first = first});
    const auto [format, binary] = recognized(content);
    if (format == Format::npy) return read_npy_labels(content);
    if (format == Format::idx) return read_idx_labels(content);
    if (format == Format::text) return read_text_labels(content);
    if (binary != nullptr) return labels_of_column(read_binary(content, *binary), content);
    content.fail("is in none of the known formats");
}

fs::path labels_beside(const fs::path& file) {
    const char* const ending = plain_name(file).ends_with(".csv") ? "-labels.csv" : "-labels.npy";
    return file.parent_path() / (stem_of(file) + ending);
}

std::array<fs::path, 2> label_names(const fs::path& file) {
    const fs::path usual = labels_beside(file);
    return {usual, fs::path(usual).replace_extension(usual.extension() == ".csv" ? ".npy" : ".csv")};
}

std::vector<fs::path> vectors_of_labels(const fs::path& labels) {
    constexpr std::string_view suffix = "-labels";
    std::string stem = labels.stem().string();
    if (!stem.ends_with(suffix) || (labels.extension() != ".npy" && labels.extension() != ".csv")) return {};
    stem.resize(stem.size() - suffix.size());
    std::vector<std::string> endings = {"", ".npy", ".csv"};
    for (const BinaryFormat& format : binary_formats)
        endings.emplace_back(format.ending);
    std::vector<fs::path> found;
    std::error_code none;
    for (const std::string& ending : endings)
        for (const char* packed : {"", ".gz"}) {
            const fs::path file = labels.parent_path() / (stem + ending + packed);
            if (fs::is_regular_file(file, none)) found.push_back(file);
        }
    return found;
}

Labels numbered(std::span<const std::int64_t> values, const Content& content) {
    Dictionary<std::int64_t> dictionary(content);
    std::vector<std::uint32_t> ids;
    for (const std::int64_t value : values)
        ids.push_back(dictionary.id_of(value));
    std::vector<std::string> names;
    for (const std::int64_t value : dictionary.values())
        names.push_back(std::to_string(value));
    return named_labels(ids, names, content.file());
}

Labels named_labels(std::span<const std::uint32_t> ids, std::span<const std::string> names,
                    const std::string& file) {
    Classes classes = classes_of({names.begin(), names.end()}, file);
    std::vector<std::uint8_t> number_of;
    for (const std::string& name : names)
        number_of.push_back(classes.number_of[name]);
    Labels labels{Bytes(ids.size()), std::move(classes.names)};
    std::ranges::transform(ids, labels.numbers.data(), [&](std::uint32_t id) { return number_of[id]; });
    return labels;
}

void check_label_column(const std::string& label_column, const VectorSet& train, const VectorSet* other) {
    if (!label_column.empty() && label_column != "none" && !train.is_csv &&
        (other == nullptr || !other->is_csv))
        throw DataError(train.source + ": has no column of labels; expected a CSV, or no §label-column");
}

void check_same_columns(const VectorSet& train, const VectorSet& other) {
    if (train.dim != other.dim)
        throw DataError(other.source + ": has " + counted(other.dim, "column") + ", but " + train.source +
                        " has " + with_commas(train.dim) + "; expected as many");
    if (train.are_images() && other.are_images() && train.shape != other.shape)
        throw DataError(other.source + ": has images of another shape than " + train.source +
                        "; expected training and test images of the same size");
    if (other.columns.empty() || train.columns == other.columns) return;
    const std::set<std::string> known(train.columns.begin(), train.columns.end());
    const auto shown = [](const std::string& name) {
        constexpr std::size_t most = 40;
        return name.size() > most ? name.substr(0, most) + "..." : name;
    };
    for (std::size_t i = 0; i < train.columns.size(); ++i)
        if (train.columns[i] != other.columns[i] && known.contains(other.columns[i]))
            throw DataError(other.source + ": column " + std::to_string(i + 1) + " of its numbers is " +
                            shown(other.columns[i]) + " where " + train.source + " has " +
                            shown(train.columns[i]) + "; expected its columns in the same order");
}

void unify_classes(Labels& a, Labels& b, const std::string& file) {
    if (a.classes == b.classes) return;
    std::set<std::string> names;
    for (const Labels* labels : {&a, &b})
        for (const std::uint8_t number : occurring_labels({labels->numbers.span()}))
            names.insert(name_of_class(*labels, number));
    const Classes classes = classes_of({names.begin(), names.end()}, file);
    for (Labels* labels : {&a, &b}) {
        for (std::uint8_t& number : std::span(labels->numbers.data(), labels->numbers.size()))
            number = classes.number_of.find(name_of_class(*labels, number))->second;
        labels->classes = classes.names;
    }
}

void check_elements(const std::string& file, const Rows& rows, const Measure& measure, std::int64_t n,
                    int threads) {
    constexpr std::int64_t piece_bytes = 1 << 20;
    const double most = rows.type == ElementType::float64   ? std::numeric_limits<double>::max()
                        : rows.type == ElementType::float32 ? std::numeric_limits<float>::max()
                                                            : 255;
    if (most <= largest_element(measure, n)) return;
    const std::int64_t piece = std::max<std::int64_t>(piece_bytes / rows.row_bytes(), 1);
    for_pieces((rows.count + piece - 1) / piece, threads, [&](std::int64_t i) {
        const std::int64_t begin = i * piece;
        Magnitude magnitude = magnitude_of(rows.slice(begin, std::min(piece, rows.count - begin)));
        magnitude.row += begin;
        if (const auto why = refuse_elements(measure, magnitude, n, 1)) throw DataError(file + ": " + *why);
    });
}

ElementType common_type(ElementType a, ElementType b) {
    using enum ElementType;
    if (a == b) return a;
    return a == float64 || b == float64 ? float64 : float32;
}

Bytes converted(const Rows& rows, ElementType type, std::pmr::memory_resource* memory) {
    Bytes result(static_cast<std::size_t>(rows.count * rows.dim * size_of(type)), memory);
    if (type == rows.type)
        std::copy_n(rows.pixels, result.size(), result.data());
    else if (type != ElementType::float32 && type != ElementType::float64)
        throw std::invalid_argument("converted: this type does not hold all values");
    else
        of_type(rows.type, [&]<class From>(From) {
            const auto convert =
                type == ElementType::float32 ? convert_all<From, float> : convert_all<From, double>;
            convert(rows.pixels, static_cast<std::size_t>(rows.count * rows.dim), result.data());
        });
    return result;
}

}  // namespace knn
