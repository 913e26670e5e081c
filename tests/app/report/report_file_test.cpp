#include "app/report/report_file.h"

#include <doctest/doctest.h>

#include <fstream>

#include "app/report/json.h"
#include "tests/support/sample_evaluation.h"
#include "tests/support/temp_folder.h"

using namespace knn;

TEST_CASE("a report is read back as it was written") {
    const test::TempFolder folder;
    test::Sample sample = test::sample_evaluation();
    Evaluation& evaluation = sample.evaluation;
    evaluation.found.device = {.name = "a card",
                               .kind = Device::Kind::gpu,
                               .compute_capability = "9.0",
                               .memory_bytes = std::int64_t{1} << 37,
                               .driver = "13.0",
                               .runtime = "12.9"};
    const std::string file = (folder.path() / "report.json").string();
    std::ofstream(file) << json_report(evaluation);
    for (const std::string& name : {file, folder.path().string()}) {
        const SavedReport report = read_report(name);
        CHECK(report.source == sample.data->source);
        CHECK(report.evaluation.score.confusion == evaluation.score.confusion);
        // Written again with the same images, it gives the same file.
        Evaluation again = report.evaluation;
        again.data = sample.data.get();
        again.score = evaluation.score;
        CHECK(json_report(again) == json_report(evaluation));
    }
}
