#pragma once
/// Segmentation hypotheses (readings) of ink on a page that may be one digit or several: all are searched, and the one
/// whose digits are nearest to the training images is used.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "classifier/leave_one_out.h"
#include "classifier/picture_answers.h"

namespace knn {

/// How far the neighbors of a training image are, by label: a 1 has nearer ones than an 8.
class UsualDistances {
  public:
    /// 1 for every label if the sample is empty.
    explicit UsualDistances(const LeaveOneOut& sample);

    double operator[](std::uint8_t label) const { return of_label_[label]; }

  private:
    std::array<double, 256> of_label_;
};

/// Moves the readings of the images into `readings` of the answers, so that they can be searched for.
void expand_readings(std::vector<Answer>& digits);

/// Replaces each answer whose neighbors are clearly farther than those of one of its readings by the answers of that
/// reading, and drops the others. docs/classify.md has the figures behind the margin.
void choose_readings(std::vector<Answer>& digits, std::span<const std::uint8_t> labels,
                     const Measure& measure, const UsualDistances& usual);

}  // namespace knn
