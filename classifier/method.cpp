#include "classifier/method.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sstream>

#include "classifier/vote.h"
#include "data/core/errors.h"
#include "data/core/format.h"

namespace knn {

namespace {

/// What only bytes have: pixels beside each other, and integers as distances.
UnsupportedReason refuse_reals(const Method& method, ElementType type) {
    const std::string of = std::string("needs rows of uint8, not of ") + name(type) + "; expected §";
    if (!method.transform.is_raw() && !method.transform.only_scales())
        return "§transform " + method.transform.text() + ": " + of + "transform minmax, zscore or raw";
    if (method.reranks())
        return std::string("§rerank ") + name(method.rerank.kind) + ": " + of + "rerank none";
    if (method.vote.votes == VoteKind::class_mean) return "§vote class-mean: " + of + "vote majority";
    return std::nullopt;
}

}  // namespace

Problem Method::problem(const Training& training, std::int64_t n_query) const {
    const Rows& rows = training.rows;
    if (!rows.are_bytes())
        if (const UnsupportedReason why = refuse_reals(*this, rows.type)) throw UsageError(*why);
    if (const UnsupportedReason why = refuse_transform(transform, training.shape, rows.count))
        throw UsageError(*why);
    const ElementType type = compared_type(rows.type);
    const Measure compared = measure_of(measure, type);
    const std::string of_floats =
        "integers, which distances of §transform " + transform.text() + " are not; expected ";
    if (rerank.kind == RerankKind::spread && !is_integral(compared))
        throw UsageError("§rerank spread: scales " +
                         (type != rows.type
                              ? of_floats + "another transform, or §rerank none"
                              : std::string("integers, which distances by ") + name(measure.metric) +
                                    " are not; expected §metric l2 or l1"));
    if (vote.votes == VoteKind::class_mean && !rerank.has_descriptors() && type != rows.type)
        throw UsageError("§vote class-mean: adds up " + of_floats + "§vote majority");
    const std::int64_t dim = transform.is_raw() ? rows.dim : output_dim(transform, training.shape);
    const int wanted =
        reranks() ? std::max(rerank.candidates, voters(max_candidates)) : voters(max_candidates);
    // Fewer candidates than wanted do, but k has to be there.
    const std::int64_t k = std::max<std::int64_t>(vote.k, std::min<std::int64_t>(wanted, rows.count));
    return {rows.count, n_query, dim, static_cast<int>(k), compared, type};
}

std::string Method::part_for_images() const {
    for (const TransformStep& step : transform.steps)
        if (!info(step.kind).takes_features) return "§transform " + transform.text();
    return rerank.has_descriptors() ? std::string("§rerank ") + name(rerank.kind) : "";
}

int Method::voters(std::int64_t n) const {
    if (vote.votes == VoteKind::majority) return vote.k;
    return std::max(vote.k, static_cast<int>(std::min<std::int64_t>(rerank.candidates, n)));
}

std::span<const NamedMethod> methods() {
    static const std::array table{
        NamedMethod{"raw", "pixels, the papers' classifier", {}},
        NamedMethod{"gradients",
                    "gradient histograms of the deskewed image",
                    {.transform = {{{TransformKind::gradients, 0}}}}},
        NamedMethod{"accurate",
                    "the nearest by gradients, ordered again by distances that let pixels move",
                    {.transform = {{{TransformKind::gradients, 0}}},
                     .rerank = {.kind = RerankKind::both, .candidates = 96},
                     .vote = {.k = class_mean_neighbors, .votes = VoteKind::class_mean}}},
    };
    return table;
}

bool is_method_file(const std::string& given) {
    if (row_named(methods(), given) != nullptr) return false;
    std::error_code none;
    return given.find_first_of("./") != std::string::npos || std::filesystem::exists(given, none);
}

std::string_view name_of(const Method& method) {
    Method any_rows = method;
    any_rows.measure.real = false;
    const auto found = std::ranges::find(methods(), any_rows, &NamedMethod::method);
    return found != methods().end() ? found->name : "custom";
}

namespace {

constexpr const char* heading = "mnist-knn method 1";
constexpr std::size_t most_shown = 60;  ///< bytes of a wrong line in a message

std::string shown(std::string_view text) {
    std::string quoted = "'";
    quoted += harmless(text.substr(0, most_shown));
    return quoted += text.size() > most_shown ? "...'" : "'";
}

template <class Enum>
void read_name(const std::string& field, std::string_view value, Enum& target) {
    const auto found = named<Enum>(value);
    if (!found)
        throw UsageError(field + " " + shown(value) + " is unknown; expected one of " +
                         joined(name_list<Enum>));
    target = *found;
}

template <class Number>
void read_number(const std::string& field, std::string_view value, Number low, Number high, Number& target) {
    const auto number = number_of<Number>(value);
    if (!number || !(*number >= low && *number <= high))
        throw UsageError(field + " " + shown(value) + " is not allowed; expected " + shortest(low) + " to " +
                         shortest(high));
    target = *number;
}

/// A line "NAME VALUE".
struct Field {
    std::string_view name;
    std::string (*text)(const Method& method);
    void (*read)(std::string_view value, Method& method);  ///< throws UsageError
};

const Field fields[] = {
    {"transform", [](const Method& m) { return m.transform.text(); },
     [](std::string_view v, Method& m) { m.transform = parse_transform("transform", harmless(v)); }},
    {"rerank", [](const Method& m) { return reranker_text(m.rerank); },
     [](std::string_view v, Method& m) { read_reranker("rerank", harmless(v), m.rerank); }},
    {"candidates", [](const Method& m) { return std::to_string(std::min(m.candidates(), max_candidates)); },
     [](std::string_view v, Method& m) {
         read_number("candidates", v, min_candidates, max_candidates, m.rerank.candidates);
     }},
    {"metric", [](const Method& m) { return std::string(name(m.measure.metric)); },
     [](std::string_view v, Method& m) { read_name("metric", v, m.measure.metric); }},
    {"p", [](const Method& m) { return shortest(m.measure.p); },
     [](std::string_view v, Method& m) { read_number("p", v, min_p, max_p, m.measure.p); }},
    {"vote", [](const Method& m) { return std::string(name(m.vote.votes)); },
     [](std::string_view v, Method& m) { read_name("vote", v, m.vote.votes); }},
    {"k", [](const Method& m) { return std::to_string(m.vote.k); },
     [](std::string_view v, Method& m) { read_number("k", v, 1, max_k, m.vote.k); }},
    {"weights", [](const Method& m) { return std::string(name(m.vote.weights)); },
     [](std::string_view v, Method& m) { read_name("weights", v, m.vote.weights); }},
    {"tie", [](const Method& m) { return std::string(name(m.vote.tie)); },
     [](std::string_view v, Method& m) { read_name("tie", v, m.vote.tie); }},
};

bool has(const Method& method, const Field& field) {
    return field.name != "p" || method.measure.metric == Metric::lp;
}

/// Returns the name of the line's value. Throws UsageError.
std::string_view read_line(std::string_view line, Method& method) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || space + 1 == line.size())
        throw UsageError(shown(line) + " has no value; expected a name, a space and a value");
    const std::string_view name = line.substr(0, space);
    const Field* const field = row_named(fields, name);
    if (field == nullptr)
        throw UsageError(shown(name) + " is unknown; expected one of " + joined(fields, &Field::name));
    field->read(line.substr(space + 1), method);
    return field->name;
}

}  // namespace

std::string method_text(const Method& method, std::string_view comment) {
    std::string text = std::string(heading) + '\n';
    if (!comment.empty()) text += "# " + harmless(comment) + '\n';
    for (const Field& field : fields)
        if (has(method, field)) text.append(field.name).append(" ").append(field.text(method)).append("\n");
    return text;
}

Method parse_method_text(std::string_view text, const std::string& file) {
    const auto fail = [&](const std::string& what) { throw DataError(file + ": " + what); };
    std::istringstream lines{std::string(text)};
    std::string line;
    const auto next = [&](bool first) {
        if (!next_line(lines, line, first)) return false;
        line.erase(line.find_last_not_of(" \t") + 1);
        line.erase(0, line.find_first_not_of(" \t"));
        return true;
    };
    if (!next(true) || line != heading)
        fail(std::string("is no method; expected '") + heading + "' in its first line");
    Method method;
    std::set<std::string_view> seen;
    for (int number = 2; next(false); ++number) {
        if (line.empty() || line.starts_with('#')) continue;
        try {
            if (const std::string_view name = read_line(line, method); !seen.insert(name).second)
                throw UsageError(shown(name) + " is there a second time; expected every name once");
        } catch (const UsageError& error) {
            fail("line " + std::to_string(number) + ": " + error.what());
        }
    }
    for (const Field& field : fields) {
        const bool is_wanted = has(method, field);
        if (seen.contains(field.name) == is_wanted) continue;
        fail(is_wanted ? "has no line '" + std::string(field.name) + "'; expected one"
                       : "has a line 'p', but the metric is not lp; expected none");
    }
    if (method.vote.votes == VoteKind::class_mean && !is_integral(method.neighbor_measure()))
        fail(std::string("vote class-mean adds up integers, which distances by ") +
             name(method.measure.metric) + " are not; expected metric l2 or l1, or a re-ranker");
    if (method.reranks() && method.vote.k > method.rerank.candidates)
        fail("k is more than the " + std::to_string(method.rerank.candidates) +
             " candidates that are re-ranked; expected at most as many");
    return method;
}

}  // namespace knn
