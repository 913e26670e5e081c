#include "app/report/csv.h"

#include <charconv>
#include <ostream>
#include <string_view>
#include <vector>

#include "app/console/interrupt.h"
#include "app/report/distance.h"

namespace knn {

namespace {

/// Buffers text and writes it to a stream in pieces of about a mebibyte.
class Lines {
  public:
    explicit Lines(std::ostream& out) : out_(out), buffer_(piece + longest_line) {}
    ~Lines() { hand_over(); }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    void text(std::string_view text) { end_ += text.copy(buffer_.data() + end_, text.size()); }
    template <class Number>
    void number(Number value, char separator) {
        char* const place = buffer_.data() + end_;
        char* last = std::to_chars(place, place + longest_line, value).ptr;
        *last++ = separator;
        end_ += static_cast<std::size_t>(last - place);
    }
    /// False once the stream has failed.
    bool end_of_line() {
        if (end_ >= piece) {
            stop_if_asked();
            hand_over();
        }
        return out_.good();
    }

  private:
    static constexpr std::size_t piece = 1 << 20, longest_line = 256;
    void hand_over() {
        out_.write(buffer_.data(), static_cast<std::streamsize>(end_));
        end_ = 0;
    }
    std::ostream& out_;
    std::vector<char> buffer_;
    std::size_t end_ = 0;
};

}  // namespace

void write_predictions_csv(std::ostream& out, const Evaluation& evaluation) {
    const std::uint8_t* truth = evaluation.data->test.labels.data();
    Lines lines(out);
    lines.text("index,label,predicted,confidence\n");
    for (std::size_t i = 0; i < evaluation.found.votes.size(); ++i) {
        const Vote& vote = evaluation.found.votes[i];
        lines.number(i, ',');
        lines.number(int{truth[i]}, ',');
        lines.number(int{vote.label}, ',');
        lines.number(vote.confidence, '\n');
        if (!lines.end_of_line()) return;
    }
}

void write_neighbors_csv(std::ostream& out, const Evaluation& evaluation) {
    const std::uint8_t* labels = evaluation.data->train.labels.data();
    const Neighbors& neighbors = evaluation.found.neighbors;
    const Measure measure = evaluation.method.measure;
    Lines lines(out);
    lines.text("query,rank,index,label,distance\n");
    for (std::int64_t query = 0; query < neighbors.n_query; ++query) {
        int rank = 0;
        for (const Neighbor& neighbor : neighbors.row(query)) {
            lines.number(query, ',');
            lines.number(++rank, ',');
            lines.number(neighbor.index, ',');
            lines.number(int{labels[neighbor.index]}, ',');
            if (is_integral(measure.metric))
                lines.number(neighbor.distance, '\n');
            else
                lines.number(distance_number(measure, neighbor.distance), '\n');
            if (!lines.end_of_line()) return;
        }
    }
}

}  // namespace knn
