/// report.json as `view` and `compare` read it.

#include <iterator>
#include <numeric>

#include "app/report/report_file.h"
#include "data/core/errors.h"
#include "data/core/problem.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using knn::test::require;
    const knn::test::Input input(data, size);
    try {
        const knn::SavedReport report = knn::parse_report(input.text(), "input");
        const knn::Evaluation& evaluation = report.evaluation;
        const knn::Score& score = evaluation.score;
        std::int64_t sum = 0;
        require(score.confusion.size() == score.labels.size(), "the matrix has a row for each label");
        for (const auto& row : score.confusion) {
            require(row.size() == score.labels.size(), "the matrix has a column for each label");
            sum = std::accumulate(row.begin(), row.end(), sum);
        }
        require(sum == score.total && sum == evaluation.n_test, "the matrix counts every test image");
        require(score.correct >= 0 && score.correct <= score.total, "no more are correct than there are");
        require(report.data.files.empty() || report.data.files.size() == (report.of_pictures() ? 2U : 4U),
                "a data set has four files, a training set two");
        require(!report.of_pictures() || std::ssize(evaluation.pictures) == evaluation.n_test,
                "each picture has a name");
        require(report.rows > 0 && report.cols > 0, "images have pixels");
        const knn::Method& method = evaluation.method;
        require(method.vote.k >= 1 && method.vote.k <= knn::max_k, "k is in its range");
        require(method.rerank.candidates >= knn::min_candidates &&
                    method.rerank.candidates <= knn::max_candidates,
                "the number of candidates is in its range");
    } catch (const knn::DataError&) {
    }
    return 0;
}
