#include <nlohmann/json.hpp>

#include "app/console/console.h"
#include "app/report/csv.h"
#include "app/report/json.h"
#include "app/report/text.h"
#include "classifier/inventory.h"
#include "data/core/format.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

LabeledImages labeled(const std::vector<int>& labels) {
    LabeledImages images;
    images.count = static_cast<std::int64_t>(labels.size());
    images.rows = 1;
    images.cols = 2;
    images.pixels = Bytes(labels.size() * 2);
    images.labels = Bytes(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i)
        images.labels.data()[i] = static_cast<std::uint8_t>(labels[i]);
    return images;
}

/// Two test images, three training images, k = 2.
struct Sample {
    Dataset data;
    Evaluation evaluation;

    Sample() {
        data.name = "sample \xff";  // no UTF-8
        data.source = "a folder";
        data.train = labeled({7, 1, 200});
        data.test = labeled({7, 200});
        data.labels = {1, 7, 200};
        evaluation.data = &data;
        evaluation.n_train = 3;
        evaluation.n_test = 2;
        evaluation.created = "2020-01-02T03:04:05Z";
        evaluation.found.plan.engine = "classic";
        evaluation.found.neighbors = Neighbors(2, 2);
        evaluation.found.neighbors.rows = {{0, 0}, {4'000'000'000, 2}, {5, 1}, {5, 2}};
        evaluation.found.votes = {{7, 1.0}, {1, 0.1}};
        evaluation.confidence = {0.999, 0.25};
        evaluation.found.timeline.add({"upload", 2, 0.5, 1e6, 0, StageKind::copy});
        evaluation.found.timeline.add({"distance", 3, 2.0, 4e6, 8e6});
        evaluation.found.timeline.add({"sort", 3, 1.0});
        evaluation.found.plan.device.peak_gflop_per_s = 8;
        evaluation.found.plan.device.peak_gb_per_s = 20;
        evaluation.found.plan.device.peak_link_gb_per_s = 4;
        evaluation.score = score(evaluation.found.votes, data.test.labels.span(), data.labels);
    }
};

}  // namespace

TEST_CASE("CSV files, byte by byte") {
    const Sample sample;
    std::ostringstream predictions, neighbors;
    write_predictions_csv(predictions, sample.evaluation);
    CHECK(predictions.str() ==
          "index,label,predicted,confidence,vote_share\n0,7,7,0.999,1\n1,200,1,0.25,0.1\n");
    write_neighbors_csv(neighbors, sample.evaluation);
    CHECK(neighbors.str() ==
          "query,rank,index,label,distance\n"
          "0,1,0,7,0\n0,2,2,200,4000000000\n1,1,1,1,5\n1,2,2,200,5\n");
}

TEST_CASE("CSV files longer than one piece are whole") {
    Sample sample;
    const std::int64_t queries = 200'000;
    sample.evaluation.found.neighbors = Neighbors(queries, 1);
    for (Neighbor& neighbor : sample.evaluation.found.neighbors.rows)
        neighbor = {std::numeric_limits<std::uint32_t>::max(), 1};
    std::ostringstream neighbors;
    write_neighbors_csv(neighbors, sample.evaluation);
    std::string expected = "query,rank,index,label,distance\n";
    for (std::int64_t q = 0; q < queries; ++q)
        expected += std::to_string(q) + ",1,1,1,4294967295\n";
    CHECK(neighbors.str() == expected);
}

TEST_CASE("a stream that fails ends the writing") {
    const Sample sample;
    std::ostringstream out;
    out.setstate(std::ios::badbit);
    write_neighbors_csv(out, sample.evaluation);
    CHECK(out.str().empty());
}

TEST_CASE("the JSON report has the fields of its schema, and the optional ones only where they are known") {
    const Sample sample;
    const std::string text = json_report(sample.evaluation);
    const auto json = nlohmann::ordered_json::parse(text);
    CHECK(json["schema"] == "mnist-knn/evaluate/1");
    CHECK(json["created"] == "2020-01-02T03:04:05Z");
    CHECK(json["dataset"]["name"] == "sample %FF");
    CHECK(json["dataset"]["classes"] == 3);
    CHECK(json["dataset"]["rows"] == 1);
    CHECK(json["result"]["labels"] == nlohmann::ordered_json({1, 7, 200}));
    CHECK(json["result"]["confusion"] == nlohmann::ordered_json({{0, 0, 0}, {0, 1, 0}, {1, 0, 0}}));
    CHECK(json["timing"]["stages"][0]["name"] == "upload");
    CHECK(json["timing"]["stages"][0]["gb_per_s"] == doctest::Approx(2.0));
    CHECK(json["timing"]["stages"][1]["gflop_per_s"] == doctest::Approx(4.0));
    CHECK(json["timing"]["stages"][1]["per_image_ms"] == doctest::Approx(1.0));
    CHECK_FALSE(json["timing"]["stages"][2].contains("bytes"));
    CHECK_FALSE(json["timing"]["stages"][0].contains("gflop_per_s"));
    CHECK(json["timing"]["kernels_ms"] == doctest::Approx(3.0));  // the upload is no kernel
    CHECK_FALSE(json["device"].contains("driver"));
    CHECK_FALSE(json["device"].contains("memory_bytes"));
    CHECK(text.back() == '\n');
    CHECK(test::contains(text, "\n      [0,1,0],\n"));  // a row of the matrix is a line
}

TEST_CASE("JSON text is readable") {
    using Json = nlohmann::ordered_json;
    CHECK(json_text(Json::object()) == "{}\n");
    CHECK(json_text({{"a", 1}, {"b", {{"c", Json::array()}, {"d", {1, 2}}}}}) ==
          "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": [],\n    \"d\": [1,2]\n  }\n}\n");
    CHECK(json_text({{"a\n\"", "\\"}}) == "{\n  \"a\\n\\\"\": \"\\\\\"\n}\n");
}

TEST_CASE("a method by its name, whatever k is, and counts of a whole") {
    CHECK(short_method_text({}) == "method raw, k = 5");
    CHECK(short_method_text({.measure = {.real = true}}) == "method raw, k = 5");
    Method accurate = methods().back().method;
    CHECK(short_method_text(accurate) == "method accurate, k = 4");
    accurate.vote.k = 7;
    CHECK(short_method_text(accurate) == "method accurate, k = 7");
    accurate.vote.tie = Tie::nearest;
    CHECK(short_method_text(accurate) == settings_text(accurate));
    CHECK(counted_of(20, 4000, "image") == "20 of 4,000 images");
    CHECK(counted_of(1, 1, "image") == "1 image");
}

TEST_CASE("the accuracy line and the confusion matrix") {
    const Sample sample;
    CHECK(accuracy_line(sample.evaluation.score) ==
          "accuracy 50.00 %: 1 of 2 right (95 % interval 9.45 % to 90.55 %)\n");
    Score many = sample.evaluation.score;
    many.correct = 9688;
    many.total = 10'000;
    CHECK(test::contains(accuracy_line(many), ": 9,688 of 10,000 right ("));
    CHECK(confusion_text(sample.evaluation.score, false) ==
          "  true \\ predicted\n"
          "           1    7  200\n"
          "      1    .    .    .\n"
          "      7    .    1    .\n"
          "    200    1    .    .\n");
    const std::string colored = confusion_text(sample.evaluation.score, true);
    CHECK(test::contains(colored, "\x1b[1;31m  1\x1b[0m"));  // the error
    CHECK(test::contains(colored, "\x1b[32m  1\x1b[0m"));    // the hit
    Score named = sample.evaluation.score;
    named.classes.resize(256);
    named.classes[1] = "\u00fcn\u00ef", named.classes[7] = "a", named.classes[200] = "ten letter";
    CHECK(test::contains(confusion_text(named, false),
                         "         \u00fcn\u00ef           .           .           .\n"));
}

TEST_CASE("the whole text names data, device, engine and settings") {
    const Sample sample;
    const std::string text = text_report(sample.evaluation, false);
    CHECK(
        text.starts_with("data      sample ?: 3 training and 2 test images of 1 x 2, 3 classes\n"
                         "source    a folder\n"));
    CHECK(test::contains(text, "\nsettings  k = 5, metric "));
    // Of classes 1, 7 and 200, of which no test image has 1.
    CHECK(test::contains(text, "   mean     0.5000  0.5000  0.5000        2\n"));
    CHECK(!test::contains(text, "\x1b"));
    CHECK(test::contains(text_report(sample.evaluation, true), "\x1b[1maccuracy 50.00 %"));
}

TEST_CASE("a recall of less than all is not rounded up to 1.0000") {
    Sample sample;
    ClassScore& one = sample.evaluation.score.per_class.at(0);
    one.precision = 1, one.recall = 0.99996, one.f1 = 0.99994;
    CHECK(test::contains(text_report(sample.evaluation, false), "1.0000  > 0.9999  0.9999"));
}

TEST_CASE("with many classes the most frequent confusions replace the matrix") {
    std::vector<std::uint8_t> labels, truth;
    std::vector<Vote> votes;
    for (int label = 0; label < 256; ++label) {
        labels.push_back(static_cast<std::uint8_t>(label));
        truth.push_back(static_cast<std::uint8_t>(label));
        votes.push_back({static_cast<std::uint8_t>(label == 255 ? 3 : label), 1});
    }
    const std::string text = confusion_text(score(votes, truth, labels), false);
    CHECK(test::contains(text, "  true  predicted  count\n   255          3      1\n"));
    CHECK(std::count(text.begin(), text.end(), '\n') == 3);
    // Not on the page, which omits so large a matrix.
    CHECK(test::contains(text,
                         "the full matrix of 256 classes is in --json, and in confusion.png of --report\n"));
}

TEST_CASE("stages show rates and the share of their closest limit") {
    const Sample sample;
    const std::string text = timing_text(sample.evaluation);
    CHECK(test::contains(text, "50 % of link\n"));        // 2 of 4 GB/s
    CHECK(test::contains(text, "50 % of arithmetic\n"));  // 4 of 8 GFLOP/s, 2 of 20 GB/s
    CHECK(test::contains(text, "\n  sort              3      1.00"));
    CHECK(test::contains(text, "\n  kernels                  3.00"));

    Evaluation on_tensor_cores = sample.evaluation;
    on_tensor_cores.found.plan.device.peak_gflop_per_s =
        2;  // of float32, which is not what the stage computes with
    const std::string other = timing_text(on_tensor_cores);
    CHECK(!test::contains(other, "of arithmetic"));
    CHECK(test::contains(other, "10 % of memory\n"));
}

TEST_CASE("a file's name of any bytes comes back from its name in a report") {
    CHECK(report_path("/data/caf\u00e9, 1") == "/data/caf\u00e9, 1");
    CHECK(report_path("100%/caf\xe9") == "100%25/caf%E9");
    CHECK(report_path("a\nb\u202e\xc2\x9b\x7f") ==
          "a%0Ab%E2%80%AE%C2%9B%7F");  // in any program that shows it
    CHECK(path_in_report("50%/%zz/%4/%2B1") == "50%/%zz/%4/+1");
    std::string all;
    for (int byte = 255; byte > 0; --byte)
        all += static_cast<char>(byte);
    CHECK(path_in_report(report_path(all)) == all);
}

TEST_CASE("JSON is ASCII, which a terminal shows as it is") {
    const std::string text = "caf\u00e9 \u202e\xc2\x9b\x7f \U000e0041";
    const std::string written = json_text({{"problem", text}});
    CHECK(std::ranges::all_of(written, [](char c) { return c == '\n' || (c >= ' ' && c < 0x7f); }));
    CHECK(nlohmann::json::parse(written)["problem"] == text);
    CHECK(json_text({{"a", "\xff"}}) == "{\n  \"a\": \"\\ufffd\"\n}\n");  // no UTF-8
}

TEST_CASE("long text is broken at blanks and slashes, and where there are none anywhere") {
    const auto lines = [](std::string_view text) {
        return wrapped(text, [](const std::string& line) { return line.size() <= 10; });
    };
    using Lines = std::vector<std::string>;
    CHECK(lines("") == Lines{""});
    CHECK(lines("long name of a file.png") == Lines{"long name", "of a", "file.png"});
    CHECK(lines("folders/name.png") == Lines{"folders/", "name.png"});
    CHECK(lines("a/bcdefghijklmno") == Lines{"a/bcdefghi", "jklmno"});
    CHECK(wrapped("ab", [](const std::string&) { return false; }) == Lines{"a", "b"});
}

TEST_CASE("harmless text is UTF-8 on one line without control characters") {
    CHECK(harmless("plain, \u00e9\u20ac\U0001f600~") == "plain, \u00e9\u20ac\U0001f600~");
    CHECK(harmless("\x1b[1m\n\t\x7f") == "?[1m???");
    CHECK(harmless("\xc2\x9b") == "?");  // a control character of two bytes
    CHECK(harmless("a\u202egnp.exe\u2069 \u200b\u2028\ufeff") == "a?gnp.exe? ???");  // turn the order
    // Neither a filler of Hangul, nor a selector of variations, nor a mark of notes shows anything.
    CHECK(harmless("\u3164\ufe0f\U0001d173\U000e0041\u2800\u034f\u115f\uffa0") == "????????");
    CHECK(harmless("\u3163\u3165\ufe10\U0001d172\u2801\u0350") == "\u3163\u3165\ufe10\U0001d172\u2801\u0350");
    CHECK(harmless("a\xff\xfez") == "a??z");                       // no UTF-8 at all
    CHECK(harmless("\xe2\x82") == "??");                           // cut short
    CHECK(harmless("\xc0\xaf\xe0\x80\xaf") == "?????");            // longer than needed
    CHECK(harmless("\xed\xa0\x80\xf4\x90\x80\x80") == "???????");  // half a pair, beyond the last
}

TEST_CASE("tables align characters, whatever their bytes") {
    Table table({Align::left, Align::right});
    table.add({"\u00e9\u20ac", "1"});
    table.add({"abc", "\u00b5s"});
    CHECK(table.text(0) == "\u00e9\u20ac    1\nabc  \u00b5s\n");
}

TEST_CASE("numbers as text") {
    CHECK(fixed(1.005, 1) == "1.0");
    CHECK(fixed(-0.5, 2) == "-0.50");
    CHECK(short_number(0) == "0");
    CHECK(short_number(0.01234) == "0.0123");
    CHECK(short_number(1.234) == "1.23");
    CHECK(short_number(12.34) == "12.3");
    CHECK(short_number(123456.7) == "123457");
    CHECK(percent(0.96875) == "96.88 %");
    for (const auto& [share, digits, text] : {std::tuple(1.0, 0, "100 %"),
                                              {0.994, 0, "99 %"},
                                              {0.9951, 0, "99.5 %"},
                                              {0.99949, 0, "99.9 %"},
                                              {0.9996, 0, "> 99.9 %"},
                                              {0.999999, 1, "> 99.9 %"},
                                              {0.999999, 2, "> 99.99 %"},
                                              {1.02, 0, "102 %"}})
        CHECK(percent(share, digits) == text);
    CHECK(short_percent(0.97) == "97%");
    CHECK(short_percent(0.999999) == ">99.9%");
    CHECK(gibibytes(std::int64_t{3} << 29) == "1.5 GiB");
}

TEST_CASE("the progress line") {
    CHECK(duration(0.2) == "1 s");
    CHECK(duration(59.5) == "1 min 0 s");
    CHECK(duration(3700) == "1 h 1 min");
    CHECK(progress_line(0, 100, 1, 80) == "searching  [" + std::string(40, '.') + "]    0 %");
    CHECK(progress_line(50, 100, 3, 80) ==
          "searching  [" + std::string(20, '#') + std::string(20, '.') + "]   50 %  3 s left");
    for (const int width : {1, 5, 20, 40, 60, 79, 200})
        CHECK(progress_line(1, 1'000'000, 1, width).size() < static_cast<std::size_t>(width));
    CHECK(test::contains(progress_line(5, 0, 1, 80), "0 %"));
}

TEST_CASE("distances of integers are integers in files") {
    for (const Metric metric : {Metric::l2, Metric::l1})
        for (const std::uint32_t score : {0u, 1u, 50'979'600u, 4'294'967'295u}) {
            CHECK(distance_number({metric, 2}, score) == score);
            CHECK(shortest(distance_number({metric, 2}, score)) == std::to_string(score));
        }
}

TEST_CASE("distances of cosine and pearson are their floats") {
    for (const float value : {0.0f, 0.1f, 1.0f, 1.9999999f, 3e-9f})
        CHECK(static_cast<float>(distance_number({Metric::cosine, 2}, std::bit_cast<std::uint32_t>(value))) ==
              value);
    CHECK(shortest(distance_number({Metric::pearson, 2}, std::bit_cast<std::uint32_t>(0.1f))) == "0.1");
}

TEST_CASE("Minkowski distances have the fewest digits that identify the score") {
    std::mt19937 random(7);
    for (const double p : {0.1, 0.5, 2.0, 3.0, 15.0}) {
        const Measure measure{Metric::lp, p};
        CHECK(distance_number(measure, 0) == 0);
        std::uniform_real_distribution<float> sum(1e-4f, 66'051);
        std::size_t most = 0;
        for (int i = 0; i < 300; ++i) {
            const auto score = std::bit_cast<std::uint32_t>(i == 0 ? 66'051.0f : i == 1 ? 1.0f : sum(random));
            const double distance = distance_number(measure, score);
            CAPTURE(p);
            CAPTURE(distance);
            REQUIRE(std::isfinite(distance));
            // The order of scores is the order of the numbers, and the score can be read back.
            CHECK(distance_number(measure, score - 1) < distance);
            CHECK(distance < distance_number(measure, score + 1));
            CHECK(std::bit_cast<std::uint32_t>(static_cast<float>(std::pow(distance / 255, p))) == score);
            std::size_t digits = 0;
            const std::string text = shortest(distance);
            for (const char c : text.substr(0, text.find('e')))
                digits += c != '.' ? 1u : 0u;
            if (distance < 1e9) most = std::max(most, digits);
        }
        CHECK(most <= (p > 1 ? 10 : 9));
    }
    CHECK(shortest(distance_number({Metric::lp, 3}, std::bit_cast<std::uint32_t>(1.0f))) == "255");
}

TEST_CASE("info: links between GPUs, one row if all are alike") {
    Inventory inventory;
    CHECK(!test::contains(inventory_text(inventory), "links between GPUs"));
    CHECK(!nlohmann::json::parse(inventory_json(inventory)).contains("links"));

    inventory.links = {{0, 1, true, true, 0}, {0, 2, true, true, 0}, {1, 2, true, true, 0}};
    CHECK(
        test::contains(inventory_text(inventory), "all 3 pairs  peer access by NVLink, performance rank 0"));

    inventory.links[1] = {0, 2, true, false, 1};
    inventory.links[2] = {1, 2, false, false, 0};
    const std::string text = inventory_text(inventory);
    CHECK(test::contains(text, "gpu:0,1  peer access by NVLink, performance rank 0"));
    CHECK(test::contains(text, "gpu:0,2  peer access by PCI Express, performance rank 1"));
    CHECK(test::contains(text, "gpu:1,2  no peer access: copies go through host memory"));
    const auto links = nlohmann::json::parse(inventory_json(inventory))["links"];
    REQUIRE(links.size() == 3);
    CHECK(links[1] == nlohmann::json::parse(R"({"from": 0, "to": 2, "direct": true, "native_atomics": false,
                                               "performance_rank": 1})"));
}

TEST_CASE("info: versions of MPI and NCCL, or why there is none") {
    Inventory inventory;
    inventory.why_no_mpi = "this build has no MPI";
    inventory.nccl = "2.28.3";
    const std::string text = inventory_text(inventory);
    CHECK(test::contains(text, "none: this build has no MPI"));
    CHECK(test::contains(text, "2.28.3; not used"));
    const auto libraries = nlohmann::json::parse(inventory_json(inventory))["libraries"];
    CHECK(libraries[0]["missing"] == "this build has no MPI");
    CHECK(libraries[1]["version"] == "2.28.3");
    CHECK(!libraries[1].contains("missing"));
}
