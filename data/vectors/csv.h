#pragma once
/// Records of CSV (csv.cpp).

#include <cstddef>
#include <string>
#include <string_view>

namespace knn {

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
