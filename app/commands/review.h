#pragma once
/// classify --review: asks for the digits that were in doubt, for `learn`.

#include <string>

#include "app/report/answers.h"
#include "app/report/page.h"

namespace knn {

/// Shows each digit that was rejected or is right with less than 90 % on standard error, asks on standard input which it is,
/// and writes its 28×28 pixels to FOLDER/DIGIT/NAME.png, a new name each time. Enter skips one, q ends. Returns how many it
/// wrote. Throws DataError, Interrupted.
std::int64_t review(const PictureAnswers& answers, const std::string& folder, Blocks blocks);

}  // namespace knn
