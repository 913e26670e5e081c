#include "app/report/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <functional>
#include <span>

#include "data/core/format.h"

namespace knn {

namespace {

/// The fewest digits that are nearer to the distance of this score than to that of any other: 7 to 9, as for
/// a float. The distance rounded to a float would not do: roots of different scores may round to the same
/// float, and neighbors would appear out of order; the 10th power of a score may overflow.
double shortest_number(const Measure& measure, std::uint32_t score) {
    if (score == 0) return 0;
    const auto distance = [&](std::uint32_t of) { return distance_of(measure, of); };
    const double exact = distance(score);
    const double tolerance = std::min(exact - distance(score - 1), distance(score + 1) - exact) / 2;
    constexpr int max_digits = 12;  // adjacent sums differ by 2⁻²⁴, so their roots by at least 2⁻²⁴ / 15
    double rounded = exact;
    for (int digits = 6; digits <= max_digits; ++digits) {
        rounded = with_digits(exact, digits);
        if (std::abs(rounded - exact) < tolerance) break;
    }
    return rounded;
}

/// With four digits; less than all is not rounded up to 1.0000.
std::string share_text(double share) {
    const std::string text = fixed(share, 4);
    return share < 1 && text == "1.0000" ? "> 0.9999" : text;
}

std::string classes_text(const Score& score) {
    Table table({Align::right, Align::right, Align::right, Align::right, Align::right});
    table.add({"class", "precision", "recall", "f1", "support"});
    double precision = 0, recall = 0, f1 = 0, n = 0;  // of the classes that have test images
    for (const ClassScore& one : score.per_class) {
        table.add({class_text(score.class_name(one.label)), share_text(one.precision), share_text(one.recall),
                   share_text(one.f1), std::to_string(one.support)});
        if (one.support == 0) continue;
        ++n;
        precision += one.precision;
        recall += one.recall;
        f1 += one.f1;
    }
    n = std::max(n, 1.0);
    table.add({"mean", share_text(precision / n), share_text(recall / n), share_text(f1 / n),
               std::to_string(score.total)});
    return table.text();
}

constexpr std::size_t max_matrix_classes = 26;  // the letters; more do not fit in a line
constexpr std::size_t max_pairs = 20;
constexpr std::size_t most_letters = 10;  // of a class, in the matrix

/// A mistake, and how often it was made.
struct Confusion {
    std::int64_t count;
    std::uint8_t truth, predicted;
};

/// The most frequent first.
std::vector<Confusion> confusions(const Score& score) {
    std::vector<Confusion> all;
    for (std::size_t t = 0; t < score.labels.size(); ++t)
        for (std::size_t p = 0; p < score.labels.size(); ++p)
            if (t != p && score.confusion[t][p] > 0)
                all.push_back({score.confusion[t][p], score.labels[t], score.labels[p]});
    std::ranges::stable_sort(all, std::greater(), &Confusion::count);
    return all;
}

/// One count in its column. Without color a zero is a dot, to make the errors visible.
std::string cell(std::int64_t count, bool hit, std::int64_t worst, std::size_t width, bool color) {
    const char* style = count == 0           ? ansi::dim
                        : hit                ? ansi::green
                        : 2 * count >= worst ? ansi::bold_red
                                             : ansi::red;
    return styled(aligned_right(count > 0 ? std::to_string(count) : ".", width), style, color);
}

std::string matrix_text(const Score& score, bool color) {
    std::vector<std::string> names;
    std::size_t width = 3, side = 5;  // of every column; numbers are no wider
    for (const std::uint8_t label : score.labels) {
        names.push_back(class_text(score.class_name(label), most_letters));
        width = std::max(width, characters_of(names.back()));
        side = std::max(side, characters_of(names.back()));
    }
    for (const auto& row : score.confusion)
        for (const std::int64_t count : row)
            width = std::max(width, std::to_string(count).size());
    const std::vector<Confusion> mistakes = confusions(score);
    const std::int64_t worst = mistakes.empty() ? 0 : mistakes.front().count;
    std::string text = "  true \\ predicted\n  " + aligned_right("", side);
    for (const std::string& name : names)
        text += "  " + aligned_right(name, width);
    text += '\n';
    for (std::size_t t = 0; t < score.labels.size(); ++t) {
        text += "  " + aligned_right(names[t], side);
        for (std::size_t p = 0; p < score.labels.size(); ++p)
            text += "  " + cell(score.confusion[t][p], t == p, worst, width, color);
        text += '\n';
    }
    return text;
}

std::string pairs_text(const Score& score) {
    const std::vector<Confusion> mistakes = confusions(score);
    const std::string classes = std::to_string(score.labels.size());
    // The page of --report has no matrix of so many classes.
    const std::string where = "--json, and in confusion.png of --report";
    if (mistakes.empty())
        return "  no misclassifications; the matrix of " + classes + " classes is in " + where + '\n';
    std::string text =
        "  most frequent confusions; the full matrix of " + classes + " classes is in " + where + '\n';
    Table table({Align::right, Align::right, Align::right});
    table.add({"true", "predicted", "count"});
    for (const auto& [count, truth, predicted] :
         std::span(mistakes).first(std::min(mistakes.size(), max_pairs)))
        table.add({class_text(score.class_name(truth)), class_text(score.class_name(predicted)),
                   std::to_string(count)});
    return text + table.text();
}

/// The share of the limit that the stage is closest to: "85 % of arithmetic". Empty if no limit is known, or
/// if the stage is faster than it (tensor cores than float32 arithmetic, a cache than memory).
std::string share_of_peak(const Stage& stage, const Device& device) {
    const auto share = [](double rate, double peak) { return peak > 0 && rate <= peak ? rate / peak : 0; };
    const double memory = share(
        stage.gb_per_s(), stage.kind == StageKind::copy ? device.peak_link_gb_per_s : device.peak_gb_per_s);
    const double arithmetic = share(stage.gflop_per_s(), device.peak_gflop_per_s);
    if (memory <= 0 && arithmetic <= 0) return "";
    const char* limit = arithmetic > memory             ? " of arithmetic"
                        : stage.kind == StageKind::copy ? " of link"
                                                        : " of memory";
    return percent(std::max(memory, arithmetic), 0) + limit;
}

}  // namespace

std::string rate_text(double value) {
    return value > 0 ? short_number(value) : "";
}

std::string row_noun(const Dataset& data) {
    return data.are_images() ? "image" : "row";
}

std::string row_text(const Dataset& data) {
    const LabeledImages& set = data.train;
    if (data.are_images()) return std::to_string(set.rows) + " x " + std::to_string(set.cols);
    return with_commas(set.cols) + ' ' + name(set.type) + ' ' + noun(set.cols, "column");
}

std::string class_text(const std::string& name, std::size_t most) {
    std::string_view rest = name;
    std::string text;
    for (std::size_t n = 0; n < most && !rest.empty(); ++n) {
        const std::size_t length = std::max<std::size_t>(visible_length(rest), 1);
        text += rest.substr(0, length);
        rest.remove_prefix(length);
    }
    return harmless(text) + (rest.empty() ? "" : "...");
}

std::string classes_text(const Dataset& data, std::span<const std::uint8_t> labels) {
    constexpr std::size_t most = 5;
    const auto class_name = [&](std::uint8_t label) { return data.class_name(label); };
    return joined(labels.first(std::min(most, labels.size())), class_name) +
           (labels.size() > most ? ", ..." : "");
}

std::string counted_of(std::int64_t count, std::int64_t all, const std::string& one) {
    return (count < all ? with_commas(count) + " of " : "") + counted(all, one);
}

std::string share_text(std::int64_t part, std::int64_t whole) {
    return percent(static_cast<double>(part) / static_cast<double>(whole));
}

std::string p_text(double p) {
    int places = 3;
    while (places < 17 && (std::stod(fixed(p, places)) >= significance) != (p >= significance))
        ++places;
    return fixed(p, places);
}

std::string aligned_right(const std::string& text, std::size_t width) {
    const std::size_t characters = characters_of(text);
    return characters < width ? std::string(width - characters, ' ') + text : text;
}

std::string styled(const std::string& text, const char* style, bool color) {
    return color ? style + text + ansi::plain : text;
}

std::string facts_text(const Facts& facts, std::size_t indent) {
    Table table({Align::left, Align::left});
    for (const auto& [name, text] : facts)
        if (!text.empty()) table.add({name, text});
    return table.text(indent);
}

std::string times_text(double search_ms, double load_ms, double wall_ms) {
    const double other_ms = std::max(wall_ms - search_ms - load_ms, 0.0);
    return "search " + fixed(search_ms, 1) + " ms, load " + fixed(load_ms, 1) + " ms, other " +
           fixed(other_ms, 1) + " ms, whole run " + fixed(wall_ms, 1) + " ms";
}

std::string escaped(const std::string& text) {
    constexpr std::string_view special = "&<>\"";
    constexpr std::array entities = {"&amp;", "&lt;", "&gt;", "&quot;"};
    std::string result;
    for (const char c : harmless(text)) {
        const std::size_t at = special.find(c);
        result += at == special.npos ? std::string(1, c) : entities.at(at);
    }
    return result;
}

std::string settings_text(const Method& method) {
    const std::string candidates =
        " of " + std::to_string(std::max(method.rerank.candidates, method.vote.k)) + " candidates, ";
    std::string text = features_text(method.transform);
    if (method.reranks()) text += reranker_text(method.rerank) + candidates;
    if (method.vote.votes != VoteKind::majority)
        text += std::string("vote ") + name(method.vote.votes) + (method.reranks() ? ", " : candidates);
    return text + "k = " + std::to_string(method.vote.k) + ", metric " + metric_text(method.measure) +
           ", weights " + name(method.vote.weights) + ", tie " + name(method.vote.tie);
}

std::string short_method_text(const Method& method) {
    for (const NamedMethod& one : methods()) {
        Method same = one.method;
        same.vote.k = method.vote.k;
        same.measure.real = method.measure.real;  // of the rows
        if (same == method)
            return "method " + std::string(one.name) + ", k = " + std::to_string(method.vote.k);
    }
    return settings_text(method);
}

std::string device_text(const Device& device) {
    std::string text = device.name + " (" + device_id(device) + ")";
    if (!device.compute_capability.empty()) text += ", compute capability " + device.compute_capability;
    if (device.memory_bytes > 0) text += ", " + gibibytes(device.memory_bytes);
    if (!device.driver.empty()) text += ", CUDA driver " + device.driver;
    if (!device.runtime.empty()) text += ", runtime " + device.runtime;
    return text;
}

std::string engine_text(const Plan& plan) {
    std::string text = plan.engine;
    if (!plan.distance.empty()) text += ", distance " + plan.distance;
    if (!plan.select.empty()) text += ", select " + plan.select;
    if (plan.sketch != SketchColumns::automatic) text += std::string(", sketch ") + name(plan.sketch);
    if (plan.batch > 0) text += ", batch " + std::to_string(plan.batch);
    if (plan.device.kind == Device::Kind::cpu) text += ", threads " + std::to_string(plan.threads);
    return text;
}

std::string spread_text(const Plan& plan) {
    std::string text;
    if (plan.placement != Placement::automatic) text = std::string(name(plan.placement)) + " over ";
    if (plan.ranks > 1) text += std::to_string(plan.ranks) + " ranks";
    for (const Device& device : plan.devices)
        text += (&device == plan.devices.data() ? "" : ", ") + device_id(device);
    if (plan.memory > 0)
        text += (text.empty() ? "" : ", ") + std::string("at most ") + counted(plan.memory, "byte") +
                " of training images at once";
    return text;
}

std::string imbalance_text(const Timeline& timeline) {
    if (timeline.device_ms().empty()) return "";
    return "of " + std::to_string(timeline.device_ms().size()) + " the slowest took " +
           percent(timeline.imbalance(), 1) + " above the mean";
}

std::string features_text(const TransformSpec& transform) {
    return transform.is_raw() ? "" : "transform " + transform.text() + ", ";
}

std::string metric_text(const Measure& measure) {
    const std::string metric = name(measure.metric);
    return measure.metric == Metric::lp ? metric + " with p = " + shortest(measure.p) : metric;
}

std::string distance_name(const Method& method) {
    constexpr std::array names{"squared distance", "L1 distance", "Minkowski distance", "cosine distance",
                               "Pearson distance"};  // in the order of Metric
    const std::string name = names.at(static_cast<std::size_t>(method.measure.metric));
    if (method.rerank.kind == RerankKind::spread) return "distance scaled by spread";
    if (method.reranks()) return "distance with shifted pixels";
    return method.transform.is_raw() ? name : name + " of features";
}

double distance_number(const Measure& measure, std::uint32_t score) {
    if (measure.real || measure.metric == Metric::lp) return shortest_number(measure, score);
    if (is_integral(measure)) return score;
    return shortest_number(std::bit_cast<float>(score));
}

double number_for_files(const Measure& measure, double distance) {
    if (measure.real || is_integral(measure)) return distance;
    if (measure.metric != Metric::lp) return shortest_number(static_cast<float>(distance));
    const auto near = std::bit_cast<std::uint32_t>(static_cast<float>(std::pow(distance / 255, measure.p)));
    for (std::uint32_t score = near < 2 ? 0 : near - 2; score <= near + 2; ++score)
        if (distance_of(measure, score) == distance) return shortest_number(measure, score);
    return distance;
}

std::string distance_text(const Measure& measure, std::uint32_t score, bool commas) {
    if (is_integral(measure)) return commas ? with_commas(score) : std::to_string(score);
    const double distance = distance_of(measure, score);
    if (measure.real ? distance == 0 || (distance >= 1e-3 && distance < 1e6) : measure.metric != Metric::lp)
        return fixed(distance, 5);
    if (!measure.real && distance < 1e6) return fixed(distance, distance < 1e5 ? 2 : 0);
    char text[32];  // the roots of a small exponent are long, and so are reals
    return {text, std::to_chars(text, text + sizeof text, distance, std::chars_format::scientific, 5).ptr};
}

std::vector<std::string> wrapped(std::string_view text,
                                 const std::function<bool(const std::string& line)>& fits) {
    std::vector<std::string> lines = {""};
    for (const char letter : text) {
        std::string& line = lines.back();
        if (!line.empty() && letter != ' ' && !fits(line + letter)) {
            const std::size_t after = line.find_last_of(" /") + 1;  // 0: none
            std::string rest = after > 0 && after >= line.size() / 2 ? line.substr(after) : "";
            line.resize(line.size() - rest.size());
            line.resize(line.find_last_not_of(' ') + 1);
            lines.push_back(std::move(rest));
        }
        lines.back() += letter;
    }
    return lines;
}

std::string accuracy_line(const Score& score) {
    return "accuracy " + percent(score.accuracy) + ": " + with_commas(score.correct) + " of " +
           with_commas(score.total) + " right (95 % interval " + percent(score.accuracy_low) + " to " +
           percent(score.accuracy_high) + ")\n";
}

std::string text_report(const Evaluation& evaluation, bool color) {
    const Dataset& data = *evaluation.data;
    const Plan& plan = evaluation.found.plan;
    const std::int64_t n_classes = std::ssize(data.labels);
    const std::string images = harmless(data.name) + ": " + with_commas(evaluation.n_train) +
                               " training and " + counted(evaluation.n_test, "test " + row_noun(data)) +
                               " of " + row_text(data) + ", " + counted(n_classes, "class");
    std::string accuracy = accuracy_line(evaluation.score);
    accuracy.pop_back();
    return facts_text({{"data", images},
                       {"source", harmless(data.source)},
                       {"device", device_text(plan.device)},
                       {"spread", spread_text(plan)},
                       {"engine", engine_text(plan)},
                       {"settings", settings_text(evaluation.method)}}) +
           '\n' + styled(accuracy, ansi::bold, color) + "\n\n" + confusion_text(evaluation.score, color) +
           '\n' + classes_text(evaluation.score) + '\n' + timing_text(evaluation);
}

std::string confusion_text(const Score& score, bool color) {
    return score.labels.size() <= max_matrix_classes ? matrix_text(score, color) : pairs_text(score);
}

std::string timing_text(const Evaluation& evaluation) {
    const Results& found = evaluation.found;
    const auto images = static_cast<double>(std::max<std::int64_t>(evaluation.n_test, 1));
    const auto line = [&](const std::string& name, const std::string& launches, double ms) {
        return std::vector<std::string>{name, launches, fixed(ms, 2), fixed(ms / images, 5)};
    };
    const bool peaks = found.plan.device.peak_gb_per_s > 0 || found.plan.device.peak_gflop_per_s > 0;
    Table table(
        {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right, Align::right});
    table.add({"stage", "launches", "total ms", "ms/" + row_noun(*evaluation.data), "GB/s", "GFLOP/s",
               peaks ? "of the peak" : ""});
    double confidence_ms = 0;  // which is no part of the search
    for (const Stage& stage : found.timeline.stages()) {
        if (stage.name == "confidence") {
            confidence_ms = stage.total_ms;
            continue;
        }
        std::vector<std::string> cells = line(stage.name, std::to_string(stage.launches), stage.total_ms);
        cells.insert(cells.end(), {rate_text(stage.gb_per_s()), rate_text(stage.gflop_per_s()),
                                   share_of_peak(stage, found.plan.device)});
        table.add(std::move(cells));
    }
    table.add({});
    table.add(line("kernels", "", found.timeline.kernels_ms()));
    table.add(line("search", "", found.search_ms));
    table.add(line("load", "", evaluation.load_ms));
    if (confidence_ms > 0) table.add(line("confidence", "", confidence_ms));
    const double named_ms = found.search_ms + evaluation.load_ms + confidence_ms;
    table.add(line("other", "", std::max(evaluation.wall_ms - named_ms, 0.0)));
    table.add(line("whole run", "", evaluation.wall_ms));
    const std::string imbalance = imbalance_text(found.timeline);
    return table.text() + (imbalance.empty() ? "" : "\n  imbalance: " + imbalance + '\n');
}

}  // namespace knn
