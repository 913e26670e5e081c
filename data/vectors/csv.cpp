/// Reads CSV: what the first records say of all, then pieces of the text by several threads.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <string>
#include <string_view>

#include "data/core/format.h"
#include "data/file/transfer.h"
#include "data/vectors/content.h"
#include "data/vectors/csv.h"

namespace knn {

namespace {

using Text = std::string_view;
constexpr std::size_t csv_piece_bytes = 1 << 20;
/// Of a record with the blank lines before it.
constexpr std::size_t most_record_bytes = 16 << 20;
constexpr std::size_t most_label_bytes = 1000;  // reports repeat the names of classes
/// Fields, and labels, between two looks at whether the user asks to stop.
constexpr std::size_t fields_between_looks = 4096;
constexpr std::array delimiters = {'\t', ';', ','};
constexpr std::array usual_label_names = {"label", "class"};
constexpr const char* number_expected = "a number such as 1.5";
constexpr const char* quoted_expected = "a field in quotes, with \"\" for a quote";

/// "…" of a field in a message, at most 20 characters, on one line.
std::string shown(Text field) {
    constexpr std::size_t most = 20;
    std::string text(field.substr(0, most));
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < ' '; }, ' ');
    return '"' + text + (field.size() > most ? "..." : "") + '"';
}

bool is_control(char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t';
}

/// Whether these are a control character of Unicode beyond ASCII, U+0080 to U+009F, which a terminal may obey.
bool is_control(char first, char second) {
    return first == '\xc2' && static_cast<unsigned char>(second) >= 0x80 &&
           static_cast<unsigned char>(second) < 0xa0;
}

using Names = Dictionary<std::string>;

/// Records of the text, read together.
struct CsvPiece {
    std::size_t begin, end;
    std::int64_t first_row, first_line;
};

/// Where a record that is not blank begins and ends, its line feed included.
struct Record {
    std::size_t begin = 0, end = 0;
};

class CsvReader {
  public:
    CsvReader(Content& content, bool is_table) : content_(content), is_table_(is_table) {
        bytes_ = content.text([&](Text so_far) { return look_at(so_far); });
        text_ = bytes_.view();
        if (!trimmed(text_.substr(record_begin_)).empty()) keep_record(text_.size());
        check_line_ends(text_of(firsts_[0]));
    }

    VectorSet vectors() {
        if (n_columns_ == 0) examine();
        split();
        if (n_rows_ == 0) content_.fail("has no rows", "numbers, one row on each line");
        VectorSet set;
        set.count = n_rows_;
        set.dim = static_cast<std::int64_t>(n_columns_) - (label_column_ ? 1 : 0);
        if (set.dim == 0) content_.fail("has no column but that of the labels", "numbers beside them");
        if (set.dim > max_columns) fail_as_too_wide();
        if (has_header_) set.columns = column_names();
        read_rows(set);
        return set;
    }

    Labels labels() {
        for (const char delimiter : delimiters)
            if (begins_as_table(delimiter))
                content_.fail("has columns beside that of the labels", "one label on each line");
        label_column_ = 0;
        delimiter_ = '\n';  // none: a label may have commas
        n_columns_ = 1;
        std::string buffer;
        Text name;
        if (CsvFields(text_of(firsts_[0]), delimiter_).next(name, buffer) && is_usual_name(name))
            has_header_ = true;
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

    /// Looks at what was read since it was last called, and refuses what is no CSV before more of it is read. Returns whether these are
    /// a header and as many rows as are wanted.
    bool look_at(Text so_far) {
        const std::int64_t first = content_.options().first;
        text_ = so_far;
        if (seen_ == 0 && text_.starts_with("\xef\xbb\xbf")) seen_ = kept_ = record_begin_ = 3;
        while (seen_ < text_.size() && (first <= 0 || n_records_ <= first)) {
            const std::size_t end = std::min(text_.find('\n', seen_), text_.size());
            see(text_.substr(seen_, end - seen_));
            seen_ = std::min(end + 1, text_.size());
            if (seen_ - kept_ > most_record_bytes) fail_as_too_long();
            if (end == text_.size() || in_quotes_) continue;
            if (!trimmed(text_.substr(record_begin_, end - record_begin_)).empty()) {
                keep_record(seen_);
                if (n_records_ == std::ssize(firsts_) && is_table_) check_firsts();
            }
            record_begin_ = seen_;
        }
        return first > 0 && n_records_ > first;
    }

    /// Reads the first rows: a text of another kind may be long, or have no end.
    void check_firsts() {
        check_line_ends(text_of(firsts_[0]));
        examine();
        const std::size_t last = content_.options().first == 1 && !has_header_ ? 0 : 1;
        const std::size_t begin = firsts_[has_header_ ? 1 : 0].begin;
        std::vector<double> numbers(2 * n_columns_);
        std::vector<std::uint32_t> ids(2);
        Names labels(content_);
        read_piece({begin, firsts_[last].end, 0, line_at(begin)}, n_columns_ - (label_column_ ? 1 : 0),
                   numbers.data(), ids, labels);
    }

    /// A part of one line.
    void see(Text part) {
        bool any = false;
        char before = part.data() > text_.data() ? part.data()[-1] : '\0';  // of a piece that was read before
        for (const char c : part) {
            any |= is_control(c) || is_control(before, c);
            before = c;
        }
        if (any) fail_as_control(part);
        if (n_records_ > 0) {
            in_quotes_ ^= std::ranges::count(part, '"') & 1;
            return;
        }
        for (const char c : part) {
            in_quotes_ ^= c == '"';
            for (std::size_t i = 0; i < delimiters.size(); ++i)
                n_delimiters_[i] += !in_quotes_ && c == delimiters[i];
        }
        if (is_table_ && std::ranges::max(n_delimiters_) > max_columns) fail_as_too_wide();
    }

    [[noreturn]] void fail_as_control(Text part) const {
        constexpr const char* digits = "0123456789ABCDEF";
        auto at = static_cast<std::size_t>(part.data() - text_.data());
        while (!is_control(text_[at]) && !(at > 0 && is_control(text_[at - 1], text_[at])))
            ++at;
        const auto byte = static_cast<unsigned char>(text_[at]);
        fail_at(line_at(seen_), 0,
                std::string(byte < ' ' ? "has the byte 0x" : "has the character U+00") + digits[byte / 16] +
                    digits[byte % 16] + ", a control character",
                "a text of ASCII or UTF-8");
    }

    void keep_record(std::size_t end) {
        if (n_records_ < std::ssize(firsts_))
            firsts_[static_cast<std::size_t>(n_records_)] = {record_begin_, end};
        ++n_records_;
        kept_ = record_begin_ = end;
    }

    [[noreturn]] void fail_as_too_wide() const {
        check_line_ends(text_.substr(record_begin_));
        const std::string most = with_commas(max_columns);
        content_.fail("has more than " + most + " columns", "at most " + most);
    }

    [[noreturn]] void fail_as_too_long() const {
        check_line_ends(text_.substr(record_begin_, most_record_bytes));
        const std::string most = with_commas(most_record_bytes) + " bytes";
        if (in_quotes_)
            fail_at(line_at(record_begin_), 0, "its quotes do not end within " + most, quoted_expected);
        if (trimmed(text_.substr(kept_)).empty())
            fail_at(line_at(kept_), 0, "more than " + most + " of blank lines begin", "rows");
        fail_at(line_at(record_begin_), 0, "is longer than " + most + ", with the blank lines before it",
                "a line feed after each row");
    }

    /// As old Macs had them.
    void check_line_ends(Text text) const {
        bool quoted = false;
        for (std::size_t at = 0; at + 1 < text.size(); ++at) {
            quoted ^= text[at] == '"';
            if (text[at] == '\r' && text[at + 1] != '\n' && text[at + 1] != '\r' && !quoted)
                content_.fail("its lines end with a carriage return (CR) alone",
                              "a line feed (LF, or CR and LF) after each row");
        }
    }

    Text text_of(const Record& record) const { return text_.substr(record.begin, record.end - record.begin); }

    std::int64_t line_at(std::size_t at) const {
        return 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    }

    [[noreturn]] void fail_at(std::int64_t line, std::int64_t column, const std::string& what,
                              const std::string& expected) const {
        content_.fail(
            "line " + with_commas(line) + (column > 0 ? ", column " + with_commas(column) : "") + ": " + what,
            expected);
    }

    /// The delimiter, the number of columns, that of the labels if the first line names it, and whether that line is a header: if it names
    /// it, has a name in a column in which the second has a number, or is the only one and has names alone. A name begins with a letter,
    /// or is in quotes where the number is not. Any text will do where the first line has no number in such a column; "NA" or "2,5"
    /// beside numbers is a damaged number.
    void examine() {
        for (std::size_t i = 0; i < delimiters.size(); ++i)
            if (n_delimiters_[i] > 0) {
                delimiter_ = delimiters[i];
                break;
            }
        const std::string& wanted = content_.options().label_column;
        const std::size_t label_number = number_of<std::size_t>(wanted).value_or(0);
        CsvFields firsts(text_of(firsts_[0]), delimiter_), seconds(text_of(firsts_[1]), delimiter_);
        std::string buffer, second_buffer;
        bool has_name = false, has_text = false, has_numbers = false, has_second = firsts_[1].end > 0;
        bool only_names = !has_second;
        for (Text first, second; firsts.more() && firsts_[0].end > 0;) {
            if (n_columns_ % fields_between_looks == 0) throw_if_stopped();
            ++n_columns_;
            const auto read = [&](CsvFields& fields, const Record& record, Text& field, std::string& bytes) {
                if (!fields.next(field, bytes))
                    fail_at(line_at(record.begin), static_cast<std::int64_t>(n_columns_),
                            "its quotes do not end the field", quoted_expected);
            };
            read(firsts, firsts_[0], first, buffer);
            const bool number = is_number(first);
            if (wanted.empty() ? is_usual_name(first) : first == wanted) {
                named_columns_.push_back(n_columns_);
                has_header_ = has_header_ || wanted.empty() || !number;
            }
            only_names = only_names && is_column_name(first);
            has_second = has_second && seconds.more();
            if (has_second) read(seconds, firsts_[1], second, second_buffer);
            if (!has_second || n_columns_ == label_number || !is_number(second)) continue;
            const bool quoted = firsts.quoted() && !seconds.quoted();
            has_name = has_name || is_column_name(first);
            (number && !quoted ? has_numbers : has_text) = true;
        }
        has_header_ = has_header_ || has_name || (has_text && !has_numbers) || (only_names && n_columns_ > 1);
        find_label_column();
        if (has_header_ && label_column_ != 0 && first_is_unnamed(delimiter_))
            fail_at(line_at(firsts_[0].begin), 1, "has no name, as a column of row numbers",
                    "a name, or a file without that column (pandas: index=False)");
    }

    /// As programs write the column of row numbers: "Unnamed: 0" is what pandas makes of one that it reads.
    bool first_is_unnamed(char delimiter) const {
        std::string buffer;
        Text name;
        CsvFields fields(text_of(firsts_[0]), delimiter);
        return fields.next(name, buffer) && fields.more() && (name.empty() || name == "Unnamed: 0");
    }

    /// Whether the first line of a text of labels is a header of several columns, or several numbers.
    bool begins_as_table(char delimiter) const {
        if (first_is_unnamed(delimiter)) return true;
        std::string buffer;
        std::size_t columns = 0, usual = 0, numbers = 0;
        CsvFields fields(text_of(firsts_[0]), delimiter);
        for (Text name; fields.more() && fields.next(name, buffer); ++columns) {
            usual += is_usual_name(name);
            numbers += is_number(name);
        }
        return columns > 1 && (usual > 0 || numbers == columns);
    }

    void find_label_column() {
        const std::string& wanted = content_.options().label_column;
        const std::int64_t unlabeled = content_.options().unlabeled;
        if (wanted == "none" || (!wanted.empty() && std::int64_t(n_columns_) == unlabeled)) return;
        if (has_header_ && named_columns_.size() > 1)
            fail_at(line_at(firsts_[0].begin), 0,
                    "columns " + std::to_string(named_columns_[0]) + " and " +
                        std::to_string(named_columns_[1]) + " may both have the labels",
                    "§label-column with the number of one");
        if (has_header_ && !named_columns_.empty()) label_column_ = named_columns_[0] - 1;
        if (label_column_ || wanted.empty()) return;
        const std::size_t number = number_of<std::size_t>(wanted).value_or(0);
        if (number >= 1 && number <= n_columns_) {
            label_column_ = number - 1;
            return;
        }
        content_.fail(
            (has_header_ ? "has no column " : "has no header, and no column ") + shown(wanted),
            (has_header_ ? "a name in its first line, or a number from 1 to " : "a number from 1 to ") +
                std::to_string(n_columns_));
    }

    /// Those of the header, without that of the labels.
    std::vector<std::string> column_names() const {
        std::vector<std::string> names;
        std::string buffer;
        std::size_t column = 0;
        CsvFields fields(text_of(firsts_[0]), delimiter_);
        for (Text name; fields.more() && fields.next(name, buffer); ++column) {
            if (column % fields_between_looks == 0) throw_if_stopped();
            if (column != label_column_) names.emplace_back(name);
        }
        return names;
    }

    /// Finds the pieces and counts the rows, as far as they are wanted.
    void split() {
        const std::int64_t first = content_.options().first;
        std::size_t at = has_header_ ? firsts_[0].end : firsts_[0].begin;
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
        if (count * n_columns_ > text_.size() + 1) find_short_record();
        content_.check_memory(text_.size() + count * dim * sizeof(double));
        Bytes reals(count * dim * sizeof(double), std::pmr::get_default_resource());
        std::vector<std::uint32_t> ids(label_column_ ? count : 0);
        std::vector<Names> dictionaries(pieces_.size(), Names(content_));
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
            if (content_.options().memory != std::pmr::get_default_resource())
                set.elements = converted(set.rows(), set.type, content_.options().memory);
            return;
        }
        set.elements = Bytes(count * dim, content_.options().memory);
        const auto* values = reinterpret_cast<const double*>(reals.data());
        for (std::size_t begin = 0, end; begin < count * dim; begin = end) {
            throw_if_stopped();
            end = std::min(begin + csv_piece_bytes, count * dim);
            std::transform(values + begin, values + end, set.elements.data() + begin,
                           [](double value) { return static_cast<std::uint8_t>(value); });
        }
    }

    /// Where there are more rows and columns than the text has room for: throws before memory for them is asked for.
    void find_short_record() const {
        for (const CsvPiece& piece : pieces_) {
            std::int64_t line = piece.first_line;
            for (std::size_t at = piece.begin, end; at < piece.end; at = end) {
                throw_if_stopped();
                end = record_end(text_, at);
                const Text record = text_.substr(at, end - at);
                std::size_t columns = 0;
                std::string buffer;
                Text field;
                for (CsvFields fields(record, delimiter_); fields.more() && fields.next(field, buffer);)
                    ++columns;
                if (!trimmed(record).empty() && columns < n_columns_) fail_at_columns(line, record, columns);
                line += std::count(record.begin(), record.end(), '\n');
            }
        }
    }

    /// Returns whether all its numbers are whole ones from 0 to 255.
    bool read_piece(const CsvPiece& piece, std::size_t dim, double* reals, std::vector<std::uint32_t>& ids,
                    Names& labels) const {
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
                for (CsvFields fields(record, delimiter_); fields.more(); ++column) {
                    Text field;
                    if (column % fields_between_looks == 0) throw_if_stopped();
                    if (!fields.next(field, buffer))
                        fail_at(line, n_columns_ > 1 ? static_cast<std::int64_t>(column) + 1 : 0,
                                "its quotes do not end the field", quoted_expected);
                    if (column >= n_columns_) continue;
                    if (label_column_ == column && field.empty())
                        fail_at(line, static_cast<std::int64_t>(column) + 1, "is empty", "a label");
                    if (label_column_ == column && field.size() > most_label_bytes)
                        fail_at(line, static_cast<std::int64_t>(column) + 1,
                                "is a label of " + with_commas(std::int64_t(field.size())) + " bytes",
                                "at most " + with_commas(std::int64_t{most_label_bytes}));
                    if (label_column_ == column)
                        ids[row] = labels.id_of(field);
                    else
                        bytes &= put_number(field, line, static_cast<std::int64_t>(column) + 1, *out++);
                }
                if (column != n_columns_) fail_at_columns(line, record, column);
                ++row;
            }
            line += std::count(record.begin(), record.end(), '\n');
            at = end;
        }
        return bytes;
    }

    [[noreturn]] void fail_at_columns(std::int64_t line, Text record, std::size_t columns) const {
        const bool joins = record.find('\n') < record.size() - 1;
        if (joins && n_columns_ == 1)
            fail_at(line, 0, "a quote in it joins it with the lines below", quoted_expected);
        fail_at(line, 0,
                "has " + counted(std::int64_t(columns), "column") +
                    (joins ? " with the lines that a quote in it joins" : ""),
                counted(std::int64_t(n_columns_), "column") + ", as the first line has");
    }

    bool put_number(Text field, std::int64_t line, std::int64_t column, double& value) const {
        const ParsedReal parsed = parse_real(field, value);
        if (parsed == ParsedReal::too_large)
            fail_at(line, column, shown(field) + " is too large for a number of 64 bits",
                    "at most 1.79e+308 in magnitude");
        if (parsed == ParsedReal::not_one)
            fail_at(line, column, field.empty() ? "is empty" : shown(field) + " is no number of 64 bits",
                    number_expected + way_out(field, line, column));
        if (!std::isfinite(value)) fail_at(line, column, shown(field) + " is not finite", "finite numbers");
        return value >= 0 && value <= 255 && value == std::floor(value);
    }

    /// What to do where no number in the first line is none by mistake.
    std::string way_out(Text field, std::int64_t line, std::int64_t column) const {
        if (line != line_at(firsts_[has_header_ ? 1 : 0].begin)) return "";
        if (n_columns_ == 1) return ", and a comma, semicolon or tab between columns";
        const bool labels_unknown = !label_column_ && content_.options().label_column.empty();
        if (labels_unknown && is_column_name(field))
            return ", or §label-column " + std::to_string(column) + " if these are labels";
        if (has_header_) return "";
        if (field.empty() && column == 1)
            return ", or names in quotes, and no column of row numbers (pandas: index=False), if this line "
                   "is a header";
        return ", or names in quotes if this line is a header";
    }

    /// The labels of all pieces, by one dictionary.
    Labels merged(std::vector<std::uint32_t>& ids, const std::vector<Names>& dictionaries) const {
        Names all(content_);
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            throw_if_stopped();
            std::vector<std::uint32_t> id_of;
            for (const std::string& name : dictionaries[i].values())
                id_of.push_back(all.id_of(name));
            const auto begin = static_cast<std::size_t>(pieces_[i].first_row);
            const std::size_t end =
                i + 1 < pieces_.size() ? static_cast<std::size_t>(pieces_[i + 1].first_row) : ids.size();
            for (std::size_t row = begin; row < end; ++row)
                ids[row] = id_of[ids[row]];
        }
        return named_labels(ids, all.values(), content_.file());
    }

    Content& content_;
    bool is_table_;  ///< else one label on each line
    GrowingText bytes_;
    Text text_;
    // While the text is read:
    std::size_t seen_ = 0;          ///< so far
    std::size_t kept_ = 0;          ///< the end of the last record that is not blank
    std::size_t record_begin_ = 0;  ///< of the one that is being read
    bool in_quotes_ = false;
    std::int64_t n_records_ = 0;
    std::array<std::int64_t, delimiters.size()> n_delimiters_ = {};  ///< in the first record

    std::array<Record, 2> firsts_ = {};  ///< the first two; empty if they are not there
    char delimiter_ = ',';
    bool has_header_ = false;
    std::size_t n_columns_ = 0;
    std::vector<std::size_t> named_columns_;  ///< as that of the labels, from 1
    std::optional<std::size_t> label_column_;
    std::int64_t n_rows_ = 0;
    std::vector<CsvPiece> pieces_;
};

}  // namespace

VectorSet read_csv(Content& content) {
    return CsvReader(content, true).vectors();
}

Labels read_text_labels(Content& content) {
    return CsvReader(content, false).labels();
}

}  // namespace knn
