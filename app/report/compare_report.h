#pragma once
/// Two reports of one test set side by side, for people and machines.

#include <string>

#include "app/report/report_file.h"
#include "classifier/statistics.h"

namespace knn {

struct ComparedReports {
    const SavedReport &a, &b;
    std::string name_a, name_b;  ///< as the user gave them
    const Comparison& result;
};

/// Both accuracies, the counts, the first digits that only one gets right, and the sentence.
std::string compare_text(const ComparedReports& compared);

/// The result of McNemar's test in one sentence.
std::string compare_sentence(const ComparedReports& compared);

/// Schema mnist-knn/compare/1.
std::string compare_json(const ComparedReports& compared);

/// index,label,a,b: the digits that only one gets right.
std::string compare_csv(const Comparison& result);

/// A page without other files; `test`: the pictures of the test set, or null.
std::string compare_page(const ComparedReports& compared, const LabeledImages* test);

}  // namespace knn
