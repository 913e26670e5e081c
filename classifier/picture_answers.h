#pragma once
/// The result of `classify` for each picture, and how the digits of a picture become answers.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "classifier/confidence.h"
#include "data/picture/digit_image.h"

namespace knn {

/// One digit of a picture.
struct Answer {
    DigitImage image;
    std::optional<int> label;  ///< none: rejected, with a `reason`
    std::string reason;
    bool narrowly = false;                   ///< rejected, but not by a quarter of the share that may be
    std::optional<int> guess;                ///< of a rejected digit that was searched: what it would be
    double confidence = 0;                   ///< probability that the winner is right, also if rejected
    double vote_share = 0;                   ///< the winner's share of the votes
    double p_value = 0;                      ///< share of training digits that are as unusual (Rejection)
    std::vector<std::pair<int, int>> votes;  ///< labels that neighbors have, ascending, and how many
    std::vector<Neighbor> neighbors;         ///< in order; empty if nothing was searched
    std::vector<Neighbor> candidates;        ///< in the order before re-ranking; only if that is explained
    std::vector<std::vector<Answer>> hypotheses;  ///< of DigitImage::hypotheses, until one is chosen
};

/// One field of a form (classifier/form.h).
struct FieldAnswer {
    std::string name;
    std::string text;       ///< digits from the left, ? rejected, . an empty box between two
    double confidence = 0;  ///< the product of those of its digits
    std::string doubt;      ///< empty, or why it must be checked
};

/// One picture, whose answer is an `error` or `digits`.
struct PictureAnswer {
    std::string file;
    std::string error;                ///< "what is wrong; what was expected"
    int rows = 0, cols = 0;           ///< of the picture
    std::vector<Answer> digits;       ///< exactly one unless pages were asked for
    std::vector<PageMark> marks;      ///< of a page, if they are wanted
    std::vector<FieldAnswer> fields;  ///< of a form
    std::optional<int> expected;      ///< the digit that the name tells, if names tell them (--expected)
    std::vector<Step> steps;          ///< if they are to be explained; reduced in size
};

struct PictureAnswers {
    bool pages = false;     ///< pictures with any number of digits (--many)
    bool numbers = false;   ///< signs and points are part of the rows (--numbers)
    int columns = 0;        ///< of a grid in each picture, whose fields are its cells; 0: none (--grid)
    bool pixels = false;    ///< the 28×28 pixels are wanted (--pixels)
    bool expected = false;  ///< names tell the digits (--expected)
    Rows train;             ///< 28×28
    std::span<const std::uint8_t> labels;
    Method method;
    bool calibrated = false;              ///< confidences are fitted, see Evaluation
    std::vector<PictureAnswer> pictures;  ///< in the order given
};

// The two sizes of a digit in a picture: both are searched, and the nearer one is used.

/// The pixels of each digit, followed by those of its smaller size if it has one: the rows to search for.
std::vector<std::uint8_t> rows_to_search(std::span<DigitImage* const> digits);

/// Each digit's row in the result of that search. Replaces the pixels of digits whose smaller size is chosen,
/// and clears `smaller` of all.
///
/// The size of 20 pixels is used unless the neighbors of the smaller one are at least 3 % nearer: smaller
/// digits have less ink, and so are slightly nearer to everything. docs/classify.md has the figures.
std::vector<std::int64_t> choose_sizes(std::span<DigitImage* const> digits, const Measure& measure,
                                       const Neighbors& found);

// Segmentation hypotheses (hypotheses) of ink on a page that may be one digit or several: all are searched, and the one
// whose digits are nearest to the training images is used.

/// How far the neighbors of a training image are, by label: a 1 has nearer ones than an 8. 1 for every label if the
/// sample is empty.
using TypicalDistances = std::array<double, 256>;
TypicalDistances typical_distances(const LeaveOneOut& sample);

/// Moves the hypotheses of the images into `hypotheses` of the answers, so that they can be searched for.
void expand_hypotheses(std::vector<Answer>& digits);

/// Replaces each answer whose neighbors are clearly farther than those of one of its hypotheses by the answers of that
/// hypothesis, and drops the others. docs/classify.md has the figures behind the margin.
void choose_hypotheses(std::vector<Answer>& digits, std::span<const std::uint8_t> labels,
                       const Measure& measure, const TypicalDistances& typical);

/// Rejects what is left of the rows in which at least three marks, and at least half of all, are rejected: some
/// letters look like digits, but rarely most letters of a word do. Where at most a fifth of a row is rejected, it is a
/// number, and what was narrowly rejected is accepted. `digits`: of one page, in hypothesis order.
void judge_rows(std::vector<Answer>& digits);

// The steps above, in their order.

/// The digits to search for, in order, with those of all hypotheses; with `rejects` without those where no digit was found.
std::vector<Answer*> digits_to_search(std::span<PictureAnswer> pictures, bool rejects);

/// Searches for all digits at once and writes the answers into them. `loss`: as AnswerScorer's. Throws as Index::search.
Results answer_digits(const Index& index, const AnswerScorer& scorer, std::optional<double> loss,
                      std::span<Answer* const> digits, const ProgressToken& token);

/// The digits of a page are of one hand. So where extra rows vote, its sure answers vote on its doubtful ones, and on what was
/// narrowly rejected would be. Throws as Index::search.
void compare_within_page(const Index& index, const AnswerScorer& scorer, std::vector<Answer>& digits,
                         const ProgressToken& token);

/// Chooses among the hypotheses, compares the digits of each page, and judges the rows. Throws as Index::search.
void choose_answers(std::span<PictureAnswer> pictures, const Index& index, const AnswerScorer& scorer,
                    const LeaveOneOut& sample, const ProgressToken& token);

}  // namespace knn
