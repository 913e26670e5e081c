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

#include "app/console/interrupt.h"
#include "app/report/text.h"
#include "classifier/evaluation.h"

namespace knn {

/// A cell: an integer, or the shortest decimal that identifies the distance.
struct DistanceCell {
    const Measure& measure;
    std::uint32_t score;
};

/// Buffers lines and writes them to a stream in pieces of about a mebibyte; the destructor writes the rest. A line
/// has at most 256 bytes.
class Lines {
  public:
    explicit Lines(std::ostream& out, char separator = ',')
        : out_(out), separator_(separator), buffer_(piece + longest_line) {}
    ~Lines() { hand_over(); }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    /// One line of these cells. False once the stream has failed.
    template <class... Cells>
    bool row(const Cells&... cells) {
        (add(cells), ...);
        buffer_[end_ - 1] = '\n';
        if (end_ >= piece) {
            stop_if_asked();
            hand_over();
        }
        return out_.good();
    }

  private:
    static constexpr std::size_t piece = 1 << 20, longest_line = 256;

    void add(std::string_view text) {
        end_ += text.copy(buffer_.data() + end_, text.size());
        buffer_[end_++] = separator_;
    }
    template <class Number>
    requires std::is_arithmetic_v<Number>
    void add(Number value) {
        char* const place = buffer_.data() + end_;
        char* last = std::to_chars(place, place + longest_line, value).ptr;
        *last++ = separator_;
        end_ += static_cast<std::size_t>(last - place);
    }
    void add(const DistanceCell& cell) {
        if (is_integral(cell.measure.metric))
            add(cell.score);
        else
            add(distance_number(cell.measure, cell.score));
    }
    void hand_over() {
        out_.write(buffer_.data(), static_cast<std::streamsize>(end_));
        end_ = 0;
    }

    std::ostream& out_;
    char separator_;
    std::vector<char> buffer_;
    std::size_t end_ = 0;
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

/// Reads the CSV of `evaluate --predictions` of `n_test` images. Throws DataError.
Predictions read_predictions(const std::filesystem::path& file, std::int64_t n_test);

/// The same from a stream; `name` begins the messages.
Predictions read_predictions(std::istream& stream, const std::string& name, std::int64_t n_test);

}  // namespace knn
