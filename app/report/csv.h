#pragma once
/// The answers row by row, for spreadsheets and scripts. Lines end in "\n"; the same answers give the same bytes.

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "app/console/console.h"
#include "classifier/evaluation.h"

namespace knn {

/// A text as a field of a CSV (RFC 4180): in quotes where it has commas, quotes or ends of lines, or, where `blanks` counts, a
/// blank at its begin or end.
std::string text_cell(std::string_view text, bool blanks = true);
/// The names of all classes as cells, by label.
std::vector<std::string> class_cells(const Dataset& data);

/// Collects lines and writes them to a stream in pieces of about a mebibyte; the destructor writes the rest.
class Lines {
  public:
    explicit Lines(std::ostream& out, char separator = ',') : out_(out), separator_(separator) {}
    ~Lines() { out_ << text_; }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    /// One line of these cells. False once the stream has failed.
    template <class... Cells>
    bool row(const Cells&... cells) {
        (add(cells), ...);
        text_.back() = '\n';
        if (text_.size() >= 1 << 20) {
            stop_if_asked();
            out_ << text_;
            text_.clear();
        }
        return out_.good();
    }

  private:
    void add(std::string_view text) { (text_ += text) += separator_; }
    template <class Number>
    requires std::is_arithmetic_v<Number>
    void add(Number value) {
        char text[32];
        add(std::string_view(text, std::to_chars(text, text + sizeof text, value).ptr));
    }

    std::ostream& out_;
    char separator_;
    std::string text_;
};

/// index,label,predicted,confidence,vote_share: one line per test image.
void write_predictions_csv(std::ostream& out, const Evaluation& evaluation);

/// query,rank,index,label,distance: k lines per test image; rank from 1, label of the training image,
/// distance: squared for l2; if not an integer, the shortest decimal that identifies it.
void write_neighbors_csv(std::ostream& out, const Evaluation& evaluation);

/// predictions.csv, read back: one entry per test image.
struct Predictions {
    std::vector<std::uint8_t> truth;
    Uninitialized<Vote> votes;
    std::vector<double> confidence;
};

/// Reads the CSV of `evaluate --predictions` of `n_test` images, whose labels may be names of classes, by number: those of
/// the data set, or of report.json, where U+FFFD is what was not UTF-8. Throws DataError.
Predictions read_predictions(const std::filesystem::path& file, std::int64_t n_test,
                             const std::vector<std::string>& classes = {});

/// The same from a stream; `name` begins the messages.
Predictions read_predictions(std::istream& stream, const std::string& name, std::int64_t n_test,
                             const std::vector<std::string>& classes = {});

}  // namespace knn
