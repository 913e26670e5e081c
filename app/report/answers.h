#pragma once
/// The answers of `classify` for people and machines.

#include <string>
#include <vector>

#include "classifier/picture_answers.h"

namespace knn {

/// The digits of a page as text: one line for each row of the page, a space where a wide gap separates
/// numbers; ? for a digit that was rejected, and for a page without any. Rows without a single digit, which are text,
/// are left out if another has one.
std::vector<std::string> page_lines(const PictureAnswer& page);

/// For people: what was found, how sure that is, and the nearest training images with their
/// distances. With `quiet` the digits alone. Pictures that failed are left out.
std::string answers_text(const PictureAnswers& answers, bool quiet, bool color);

/// For machines: schema mnist-knn/classify/1.
std::string answers_json(const PictureAnswers& answers);

}  // namespace knn
