#include "app/report/report_file.h"

#include <nlohmann/json.hpp>

#include "app/report/csv.h"
#include "app/report/json.h"
#include "data/core/errors.h"
#include "tests/support/sample_evaluation.h"
#include "tests/support/test.h"

using namespace knn;

TEST_CASE("a report is read back as it was written") {
    const test::TempFolder folder;
    test::Sample sample = test::sample_evaluation();
    Evaluation& evaluation = sample.evaluation;
    evaluation.found.plan.device = {.name = "a card",
                                    .kind = Device::Kind::gpu,
                                    .compute_capability = "9.0",
                                    .memory_bytes = std::int64_t{1} << 37,
                                    .driver = "13.0",
                                    .runtime = "12.9"};
    evaluation.found.plan.ranks = 2;
    evaluation.found.plan.placement = Placement::shard;
    evaluation.found.plan.memory = 100'000;
    const std::string file = (folder.path() / "report.json").string();
    std::ofstream(file) << json_report(evaluation);
    for (const std::string& name : {file, folder.path().string()}) {
        const SavedReport report = read_report(name);
        CHECK(report.data.source == sample.data->source);
        const Score &score = report.evaluation.score, &written = evaluation.score;
        CHECK(score.labels == written.labels);
        CHECK(score.confusion == written.confusion);
        CHECK(score.total == written.total);
        CHECK(score.correct == written.correct);
        // Written again, it gives the same file, except for ratios, which are computed and not read.
        Evaluation again = report.evaluation;
        again.data = sample.data.get();
        // Calibration is computed from the votes, which are in another file.
        const auto without_ratios = [](const Evaluation& one) {
            auto root = nlohmann::json::parse(json_report(one));
            for (const char* key : {"accuracy", "accuracy_low", "accuracy_high", "per_class", "calibration"})
                root["result"].erase(key);
            return root;
        };
        CHECK(without_ratios(again) == without_ratios(evaluation));
    }
}

TEST_CASE("the names of pictures are read back, one for each test image") {
    test::Sample sample = test::sample_evaluation();
    Evaluation& evaluation = sample.evaluation;
    CHECK(!parse_report(json_report(evaluation), "r").of_pictures());
    evaluation.pictures.assign(static_cast<std::size_t>(evaluation.n_test), "100%/caf\xe9.png");
    evaluation.n_named = evaluation.n_test + 3;
    const SavedReport report = parse_report(json_report(evaluation), "r");
    CHECK(report.of_pictures());
    CHECK(report.evaluation.pictures == evaluation.pictures);
    CHECK(report.evaluation.n_named == evaluation.n_named);
    evaluation.n_named = evaluation.n_test - 1;
    CHECK_THROWS_AS(parse_report(json_report(evaluation), "r"), DataError);
    evaluation.n_named = evaluation.n_test;
    evaluation.pictures.pop_back();
    CHECK_THROWS_AS(parse_report(json_report(evaluation), "r"), DataError);
}

TEST_CASE("a report with more neighbors than training images is damaged") {
    test::Sample sample = test::sample_evaluation();
    sample.evaluation.method.vote.k = static_cast<int>(sample.evaluation.n_train) + 1;
    CHECK_THROWS_WITH_AS(parse_report(json_report(sample.evaluation), "r"),
                         doctest::Contains("settings.k is more than the training set has"), DataError);
}

TEST_CASE("an error quotes only the beginning of what a report says") {
    test::Sample sample = test::sample_evaluation();
    nlohmann::json report = nlohmann::json::parse(json_report(sample.evaluation));
    for (const char* key : {"/schema", "/settings/metric"}) {
        CAPTURE(key);
        nlohmann::json changed = report;
        changed[nlohmann::json::json_pointer(key)] = std::string(100'000, 'x');
        std::string error;
        try {
            parse_report(changed.dump(), "r");
        } catch (const DataError& caught) {
            error = caught.what();
        }
        CHECK(error.starts_with("r: "));
        CHECK(test::contains(error, "xxx...; expected "));
        CHECK(error.size() < 400);
    }
}

TEST_CASE("what has more values than a report, or deeper, is refused before it takes memory") {
    std::vector<std::string> texts = {std::string(1'000'000, '['),
                                      std::string(50, '[') + std::string(50, ']')};
    if (!test::has_sanitizer) {  // which takes half a minute
        texts.emplace_back("[0");
        for (int i = 0; i < 5'000'000; ++i)
            texts.back() += ",0";
        texts.back() += ']';
    }
    for (const std::string& text : texts)
        CHECK_THROWS_WITH_AS(parse_report(text, "r"),
                             doctest::Contains("r: has too many values, or too many levels"), DataError);
    CHECK_THROWS_WITH_AS(parse_report(std::string(9, '[') + std::string(9, ']'), "r"),
                         doctest::Contains("has no schema"), DataError);
}

TEST_CASE("predictions are read back, bit for bit") {
    const test::TempFolder folder;
    test::Sample sample = test::sample_evaluation();
    sample.evaluation.confidence[0] = 0;  // of a picture in which no digit was seen
    const auto file = folder.path() / "predictions.csv";
    {
        std::ofstream stream(file);
        write_predictions_csv(stream, sample.evaluation);
    }
    const Predictions read = read_predictions(file, sample.evaluation.n_test);
    CHECK(read.votes == sample.evaluation.found.votes);
    CHECK(read.confidence == sample.evaluation.confidence);
    std::ostringstream written;
    write_predictions_csv(written, sample.evaluation);
    std::string windows = "\xef\xbb\xbf";
    for (const char c : written.str())
        windows.append(c == '\n' ? "\r\n" : std::string(1, c));
    std::istringstream stream(windows);
    CHECK(read_predictions(stream, "windows", sample.evaluation.n_test).confidence == read.confidence);
    CHECK_THROWS_AS(read_predictions(file, sample.evaluation.n_test + 1), DataError);
    const std::string heading = "index,label,predicted,confidence,vote_share\n", row = "0,a,a,1,1\n";
    std::string open = heading + "0,\"a";  // and no quote behind it
    for (int line = 0; line < 10'000; ++line)
        open += "\nmore";
    const std::string endless(100'000, '1');  // without an end of line
    for (const std::string& text : {open, endless, heading + endless, heading + '"' + endless,
                                    heading + "\"a\n" + endless, heading + row + endless}) {
        CAPTURE(text.substr(0, 60));
        std::istringstream damaged(text);
        CHECK_THROWS_AS(read_predictions(damaged, "damaged", 1, {"a", "b"}), DataError);
        damaged.clear();
        CHECK(damaged.tellg() < 1000);
    }
    CHECK_THROWS_AS(read_predictions(file, sample.evaluation.n_test - 1), DataError);
}
