#pragma once
/// A small data set with a report, and what `view` shows of it.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/program.h"

namespace knn::test {

/// One test image as --predictions has it.
struct Answer {
    int index = 0, label = 0, predicted = 0;
    double confidence = 0;
    bool operator==(const Answer&) const = default;
};

/// A small data set, its report, and the answers in it.
struct Evaluated {
    Folder folder;
    std::vector<Answer> answers;

    explicit Evaluated(int test = 60, const std::string& k = "5");

    /// Runs view on the report.
    RunResult view(const std::vector<std::string>& extra, const RunOptions& options = {}) const;

    /// Indices of the answers that pass, most sure first.
    std::vector<int> expected(const std::function<bool(const Answer&)>& pass) const;
};

bool is_wrong(const Answer& answer);

/// What the text says of each digit, by its head line "#7   true 1   predicted 7   confidence 60 % ...".
std::vector<Answer> digits_in(const std::string& text);
std::vector<int> indices_in(const std::string& text);

/// The data that a page's scripts read.
nlohmann::json page_data(const std::string& page);

int png_width(const std::string& png);
int png_height(const std::string& png);

}  // namespace knn::test
