#pragma once
/// Rows of a page that are text, not digits.

#include <vector>

#include "classifier/picture_answers.h"

namespace knn {

/// Rejects what is left of the rows in which at least three marks, and at least a third of all, are rejected: some
/// letters look like digits, but rarely all letters of a word do. `digits`: of one page, in reading order.
void reject_text_rows(std::vector<Answer>& digits);

}  // namespace knn
