#include "classifier/picture_answers.h"

#include <algorithm>
#include <map>

#include "classifier/host.h"
#include "classifier/vote.h"
#include "data/synthetic/drawn_forms.h"

namespace knn {

namespace {

constexpr double clearly_nearer = 0.97;

/// Ink hardly stranger than training images is one digit, unless it is wider than high.
constexpr double ordinary = 1.6, widest = 1.2;

double aspect_of(const Answer& answer) {
    return double(answer.image.box.w) / std::max(1, answer.image.box.h);
}

/// How much farther the digits of a hypothesis may be than the whole: the wider the ink, the less likely it is one
/// digit.
double margin(const Answer& answer) {
    return std::clamp(0.55 + 0.6 * (aspect_of(answer) - 0.7), 0.5, 1.5);
}

/// Distance to the neighbors, in units of what is usual for their labels.
double strangeness(const Answer& answer, std::span<const std::uint8_t> labels, const Measure& measure,
                   const TypicalDistances& typical) {
    if (answer.neighbors.empty()) return 0;
    double sum = 0;
    for (const Neighbor& neighbor : answer.neighbors)
        sum += typical[labels[neighbor.index]];
    return mean_distance(answer.neighbors, measure) * double(answer.neighbors.size()) / sum;
}

/// Of all digits and of the strangest, half each: no digit may be bought by another.
double strangeness(const std::vector<Answer>& hypothesis, std::span<const std::uint8_t> labels,
                   const Measure& measure, const TypicalDistances& typical) {
    double sum = 0, most = 0;
    for (const Answer& digit : hypothesis) {
        const double one = strangeness(digit, labels, measure, typical);
        sum += one, most = std::max(most, one);
    }
    return 0.5 * (sum / double(hypothesis.size()) + most);
}

/// `row`: of ExtraRows, the drawn ones first.
std::string what_no_digit_is(std::int64_t row) {
    const DrawnForm* form = form_of_row(row);
    return form != nullptr ? form->name : "one of your pictures of no digit";
}

constexpr std::ptrdiff_t min_rejected = 3;
constexpr std::ptrdiff_t max_marks_per_rejected = 2, min_marks_per_rejected_of_number = 5;
constexpr double narrow = 0.25;

// Of compare_within_page: sure answers, how many a page needs, and how often each votes (as extra_copies, data/set/locate.h).
constexpr double least_sure = 0.95, least_usual = 0.05;
constexpr std::size_t min_sure = 5;
constexpr int votes_of_sure = 2;

}  // namespace

std::vector<std::uint8_t> rows_to_search(std::span<DigitImage* const> digits) {
    std::vector<std::uint8_t> rows;
    for (const DigitImage* digit : digits) {
        rows.insert(rows.end(), digit->pixels.begin(), digit->pixels.end());
        if (digit->smaller) rows.insert(rows.end(), digit->smaller->begin(), digit->smaller->end());
    }
    return rows;
}

std::vector<std::int64_t> choose_sizes(std::span<DigitImage* const> digits, const Measure& measure,
                                       const Neighbors& found) {
    std::vector<std::int64_t> chosen;
    std::int64_t row = 0;
    for (DigitImage* digit : digits) {
        chosen.push_back(row);
        if (digit->smaller) {
            const double usual = mean_distance(found.row(row), measure);
            const double smaller = mean_distance(found.row(++row), measure);
            if (smaller < clearly_nearer * usual) {
                chosen.back() = row;
                digit->pixels = *digit->smaller;
            }
            digit->smaller.reset();
        }
        ++row;
    }
    return chosen;
}

TypicalDistances typical_distances(const LeaveOneOut& sample) {
    TypicalDistances typical;
    typical.fill(1);
    std::array<std::vector<double>, 256> distances;
    for (const SampledAnswer& one : sample)
        distances[one.nearest_label].push_back(one.distance);
    for (std::size_t label = 0; label < distances.size(); ++label) {
        std::vector<double>& all = distances[label];
        if (all.empty()) continue;
        const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
        std::nth_element(all.begin(), middle, all.end());
        typical[label] = std::max(*middle, 1e-9);
    }
    return typical;
}

void expand_hypotheses(std::vector<Answer>& digits) {
    for (Answer& digit : digits) {
        for (std::vector<DigitImage>& images : digit.image.hypotheses) {
            std::vector<Answer>& hypothesis = digit.hypotheses.emplace_back(images.size());
            for (std::size_t i = 0; i < images.size(); ++i)
                hypothesis[i].image = std::move(images[i]);
        }
        digit.image.hypotheses.clear();
    }
}

void choose_hypotheses(std::vector<Answer>& digits, std::span<const std::uint8_t> labels,
                       const Measure& measure, const TypicalDistances& typical) {
    std::vector<Answer> chosen;
    for (Answer& digit : digits) {
        std::vector<std::vector<Answer>> hypotheses = std::move(digit.hypotheses);
        digit.hypotheses.clear();
        const double whole = strangeness(digit, labels, measure, typical);
        double least = margin(digit) * whole;
        if (whole < ordinary && aspect_of(digit) < widest) hypotheses.clear();
        std::vector<Answer>* best = nullptr;
        for (std::vector<Answer>& hypothesis : hypotheses)
            if (const double strange = strangeness(hypothesis, labels, measure, typical); strange < least)
                best = &hypothesis, least = strange;
        if (best == nullptr)
            chosen.push_back(std::move(digit));
        else
            std::move(best->begin(), best->end(), std::back_inserter(chosen));
    }
    digits = std::move(chosen);
}

void judge_rows(std::vector<Answer>& digits) {
    for (auto begin = digits.begin(); begin != digits.end();) {
        const auto end = std::find_if(
            begin, digits.end(), [&](const Answer& digit) { return digit.image.row != begin->image.row; });
        const auto rejected =
            std::count_if(begin, end, [](const Answer& digit) { return !digit.label.has_value(); });
        const auto marks = end - begin;
        const bool is_text = rejected >= min_rejected && marks <= max_marks_per_rejected * rejected;
        const bool is_number = marks >= min_marks_per_rejected_of_number * rejected;
        for (; begin != end; ++begin) {
            if (is_number && begin->narrowly) {
                begin->label = std::exchange(begin->guess, {});
                begin->reason.clear();
            }
            if (!is_text || !begin->label) continue;
            begin->guess = begin->label;
            begin->label.reset();
            begin->reason = "in a row of text: " + std::to_string(rejected) + " of its " +
                            std::to_string(marks) + " marks are not digits";
        }
    }
}

std::vector<Answer*> digits_to_search(std::span<PictureAnswer> pictures, bool rejects) {
    std::vector<Answer*> digits;
    for (PictureAnswer& picture : pictures) {
        expand_hypotheses(picture.digits);
        for (Answer& digit : picture.digits) {
            if (rejects) digit.reason = digit.image.refused;
            if (digit.reason.empty()) digits.push_back(&digit);
            for (std::vector<Answer>& hypothesis : digit.hypotheses)
                for (Answer& part : hypothesis)
                    digits.push_back(&part);
        }
    }
    return digits;
}

Results answer_digits(const Index& index, const AnswerScorer& scorer, std::optional<double> loss,
                      std::span<Answer* const> digits, const ProgressToken& token) {
    std::vector<DigitImage*> images;
    for (Answer* digit : digits)
        images.push_back(&digit->image);
    const std::vector<std::uint8_t> rows = rows_to_search(images);
    const Training& training = index.training();
    const std::int64_t dim = training.rows.dim;
    Results found =
        index.search(Rows{rows.data(), std::ssize(rows) / dim, dim}, {.keep_features = true, .token = token});
    std::vector<std::int64_t> no_digits(found.votes.size(), -1);
    if (scorer.extra() != nullptr)
        no_digits =
            scorer.extra()->join(found, Rows{rows.data(), std::ssize(found.votes), dim}, token.quiet());
    // The neighbors that people see are images of the training set; extra rows take part in the choice of sizes.
    const Measure measure = index.method().neighbor_measure();
    const std::vector<std::int64_t> chosen =
        choose_sizes(images, measure,
                     scorer.extra() != nullptr ? found.all_voters.first(found.neighbors.k) : found.neighbors);
    const auto answer = [&](std::size_t i) {
        Answer& digit = *digits[i];
        const auto neighbors = found.neighbors.row(chosen[i]);
        digit.neighbors.assign(neighbors.begin(), neighbors.end());
        std::map<int, int> votes;  // by label
        for (const Neighbor& neighbor : neighbors)
            ++votes[training.labels[neighbor.index]];
        digit.votes.assign(votes.begin(), votes.end());
        const Vote& vote = found.votes[static_cast<std::size_t>(chosen[i])];
        NoveltyTest test = scorer.test(found, chosen[i], digit.image.pixels.data(), loss);
        // No digit was seen in the picture, so a forced answer is not right.
        digit.confidence = digit.image.refused.empty() ? scorer.probability(found, chosen[i]) : 0;
        digit.vote_share = vote.vote_share;
        digit.p_value = test.p_value;
        digit.reason = loss && test.reason.empty() ? digit.image.refused : std::move(test.reason);
        if (const std::int64_t row = no_digits[static_cast<std::size_t>(chosen[i])]; loss && row >= 0)
            digit.reason = "like " + what_no_digit_is(row) + ": nearer to it than to any digit";
        else
            digit.narrowly = loss && !digit.reason.empty() && digit.p_value >= narrow * *loss;
        (digit.reason.empty() ? digit.label : digit.guess) = vote.label;
    };
    const std::int64_t n = std::ssize(digits);
    const int threads = available_threads();
    for_rows(n, piece_for_all(n, threads, n), threads, token.stop,
             [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t i = first; i < last; ++i)
                     answer(static_cast<std::size_t>(i));
             });
    found.features = {};  // its rows may be those above
    return found;
}

void compare_within_page(const Index& index, const AnswerScorer& scorer, std::vector<Answer>& digits,
                         const ProgressToken& token) {
    if (scorer.extra() == nullptr) return;
    std::vector<std::uint8_t> sure, labels, asked;
    std::vector<Answer*> doubtful;
    for (Answer& digit : digits) {
        const DigitImage::Pixels& pixels = digit.image.pixels;
        if (digit.p_value < least_usual && (digit.label || digit.narrowly)) {
            doubtful.push_back(&digit);
            asked.insert(asked.end(), pixels.begin(), pixels.end());
        } else if (digit.label && digit.confidence >= least_sure) {
            for (int i = 0; i < votes_of_sure; ++i)
                sure.insert(sure.end(), pixels.begin(), pixels.end());
            labels.insert(labels.end(), votes_of_sure, static_cast<std::uint8_t>(*digit.label));
        }
    }
    if (doubtful.empty() || labels.size() < min_sure * votes_of_sure) return;
    const std::int64_t dim = index.training().rows.dim;
    const Rows queries{asked.data(), std::ssize(doubtful), dim};
    Results found = index.search(queries, {.token = token});
    scorer.extra()->join(found, queries, token.quiet());
    const TrainingSet page(Training{Rows{sure.data(), std::ssize(labels), dim}, labels, index.set().shape()});
    ExtraRows(index, page, token.quiet(), scorer.extra()).join(found, queries, token.quiet());
    for (std::size_t i = 0; i < doubtful.size(); ++i) {
        Answer& digit = *doubtful[i];
        (digit.label ? digit.label : digit.guess) = found.votes[i].label;
        digit.confidence = scorer.probability(found, static_cast<std::int64_t>(i));
        digit.vote_share = found.votes[i].vote_share;
    }
}

void choose_answers(std::span<PictureAnswer> pictures, const Index& index, const AnswerScorer& scorer,
                    const LeaveOneOut& sample, const ProgressToken& token) {
    const TypicalDistances typical = typical_distances(sample);
    for (PictureAnswer& picture : pictures) {
        choose_hypotheses(picture.digits, index.training().labels, index.method().neighbor_measure(),
                          typical);
        compare_within_page(index, scorer, picture.digits, token);
        judge_rows(picture.digits);
    }
}

}  // namespace knn
