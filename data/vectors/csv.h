#pragma once
/// The text of CSV, as RFC 4180 has it, with any of three delimiters: quotes around a field, two of them for one within; LF or CRLF; a
/// byte order mark; blank lines mean nothing. A line feed within quotes belongs to its field, so that a line here is a record.

#include <cstddef>
#include <string>
#include <string_view>

namespace knn {

/// Where the record of `text` that begins at `begin` ends; its line feed is included.
std::size_t record_end(std::string_view text, std::size_t begin);

/// Without spaces, tabs and ends of lines around it.
std::string_view trimmed(std::string_view text);

enum class ParsedReal { number, too_large, not_one };

/// The double nearest to the whole field, as numpy reads it: 0 of 1e-400. Infinity and NaN are numbers.
ParsedReal parse_real(std::string_view field, double& value);

bool is_number(std::string_view field);

/// Whether a text can name a column: it begins with a letter, and does not stand for a missing number.
bool is_column_name(std::string_view field);

/// The fields of one record, one after another.
class CsvFields {
  public:
    CsvFields(std::string_view record, char delimiter) : rest_(record), delimiter_(delimiter) {
        while (!rest_.empty() && (rest_.back() == '\n' || rest_.back() == '\r'))
            rest_.remove_suffix(1);
    }

    bool more() const { return more_; }
    /// Whether the last one was in quotes.
    bool quoted() const { return quoted_; }
    /// A quoted field may be copied to `buffer`. False where what is quoted does not end, or something follows it.
    bool next(std::string_view& field, std::string& buffer);

  private:
    bool next_quoted(std::string_view start, std::string_view& field, std::string& buffer);
    void pass(std::size_t end);

    std::string_view rest_;
    char delimiter_;
    bool more_ = true, quoted_ = false;
};

}  // namespace knn
