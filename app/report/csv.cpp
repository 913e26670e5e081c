#include "app/report/csv.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/report/text.h"
#include "classifier/exact_distances.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/transfer.h"
#include "data/vectors/csv.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

const std::string predictions_heading = "index,label,predicted,confidence,vote_share";

bool is_share(double value) {
    return value > 0 && value <= 1;
}

/// As a report has it: U+FFFD for what is not UTF-8.
std::string as_utf8(const std::string& text) {
    using nlohmann::json;
    return json::parse(json(text).dump(-1, ' ', true, json::error_handler_t::replace));
}

/// The next line without its end; of one longer than `most` bytes the first of them, and one more.
bool next_part(std::istream& stream, std::string& line, std::size_t most) {
    line.resize(most + 2);
    stream.getline(line.data(), std::ssize(line));
    line.resize(static_cast<std::size_t>(stream.gcount()) - (stream.good() ? 1 : 0));
    return stream.gcount() > 0;
}

/// The next record without its end; a name in quotes may have ends of lines. One that grows above `most` bytes is not read on.
bool next_record(std::istream& stream, std::string& record, std::size_t most) {
    if (!next_part(stream, record, most)) return false;
    const auto is_open = [](const std::string& line) { return std::ranges::count(line, '"') % 2 != 0; };
    bool open = is_open(record);
    for (std::string line; open && record.size() <= most && next_part(stream, line, most);
         open = open != is_open(line))
        (record += '\n') += line;
    if (record.ends_with('\r')) record.pop_back();
    return true;
}

std::vector<std::string> fields_of(std::string_view record) {
    std::vector<std::string> fields;
    std::string buffer;
    std::string_view field;
    for (CsvFields rest(record, ','); rest.more();) {
        if (!rest.next(field, buffer)) return {};
        fields.emplace_back(field);
    }
    return fields;
}

template <class Number>
bool read_number(const std::string& field, Number& number) {
    const std::optional<Number> read = number_of<Number>(field);
    number = read.value_or(number);
    return read.has_value();
}

/// A cell: an integer, or the shortest decimal that identifies the distance.
std::string distance_cell(const Measure& measure, std::uint32_t score) {
    return is_integral(measure) ? std::to_string(score) : shortest(distance_number(measure, score));
}

}  // namespace

std::string text_cell(std::string_view text, bool blanks) {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    const bool quotes_blank = blanks && !text.empty() && (is_blank(text.front()) || is_blank(text.back()));
    if (text.find_first_of(",\"\r\n") == text.npos && !quotes_blank) return std::string(text);
    std::string cell = "\"";
    for (const char c : text)
        cell.append(c == '"' ? 2 : 1, c);
    return cell + '"';
}

std::vector<std::string> class_cells(const Dataset& data) {
    std::vector<std::string> cells;
    for (int label = 0; label < (data.classes.empty() ? 256 : static_cast<int>(data.classes.size())); ++label)
        cells.push_back(text_cell(data.class_name(label)));
    return cells;
}

void write_predictions_csv(std::ostream& out, const Evaluation& evaluation) {
    const std::uint8_t* truth = evaluation.data->test.labels.data();
    const std::vector<std::string> names = class_cells(*evaluation.data);
    Lines lines(out);
    lines.row(predictions_heading);
    for (std::size_t i = 0; i < evaluation.found.votes.size(); ++i) {
        const Vote& vote = evaluation.found.votes[i];
        if (!lines.row(i, names[truth[i]], names[vote.label], evaluation.confidence[i], vote.vote_share))
            return;
    }
}

void write_neighbors_csv(std::ostream& out, const Evaluation& evaluation) {
    const std::uint8_t* labels = evaluation.data->train.labels.data();
    const Neighbors& neighbors = evaluation.found.neighbors;
    const Measure measure = evaluation.method.neighbor_measure();
    const std::vector<std::string> names = class_cells(*evaluation.data);
    Uninitialized<double> exact;  // of real rows
    if (measure.real && evaluation.method.transform.is_raw())
        exact = exact_distances(evaluation.data->train.images(), evaluation.data->test.images(), neighbors,
                                measure, 0, stoppable());
    std::size_t at = 0;
    Lines lines(out);
    lines.row("query,rank,index,label,distance");
    for (std::int64_t query = 0; query < neighbors.n_query; ++query) {
        int rank = 0;
        for (const Neighbor& neighbor : neighbors.row(query)) {
            const std::string distance =
                exact.empty() ? distance_cell(measure, neighbor.distance) : shortest(exact[at++]);
            if (!lines.row(query, ++rank, neighbor.index, names[labels[neighbor.index]], distance)) return;
        }
    }
}

Predictions read_predictions(const fs::path& file, std::int64_t n_test,
                             const std::vector<std::string>& classes) {
    std::error_code error;
    if (!fs::is_regular_file(file, error) && !error)  // a pipe may never be written to
        throw DataError(file.string() +
                        ": cannot be read: is no regular file; expected the CSV of --predictions");
    std::ifstream stream(file, std::ios::binary);
    if (!stream.is_open()) fail_to_read(file.string(), errno, "the CSV of --predictions");
    return read_predictions(stream, file.string(), n_test, classes);
}

Predictions read_predictions(std::istream& stream, const std::string& name, std::int64_t n_test,
                             const std::vector<std::string>& classes) {
    const auto wrong = [&](std::int64_t line, const std::string& what) {
        throw DataError(name + ": line " + std::to_string(line) + " " + what + "; expected " +
                        with_commas(n_test) + " lines of " + predictions_heading);
    };
    std::string line;
    if (!next_record(stream, line, 100) ||
        (line != predictions_heading && line != "\xef\xbb\xbf" + predictions_heading))
        wrong(1, "is not the heading");
    std::vector<std::string> names;
    std::size_t longest = 0;
    for (const std::string& name_of_class : classes) {
        names.push_back(as_utf8(name_of_class));
        longest = std::max(longest, text_cell(names.back()).size());
    }
    const auto read_label = [&](const std::string& field, std::uint8_t& label) {
        if (names.empty()) return read_number(field, label);
        const auto found = std::ranges::find(names, as_utf8(field));
        label = static_cast<std::uint8_t>(found - names.begin());
        return found != names.end();
    };
    const std::size_t most = 2 * longest + 200;  // two names and three numbers
    Predictions read;
    for (std::int64_t i = 0; i < n_test; ++i) {
        stop_if_asked();
        if (!next_record(stream, line, most)) wrong(i + 2, "is missing");
        std::int64_t index = -1;
        Vote vote{};
        std::uint8_t truth = 0;
        double confidence = 0;
        if (line.size() > most) wrong(i + 2, "is damaged");
        const std::vector<std::string> fields = fields_of(line);
        if (fields.size() != 5 || !read_number(fields[0], index) || index != i ||
            !read_label(fields[1], truth) || !read_label(fields[2], vote.label) ||
            !read_number(fields[3], confidence) || !(confidence == 0 || is_share(confidence)) ||
            !read_number(fields[4], vote.vote_share) || !is_share(vote.vote_share))
            wrong(i + 2, "is damaged");
        read.truth.push_back(truth);
        read.votes.push_back(vote);
        read.confidence.push_back(confidence);
    }
    if (next_record(stream, line, 0)) wrong(n_test + 2, "is one too many");
    return read;
}

}  // namespace knn
