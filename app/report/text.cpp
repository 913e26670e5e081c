#include "app/report/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "data/core/format.h"

namespace knn {

namespace {

/// `value` as text and back.
template <class Number, class... Form>
double through_text(Number value, Form... form) {
    char text[64];
    const char* end = std::to_chars(text, text + sizeof text, value, form...).ptr;
    double read = 0;
    std::from_chars(text, end, read);
    return read;
}

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
        rounded = through_text(exact, std::chars_format::general, digits);
        if (std::abs(rounded - exact) < tolerance) break;
    }
    return rounded;
}

}  // namespace

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

std::string counted_of(std::int64_t count, std::int64_t all, const std::string& one) {
    return (count < all ? with_commas(count) + " of " : "") + counted(all, one);
}

std::string share_text(std::int64_t part, std::int64_t whole) {
    return percent(static_cast<double>(part) / static_cast<double>(whole));
}

std::string aligned_right(const std::string& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
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
    std::string text = features_text(method.transform);
    if (method.reranks())
        text += reranker_text(method.rerank) + " of " + std::to_string(method.rerank.candidates) +
                " candidates, ";
    if (method.vote.votes != VoteKind::majority)
        text += std::string("vote ") + name(method.vote.votes) + ", ";
    return text + "k = " + std::to_string(method.vote.k) + ", metric " + metric_text(method.measure) +
           ", weights " + name(method.vote.weights) + ", tie " + name(method.vote.tie);
}

std::string short_method_text(const Method& method) {
    for (const NamedMethod& one : methods()) {
        Method same = one.method;
        same.vote.k = method.vote.k;
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
    return through_text(std::bit_cast<float>(score));
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
        if (!line.empty() && !fits(line + letter)) {
            const std::size_t after = line.find_last_of(" /") + 1;  // 0: none
            std::string rest = after > 0 && after >= line.size() / 2 ? line.substr(after) : "";
            line.resize(line.size() - rest.size());
            lines.push_back(std::move(rest));
        }
        lines.back() += letter;
    }
    return lines;
}

}  // namespace knn
