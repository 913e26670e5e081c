#pragma once
/// `classify --expected`: the digit that each picture should show, by its name, and how many answers are right.

#include <optional>
#include <string>

#include "app/cli/options.h"
#include "classifier/picture_answers.h"

namespace knn {

/// The digit that the name of a file tells: its folder is called 3, or its name without the ending is 3 or ends
/// with _3 or -3. The folder is asked first.
std::optional<int> expected_digit(const std::string& file);

/// Notes for each picture which digit its name tells.
void note_expected(PictureAnswers& answers);

/// How many are right; unless `quiet`, also the confusion matrix of those that were answered, and which are wrong. Throws
/// DataError if no name tells a digit.
std::string expected_text(const PictureAnswers& answers, bool quiet, bool color);

/// Until all was read, and in all.
struct RunTimes {
    double load_ms, wall_ms;
};

/// Writes the files of `evaluate --report` for the pictures that were answered and whose names tell a digit.
void write_expected_report(const PictureAnswers& answers, const Training& train, const std::string& source,
                           const Results& found, const RunTimes& times, const Options& options);

}  // namespace knn
