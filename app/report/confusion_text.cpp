#include <algorithm>

#include "app/report/text.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr std::size_t max_columns = 26;  // the letters; more do not fit in a line
constexpr std::size_t max_pairs = 20;

constexpr const char *reset = "\x1b[0m", *dim = "\x1b[2m", *green = "\x1b[32m", *red = "\x1b[31m",
                     *bold_red = "\x1b[1;31m";

std::size_t width_of(std::int64_t number) {
    return std::to_string(number).size();
}

std::string right(const std::string& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

/// One count in its column. Without color a zero is a dot, to make the errors visible.
std::string cell(std::int64_t count, bool hit, std::int64_t worst, std::size_t width, bool color) {
    std::string text = right(count > 0 ? std::to_string(count) : ".", width);
    if (!color) return text;
    const char* style = count == 0 ? dim : hit ? green : 2 * count >= worst ? bold_red : red;
    return style + text + reset;
}

/// The largest count off the diagonal.
std::int64_t worst_error(const Score& score) {
    std::int64_t worst = 0;
    for (std::size_t t = 0; t < score.labels.size(); ++t)
        for (std::size_t p = 0; p < score.labels.size(); ++p)
            if (t != p) worst = std::max(worst, score.confusion[t][p]);
    return worst;
}

std::string matrix_text(const Score& score, bool color) {
    std::size_t width = 3;  // of every column
    for (const std::uint8_t label : score.labels)
        width = std::max(width, width_of(label));
    for (const auto& row : score.confusion)
        for (const std::int64_t count : row)
            width = std::max(width, width_of(count));
    const std::int64_t worst = worst_error(score);
    std::string text = "  true \\ predicted\n  " + right("", 5);
    for (const std::uint8_t label : score.labels)
        text += "  " + right(std::to_string(label), width);
    text += '\n';
    for (std::size_t t = 0; t < score.labels.size(); ++t) {
        text += "  " + right(std::to_string(score.labels[t]), 5);
        for (std::size_t p = 0; p < score.labels.size(); ++p)
            text += "  " + cell(score.confusion[t][p], t == p, worst, width, color);
        text += '\n';
    }
    return text;
}

struct Pair {
    std::int64_t count;
    std::size_t truth, predicted;
};

std::string pairs_text(const Score& score) {
    std::vector<Pair> pairs;
    for (std::size_t t = 0; t < score.labels.size(); ++t)
        for (std::size_t p = 0; p < score.labels.size(); ++p)
            if (t != p && score.confusion[t][p] > 0) pairs.push_back({score.confusion[t][p], t, p});
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.count > b.count; });
    const std::string classes = std::to_string(score.labels.size());
    // The page of --report has no matrix of so many classes.
    const std::string where = "--json, and in confusion.png of --report";
    if (pairs.empty())
        return "  no misclassifications; the matrix of " + classes + " classes is in " + where + '\n';
    std::string text =
        "  most frequent confusions; the full matrix of " + classes + " classes is in " + where + '\n';
    Table table({Align::right, Align::right, Align::right});
    table.add({"true", "predicted", "count"});
    for (std::size_t i = 0; i < std::min(pairs.size(), max_pairs); ++i)
        table.add({std::to_string(score.labels[pairs[i].truth]),
                   std::to_string(score.labels[pairs[i].predicted]), std::to_string(pairs[i].count)});
    return text + table.text();
}

}  // namespace

std::string confusion_text(const Score& score, bool color) {
    return score.labels.size() <= max_columns ? matrix_text(score, color) : pairs_text(score);
}

}  // namespace knn
