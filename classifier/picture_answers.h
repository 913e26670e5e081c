#pragma once
/// The result of `classify` for each picture.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "classifier/method.h"
#include "data/core/neighbors.h"
#include "data/core/rows.h"
#include "data/picture/digit_image.h"

namespace knn {

/// One digit of a picture.
struct Answer {
    DigitImage image;
    std::optional<int> label;  ///< none: rejected, with a `reason`
    std::string reason;
    std::optional<int> guess;                ///< of a rejected digit that was searched: what it would be
    double confidence = 0;                   ///< probability that the winner is right, also if rejected
    double vote_share = 0;                   ///< the winner's share of the votes
    double usual = 0;                        ///< share of training digits that are as unusual (rejection.h)
    std::vector<std::pair<int, int>> votes;  ///< labels that neighbors have, ascending, and how many
    std::vector<Neighbor> neighbors;         ///< in order; empty if nothing was searched
    std::vector<Neighbor> candidates;        ///< in the order before re-ranking; only if that is explained
    std::vector<std::vector<Answer>> readings;  ///< of DigitImage::readings, until one is chosen
};

/// One picture, whose answer is an `error` or `digits`.
struct PictureAnswer {
    std::string file;
    std::string error;            ///< "what is wrong; what was expected"
    int rows = 0, cols = 0;       ///< of the picture
    std::vector<Answer> digits;   ///< exactly one unless pages were asked for
    std::optional<int> expected;  ///< the digit that the name tells, if names tell them (--expected)
    std::vector<Step> steps;      ///< if they are to be explained; reduced in size
};

struct PictureAnswers {
    bool pages = false;     ///< pictures with any number of digits (--many)
    bool pixels = false;    ///< the 28×28 pixels are wanted (--pixels)
    bool expected = false;  ///< names tell the digits (--expected)
    Rows train;             ///< 28×28
    std::span<const std::uint8_t> labels;
    Method method;
    bool calibrated = false;              ///< confidences are fitted, see Evaluation
    std::vector<PictureAnswer> pictures;  ///< in the order given
};

}  // namespace knn
