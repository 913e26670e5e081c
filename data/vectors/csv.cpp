/// CSV, as RFC 4180 has it, with any of three delimiters: quotes around a field, two of them for one within; LF or CRLF; a byte order
/// mark; blank lines mean nothing. A line feed within quotes belongs to its field, so that a line here is a record.

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/transfer.h"
#include "data/vectors/content.h"

namespace knn {

namespace {

using Text = std::string_view;
constexpr std::size_t csv_piece_bytes = 1 << 20;
constexpr std::array usual_label_names = {"label", "class"};
constexpr const char* quoted_expected = "a field in quotes, with \"\" for a quote";

/// Begins of records: the end of the one that begins at `begin`, its line feed included.
std::size_t record_end(Text text, std::size_t begin) {
    bool quoted = false;
    for (std::size_t at = begin;;) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        quoted ^= std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                             text.begin() + static_cast<std::ptrdiff_t>(end), '"') &
                  1;
        if (end == text.size()) return end;
        if (!quoted) return end + 1;
        at = end + 1;
    }
}

Text trimmed(Text text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() &&
           (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' || text.back() == '\n'))
        text.remove_suffix(1);
    return text;
}

/// "…" of a field in a message, at most 20 characters, on one line.
std::string shown(Text field) {
    constexpr std::size_t most = 20;
    std::string text(field.substr(0, most));
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < ' '; }, ' ');
    return '"' + text + (field.size() > most ? "..." : "") + '"';
}

/// The fields of one record, one after another.
class Fields {
  public:
    Fields(Text record, char delimiter) : rest_(record), delimiter_(delimiter) {
        while (!rest_.empty() && (rest_.back() == '\n' || rest_.back() == '\r'))
            rest_.remove_suffix(1);
    }

    bool more() const { return more_; }
    /// A quoted field may be copied to `buffer`. False where what is quoted does not end, or something follows it.
    bool next(Text& field, std::string& buffer) {
        Text start = rest_;
        while (!start.empty() && start[0] == ' ')
            start.remove_prefix(1);
        if (start.starts_with('"')) return next_quoted(start, field, buffer);
        const std::size_t end = rest_.find(delimiter_);
        field = trimmed(rest_.substr(0, end));
        pass(end);
        return true;
    }

  private:
    bool next_quoted(Text start, Text& field, std::string& buffer) {
        buffer.clear();
        std::size_t at = 1;
        for (;; at += 2) {
            const std::size_t quote = start.find('"', at);
            if (quote == start.npos) return false;
            buffer.append(start.substr(at, quote - at));
            at = quote;
            if (at + 1 == start.size() || start[at + 1] != '"') break;
            buffer += '"';
        }
        field = buffer;
        rest_ = start.substr(at + 1);
        const std::size_t end = rest_.find(delimiter_);
        if (!trimmed(rest_.substr(0, end)).empty()) return false;
        pass(end);
        return true;
    }
    void pass(std::size_t end) {
        more_ = end != rest_.npos;
        rest_.remove_prefix(more_ ? end + 1 : rest_.size());
    }

    Text rest_;
    char delimiter_;
    bool more_ = true;
};

/// Whether the whole field is a number; infinity and NaN are. What is beyond a double's range is not.
bool parse_real(Text field, double& value) {
    if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    return error == std::errc() && end == field.data() + field.size();
}

/// Texts, each with the number that it got when it came first.
class Dictionary {
  public:
    std::uint32_t id_of(Text text) {
        if (!names_.empty() && names_[last_] == text) return last_;
        const auto [found, is_new] =
            ids_.try_emplace(std::string(text), static_cast<std::uint32_t>(names_.size()));
        if (is_new) names_.push_back(found->first);
        return last_ = found->second;
    }
    const std::vector<std::string>& names() const { return names_; }

  private:
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::uint32_t> ids_;
    std::uint32_t last_ = 0;
};

/// Records of the text, read together.
struct CsvPiece {
    std::size_t begin, end;
    std::int64_t first_row, first_line;
};

class CsvReader {
  public:
    explicit CsvReader(Content& content) : content_(content) {
        bytes_ = content.text([&](std::span<const char> so_far) { return has_enough(so_far); });
        text_ = {bytes_.data(), bytes_.size()};
        if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
    }

    VectorSet vectors() {
        examine();
        find_label_column();
        split();
        if (n_rows_ == 0) content_.fail("has no rows", "numbers, one row on each line");
        VectorSet set;
        set.count = n_rows_;
        set.dim = std::ssize(columns_) - (label_column_ ? 1 : 0);
        if (set.dim == 0) content_.fail("has no column but that of the labels", "numbers beside them");
        if (set.dim > max_columns)
            content_.fail("has " + with_commas(set.dim) + " columns", "at most " + with_commas(max_columns));
        read_rows(set);
        return set;
    }

    Labels labels() {
        label_column_ = 0;
        delimiter_ = '\n';  // none: a label may have commas
        columns_.resize(1);
        std::string buffer;
        begin_ = first_record(0);
        const Text first = text_.substr(begin_, record_end(text_, begin_) - begin_);
        Text name;
        if (Fields(first, delimiter_).next(name, buffer) && is_usual_name(name)) has_header_ = true;
        split();
        if (n_rows_ == 0) content_.fail("has no labels", "one on each line");
        VectorSet none;
        none.count = n_rows_;
        read_rows(none);
        return std::move(none.labels);
    }

  private:
    static bool is_usual_name(Text name) {
        return std::ranges::find(usual_label_names, lower_case(name)) != usual_label_names.end();
    }

    /// Whether these are a header and as many rows as are wanted.
    bool has_enough(std::span<const char> so_far) {
        const std::int64_t first = content_.options().first;
        const Text text(so_far.data(), so_far.size());
        while (first > 0 && seen_records_ <= first) {
            const std::size_t end = record_end(text, seen_);
            if (end == text.size()) return false;  // may go on
            if (!trimmed(text.substr(seen_, end - seen_)).empty()) ++seen_records_;
            seen_ = end;
        }
        return first > 0;
    }

    /// The first that is not blank from `at` on.
    std::size_t first_record(std::size_t at) const {
        while (at < text_.size()) {
            const std::size_t end = record_end(text_, at);
            if (!trimmed(text_.substr(at, end - at)).empty()) return at;
            at = end;
        }
        return at;
    }

    std::int64_t line_at(std::size_t at) const {
        return 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    }

    [[noreturn]] void fail_at(std::int64_t line, std::int64_t column, const std::string& what,
                              const std::string& expected) const {
        content_.fail(
            "line " + with_commas(line) + (column > 0 ? ", column " + with_commas(column) : "") + ": " + what,
            expected);
    }

    std::vector<std::string> fields_at(std::size_t at) const {
        std::vector<std::string> fields;
        if (at >= text_.size()) return fields;
        std::string buffer;
        Text field;
        for (Fields parts(text_.substr(at, record_end(text_, at) - at), delimiter_); parts.more();) {
            if (!parts.next(field, buffer))
                fail_at(line_at(at), std::ssize(fields) + 1, "its quotes do not end", quoted_expected);
            fields.emplace_back(field);
        }
        return fields;
    }

    /// The delimiter, the number of columns, and whether the first line is a header: if it has the name of the labels' column, or a text
    /// in a column in which the second has a number, and no column with numbers in both, as where a number is missing or damaged.
    void examine() {
        begin_ = first_record(0);
        const std::size_t end = record_end(text_, begin_);
        std::string unquoted;
        bool quoted = false;
        for (const char c : text_.substr(begin_, end - begin_)) {
            if (c == '"')
                quoted = !quoted;
            else if (!quoted)
                unquoted += c;
        }
        for (const char delimiter : {'\t', ';', ','})
            if (unquoted.find(delimiter) != unquoted.npos) {
                delimiter_ = delimiter;
                break;
            }
        columns_ = fields_at(begin_);
        const std::vector<std::string> second = fields_at(first_record(end));
        double value;
        const std::string& wanted = content_.options().label_column;
        for (const std::string& name : columns_)
            if (wanted.empty() ? is_usual_name(name) : name == wanted && !parse_real(name, value))
                has_header_ = true;
        bool text_first = false, numbers_first = false;
        for (std::size_t i = 0; i < std::min(columns_.size(), second.size()); ++i)
            if (parse_real(second[i], value))
                (parse_real(columns_[i], value) ? numbers_first : text_first) = true;
        has_header_ = has_header_ || (text_first && !numbers_first);
    }

    void find_label_column() {
        const std::string& wanted = content_.options().label_column;
        if (wanted == "none") return;
        const auto named = [&](auto&& is_it) -> std::optional<std::size_t> {
            for (std::size_t i = 0; has_header_ && i < columns_.size(); ++i)
                if (is_it(columns_[i])) return i;
            return std::nullopt;
        };
        if (wanted.empty()) {
            label_column_ = named(is_usual_name);
            return;
        }
        label_column_ = named([&](const std::string& name) { return name == wanted; });
        std::size_t number = 0;
        const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
        if (!label_column_ && error == std::errc() && end == wanted.data() + wanted.size() && number >= 1 &&
            number <= columns_.size())
            label_column_ = number - 1;
        if (label_column_) return;
        content_.fail(
            (has_header_ ? "has no column " : "has no header, and no column ") + shown(wanted),
            has_header_ ? "a name in its first line, or a number from 1 to " + std::to_string(columns_.size())
                        : "a number from 1 to " + std::to_string(columns_.size()));
    }

    /// Finds the pieces and counts the rows, as far as they are wanted.
    void split() {
        const std::int64_t first = content_.options().first;
        std::size_t at = has_header_ ? record_end(text_, begin_) : begin_;
        CsvPiece piece{at, at, 0, line_at(at)};
        std::int64_t line = piece.first_line;
        while (at < text_.size() && (first <= 0 || n_rows_ < first)) {
            const std::size_t end = record_end(text_, at);
            const Text record = text_.substr(at, end - at);
            line += std::count(record.begin(), record.end(), '\n');
            if (!trimmed(record).empty()) ++n_rows_;
            at = piece.end = end;
            if (piece.end - piece.begin < csv_piece_bytes) continue;
            throw_if_stopped();
            pieces_.push_back(piece);
            piece = {at, at, n_rows_, line};
        }
        if (piece.end > piece.begin) pieces_.push_back(piece);
    }

    void read_rows(VectorSet& set) {
        const auto dim = static_cast<std::size_t>(set.dim), count = static_cast<std::size_t>(set.count);
        content_.check_memory(text_.size() + count * dim * sizeof(double));
        Bytes reals(count * dim * sizeof(double), std::pmr::get_default_resource());
        std::vector<std::uint32_t> ids(label_column_ ? count : 0);
        std::vector<Dictionary> dictionaries(pieces_.size());
        std::atomic<bool> all_bytes = true;
        for_pieces(std::ssize(pieces_), content_.options().threads, [&](std::int64_t i) {
            const auto index = static_cast<std::size_t>(i);
            if (!read_piece(pieces_[index], dim, reinterpret_cast<double*>(reals.data()), ids,
                            dictionaries[index]))
                all_bytes = false;
        });
        if (label_column_) set.labels = merged(ids, dictionaries);
        if (dim == 0) return;
        if (!all_bytes) {
            set.type = ElementType::float64;
            set.elements = std::move(reals);
            if (content_.options().memory == std::pmr::get_default_resource()) return;
            reals = std::move(set.elements);
            set.elements = Bytes(count * dim * sizeof(double), content_.options().memory);
            std::memcpy(set.elements.data(), reals.data(), reals.size());
            return;
        }
        set.elements = Bytes(count * dim, content_.options().memory);
        const auto* values = reinterpret_cast<const double*>(reals.data());
        std::transform(values, values + count * dim, set.elements.data(),
                       [](double value) { return static_cast<std::uint8_t>(value); });
    }

    /// Returns whether all its numbers are whole ones from 0 to 255.
    bool read_piece(const CsvPiece& piece, std::size_t dim, double* reals, std::vector<std::uint32_t>& ids,
                    Dictionary& labels) const {
        bool bytes = true;
        auto row = static_cast<std::size_t>(piece.first_row);
        std::int64_t line = piece.first_line;
        std::string buffer;
        for (std::size_t at = piece.begin; at < piece.end;) {
            const std::size_t end = record_end(text_, at);
            const Text record = text_.substr(at, end - at);
            if (!trimmed(record).empty()) {
                double* out = reals + row * dim;
                std::size_t column = 0;
                for (Fields fields(record, delimiter_); fields.more(); ++column) {
                    Text field;
                    if (!fields.next(field, buffer))
                        fail_at(line, std::ssize(columns_) > 1 ? static_cast<std::int64_t>(column) + 1 : 0,
                                "its quotes do not end", quoted_expected);
                    if (column >= columns_.size()) continue;
                    if (label_column_ == column && field.empty())
                        fail_at(line, static_cast<std::int64_t>(column) + 1, "is empty", "a label");
                    if (label_column_ == column)
                        ids[row] = labels.id_of(field);
                    else
                        bytes &= put_number(field, line, static_cast<std::int64_t>(column) + 1, *out++);
                }
                if (column != columns_.size())
                    fail_at(line, 0, "has " + counted_columns(std::int64_t(column)),
                            counted_columns(std::ssize(columns_)) + ", as the first line has");
                ++row;
            }
            line += std::count(record.begin(), record.end(), '\n');
            at = end;
        }
        return bytes;
    }

    static std::string counted_columns(std::int64_t n) { return with_commas(n) + ' ' + noun(n, "column"); }

    bool put_number(Text field, std::int64_t line, std::int64_t column, double& value) const {
        if (!parse_real(field, value))
            fail_at(line, column, field.empty() ? "is empty" : shown(field) + " is no number of 64 bits",
                    "a number such as 1.5");
        if (!std::isfinite(value)) fail_at(line, column, shown(field) + " is not finite", "finite numbers");
        return value >= 0 && value <= 255 && value == std::floor(value);
    }

    /// The labels of all pieces, by one dictionary.
    Labels merged(std::vector<std::uint32_t>& ids, const std::vector<Dictionary>& dictionaries) const {
        Dictionary all;
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            std::vector<std::uint32_t> id_of;
            for (const std::string& name : dictionaries[i].names())
                id_of.push_back(all.id_of(name));
            const auto begin = static_cast<std::size_t>(pieces_[i].first_row);
            const std::size_t end =
                i + 1 < pieces_.size() ? static_cast<std::size_t>(pieces_[i + 1].first_row) : ids.size();
            for (std::size_t row = begin; row < end; ++row)
                ids[row] = id_of[ids[row]];
        }
        return named_labels(ids, all.names(), content_.file());
    }

    Content& content_;
    std::size_t seen_ = 0;           ///< while the text is read: where the next record begins
    std::int64_t seen_records_ = 0;  ///< before it
    std::vector<char> bytes_;
    Text text_;
    char delimiter_ = ',';
    std::size_t begin_ = 0;  ///< of the first record
    bool has_header_ = false;
    std::vector<std::string> columns_;  ///< the fields of the first record
    std::optional<std::size_t> label_column_;
    std::int64_t n_rows_ = 0;
    std::vector<CsvPiece> pieces_;
};

}  // namespace

VectorSet read_csv(Content& content) {
    return CsvReader(content).vectors();
}

Labels read_text_labels(Content& content) {
    return CsvReader(content).labels();
}

}  // namespace knn
