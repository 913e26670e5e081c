#include "app/report/answers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "app/report/json.h"
#include "app/report/text.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr std::size_t max_shown = 8;  // neighbors that fit on a terminal line

int median(std::vector<int> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// The gap between a digit and the previous one in the same row.
int gap_between(const Box& before, const Box& box) {
    return box.x - (before.x + before.w);
}

struct Symbol {
    int row;
    Box box;
    char letter;
};

int median_height(const std::vector<Answer>& digits) {
    std::vector<int> heights;
    for (const Answer& digit : digits)
        heights.push_back(digit.image.box.h);
    return median(std::move(heights));
}

/// Than a gap.
int clearly_wider(int gap) {
    return gap * 8 / 5;
}

/// The smallest gap that separates numbers, not digits: wider than the height of a digit, and clearly wider than the next smaller
/// gap or than at least half of all. Evenly spaced digits are one number unless they are more than `far_apart` heights apart. `symbols`: of all rows, each
/// from left to right; a gap with a mark in it is none between digits.
int number_gap(const std::vector<Answer>& digits, const std::vector<Symbol>& symbols) {
    constexpr double far_apart = 3.5;
    std::vector<int> gaps;
    for (std::size_t i = 1; i < symbols.size(); ++i)
        if (symbols[i].row == symbols[i - 1].row)
            gaps.push_back(gap_between(symbols[i - 1].box, symbols[i].box));
    std::ranges::sort(gaps);
    const int height = median_height(digits), usual = gaps.empty() ? 0 : gaps[(gaps.size() - 1) / 2];
    const auto separating = [&](int gap) { return std::max(height, clearly_wider(gap)) + 1; };
    const auto jump = std::ranges::adjacent_find(gaps, [&](int a, int b) { return b >= separating(a); });
    const int most = std::min(separating(usual), int(far_apart * height));
    return jump == gaps.end() ? most : std::min(most, jump[1]);
}

std::string emphasized(const std::string& text, bool rejected, bool color) {
    return styled(text, rejected ? ansi::bold_yellow : ansi::bold_green, color);
}

std::string neighbors_text(const Answer& answer, const PictureAnswers& answers) {
    if (answer.neighbors.empty()) return "";
    const std::size_t shown = std::min(answer.neighbors.size(), max_shown);
    Table table(std::vector<Align>(shown + 1, Align::left));
    std::vector<std::string> label = {"label"}, index = {"index"};
    const Method& method = answers.method;
    std::vector<std::string> distance = {method.reranks()            ? distance_name(method)
                                         : method.transform.is_raw() ? "distance"
                                                                     : "distance of features"};
    for (const Neighbor& neighbor : std::span(answer.neighbors).first(shown)) {
        label.push_back(std::to_string(answers.labels[neighbor.index]));
        index.push_back(std::to_string(neighbor.index));
        distance.push_back(distance_text(answers.method.neighbor_measure(), neighbor.distance));
    }
    table.add(label);
    table.add(index);
    table.add(distance);
    std::string text = table.text(4);
    if (shown < answer.neighbors.size())
        text += "    and " + std::to_string(answer.neighbors.size() - shown) + " more\n";
    return text;
}

std::string single_text(const PictureAnswer& picture, const PictureAnswers& answers, bool color) {
    const Answer& answer = picture.digits.at(0);
    std::string text =
        harmless(picture.file) + ": " + emphasized(symbol_and_guess(answer), !answer.label, color) + "  (";
    text += answer.label ? "confidence " + percent(answer.confidence, 0) : answer.reason;
    return text + ")\n" + neighbors_text(answer, answers);
}

std::string fields_text(const PictureAnswer& form, bool color) {
    Table table({Align::left, Align::left, Align::left});
    for (const FieldAnswer& field : form.fields)
        table.add({harmless(field.name),
                   emphasized(field.text.empty() ? "-" : field.text, !field.doubt.empty(), color),
                   !field.doubt.empty() ? "doubtful: " + field.doubt
                   : field.text.empty() ? "empty"
                                        : "confidence " + percent(field.confidence, 0)});
    return table.text(4);
}

std::string page_text(const PictureAnswer& page, int columns, bool color) {
    std::string text = harmless(page.file) + ": " + digits_text(page) + '\n';
    if (!page.fields.empty() && columns == 0) return text + fields_text(page, color);
    for (const std::string& line : page_lines(page, columns))
        text += "    " + emphasized(line, page.digits.empty(), color) + '\n';
    for (const Answer& digit : page.digits) {
        const Box& box = digit.image.box;
        if (!digit.label)
            text += "    " + symbol_and_guess(digit) + " at x " + std::to_string(box.x) + ", y " +
                    std::to_string(box.y) + ": " + digit.reason + '\n';
    }
    return text;
}

using Json = nlohmann::ordered_json;

void add_answer(Json& json, const Answer& answer, const PictureAnswers& answers) {
    json["digit"] = answer.label ? Json(*answer.label) : Json();
    if (!answer.label) json["reason"] = answer.reason;
    if (answer.guess) json["guess"] = *answer.guess;
    json["confidence"] = answer.confidence;
    json["vote_share"] = answer.vote_share;
    json["usual"] = answer.p_value;
    json["votes"] = Json::object();
    for (const auto& [label, count] : answer.votes)
        json["votes"][std::to_string(label)] = count;
    json["neighbors"] =
        neighbors_json(answer.neighbors, answers.labels.data(), answers.method.neighbor_measure());
    const Box& box = answer.image.box;
    json["box"] = {box.x, box.y, box.w, box.h};
    if (answers.pages) json["row"] = answer.image.row;
    if (answers.pixels) json["pixels"] = answer.image.pixels;
}

void add_text(Json& json, const PictureAnswer& picture, const PictureAnswers& answers) {
    if (answers.numbers || answers.columns > 0) json["text"] = page_lines(picture, answers.columns);
    if (picture.fields.empty() || answers.columns > 0) return;
    json["fields"] = Json::array();
    for (const FieldAnswer& field : picture.fields) {
        Json one = {{"name", field.name}, {"text", field.text}, {"confidence", field.confidence}};
        if (!field.doubt.empty()) one["doubt"] = field.doubt;
        json["fields"].push_back(one);
    }
}

}  // namespace

std::string symbol(const Answer& answer) {
    return answer.label ? std::to_string(*answer.label) : "?";
}

std::string symbol_and_guess(const Answer& answer) {
    if (!answer.guess) return symbol(answer);
    return "? (" + std::to_string(*answer.guess) + ", " + percent(answer.confidence, 0) + ")";
}

std::vector<std::string> page_lines(const PictureAnswer& page, int columns) {
    std::vector<std::string> lines;
    if (columns > 0) {
        for (std::size_t i = 0; i < page.fields.size(); ++i) {
            if (i % static_cast<std::size_t>(columns) == 0) lines.emplace_back();
            lines.back() += page.fields[i].text.empty() ? "." : page.fields[i].text;
        }
        return lines;
    }
    if (!page.fields.empty()) {
        for (const FieldAnswer& field : page.fields)
            lines.push_back(field.text);
        return lines;
    }
    if (page.digits.empty()) return {"?"};
    // A row of which nothing is a digit is text or a drawing, unless there is nothing else.
    std::set<int> rows;
    for (const Answer& digit : page.digits)
        if (digit.label) rows.insert(digit.image.row);
    std::vector<Symbol> symbols;
    for (const Answer& digit : page.digits)
        symbols.push_back({digit.image.row, digit.image.box,
                           digit.label.value_or(10) > 9 ? '?' : static_cast<char>('0' + *digit.label)});
    for (const PageMark& mark : page.marks)
        symbols.push_back({mark.row, mark.box, mark.sign});
    std::ranges::stable_sort(symbols, {}, [](const Symbol& one) { return std::pair(one.row, one.box.x); });
    const int separating = number_gap(page.digits, symbols), height = median_height(page.digits);
    // A minus sign far from the digit before it and near the next one is a number's.
    const auto is_sign = [&](const Symbol& before, const Symbol& one) {
        if (one.letter != '-' || &one == &symbols.back() || (&one)[1].row != one.row) return false;
        return gap_between(before.box, one.box) >=
               std::max(height / 2, clearly_wider(gap_between(one.box, (&one)[1].box)));
    };
    const Symbol* before = nullptr;
    for (const Symbol& one : symbols) {
        if (!rows.empty() && !rows.contains(one.row)) continue;
        if (before == nullptr || one.row != before->row)
            lines.emplace_back();
        else if (before->letter != '-' && one.letter != '.' &&
                 (gap_between(before->box, one.box) >= separating || is_sign(*before, one)))
            lines.back() += ' ';
        lines.back() += one.letter;
        before = &one;
    }
    return lines;
}

std::string digits_text(const PictureAnswer& page) {
    const std::int64_t count = std::ssize(page.digits);
    const auto answered = count - std::ranges::count(page.digits, std::optional<int>(), &Answer::label);
    const std::string text = answered == 0 ? "no digits" : counted(answered, "digit");
    return answered < count ? text + ", " + with_commas(count - answered) + " rejected" : text;
}

std::string answers_text(const PictureAnswers& answers, bool quiet, bool color) {
    std::string text;
    for (const PictureAnswer& picture : answers.pictures) {
        if (!picture.error.empty()) {
            if (quiet) text += "error\n";  // a line for each picture
        } else if (!quiet) {
            text += answers.pages ? page_text(picture, answers.columns, color)
                                  : single_text(picture, answers, color);
        } else if (answers.pages) {
            for (const std::string& line : page_lines(picture, answers.columns))
                text += line + '\n';
        } else {
            text += symbol(picture.digits.at(0)) + '\n';
        }
    }
    return text;
}

std::string answers_json(const PictureAnswers& answers, int version) {
    const Json json = answers_object(answers);
    return json_text(version == 1 ? json["pictures"] : json);
}

Json answers_object(const PictureAnswers& answers) {
    Json list = Json::array();
    for (const PictureAnswer& picture : answers.pictures) {
        Json one = {{"file", report_path(picture.file)}};
        if (answers.expected) one["expected"] = picture.expected ? Json(*picture.expected) : Json();
        if (!picture.error.empty()) {
            one["error"] = picture.error;
        } else if (answers.pages) {
            one["digits"] = Json::array();
            for (const Answer& digit : picture.digits) {
                one["digits"].push_back(Json::object());
                add_answer(one["digits"].back(), digit, answers);
            }
            add_text(one, picture, answers);
        } else {
            add_answer(one, picture.digits.at(0), answers);
        }
        list.push_back(one);
    }
    Json json = json_head("mnist-knn/classify/2");
    json["pictures"] = std::move(list);
    return json;
}

std::string neighbors_heading(std::size_t neighbors, const Method& method) {
    std::string what = "nearest training images: label, number, " + distance_name(method);
    if (neighbors <= max_neighbors_drawn) return what;
    const auto more = static_cast<std::int64_t>(neighbors - max_neighbors_drawn);
    return what + "; and " + with_commas(more) + " more";
}

std::string candidates_heading(std::size_t candidates, const Method& method) {
    Method search = method;
    search.rerank.kind = RerankKind::none;
    return "before re-ranking, of " + std::to_string(candidates) + ": label, number, " +
           distance_name(search);
}

std::string rank_before(const Answer& answer, const Neighbor& neighbor) {
    const auto found = std::ranges::find(answer.candidates, neighbor.index, &Neighbor::index);
    return "was " + std::to_string(found - answer.candidates.begin() + 1) + " of " +
           std::to_string(answer.candidates.size());
}

}  // namespace knn
