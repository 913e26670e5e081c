#include "app/report/predictions_file.h"

#include <doctest/doctest.h>

#include <fstream>

#include "app/report/csv.h"
#include "data/core/errors.h"
#include "tests/support/sample_evaluation.h"
#include "tests/support/temp_folder.h"

using namespace knn;

TEST_CASE("predictions are read back, bit for bit") {
    const test::TempFolder folder;
    const test::Sample sample = test::sample_evaluation();
    const auto file = folder.path() / "predictions.csv";
    {
        std::ofstream stream(file);
        write_predictions_csv(stream, sample.evaluation);
    }
    const Predictions read = read_predictions(file, sample.evaluation.n_test);
    CHECK(read.votes == sample.evaluation.found.votes);
    CHECK(read.confidence == sample.evaluation.confidence);
    CHECK_THROWS_AS(read_predictions(file, sample.evaluation.n_test + 1), DataError);
    CHECK_THROWS_AS(read_predictions(file, sample.evaluation.n_test - 1), DataError);
}
