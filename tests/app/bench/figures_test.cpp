#include "app/bench/report.h"

#include "app/bench/run.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;

namespace knn {

TEST_CASE("every figure of a paper has a source and is a number") {
    std::set<std::string> places;
    for (const Figure& one : paper_figures()) {
        CAPTURE(one.source);
        CAPTURE(one.text);
        CHECK(one.source.starts_with("seed 00"));
        CHECK(test::contains(one.source, ", "));  // and the section or table
        CHECK(one.value() > 0);
        CHECK(places.insert(one.source + '|' + one.row + '|' + one.column).second);  // once
        CHECK(find_figure(one.source, one.row, one.column) == &one);
    }
    const auto in = [&](const char* source) { return quotes_of(source).size(); };
    CHECK(in("seed 002, A.") == 2 * 9 * 7);
    CHECK(in("seed 004, Table") == 85);
    // What the texts say beside their tables.
    CHECK(in("seed 000") == 10);
    CHECK(in("seed 001") == 7);
    CHECK(in("seed 002") == 2 * 9 * 7 + 6);
    CHECK(in("seed 003") == 21);
    CHECK(in("seed 004") == 85 + 2);
}

namespace {

/// Whether this number is in the text, and not a part of another one.
bool has_number(const std::string& text, const std::string& number) {
    const auto is_digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
    for (std::size_t at = text.find(number); at != std::string::npos; at = text.find(number, at + 1)) {
        const std::size_t end = at + number.size();
        const bool begins = at == 0 || (!is_digit(at - 1) && text[at - 1] != '.');
        if (begins && !is_digit(end) && !(end < text.size() && text[end] == '.' && is_digit(end + 1)))
            return true;
    }
    return false;
}

Measurement measured(const std::string& on, std::int64_t n_query, double ms) {
    Measurement one;
    one.on = on;
    one.problem.n_query = 100;
    one.n_query = n_query;
    one.ms = {ms};
    return one;
}

}  // namespace

TEST_CASE("every figure is in the text of its seed") {
    if (test::seeds_folder().empty()) return test::skip("no texts of the seeds: set MNIST_KNN_SEEDS");
    std::map<std::string, std::string> texts;
    for (const auto& entry : fs::directory_iterator(test::seeds_folder()))
        texts["seed " + entry.path().filename().string().substr(0, 3)] = test::read_file(entry.path());
    for (const Figure& one : paper_figures()) {
        const std::size_t comma = one.source.find(", ");
        const std::string& text = texts[one.source.substr(0, comma)];
        const std::string section = one.source.substr(comma + 2);
        CAPTURE(one.source);
        CAPTURE(one.text);
        CHECK(has_number(text, one.text));
        CHECK(test::contains(text, section.substr(0, section.find(','))));
    }
}

TEST_CASE("what a paper does not state is not made up") {
    CHECK(find_figure("seed 000, 5", "Figure 5.1", "time") == nullptr);
    CHECK(quotes_of("seed 000, Figure").empty());
    CHECK(quotes_of("seed 001, Fig").empty());
}

TEST_CASE("the README says which report each seed is, and the title of its case names the authors") {
    const struct {
        const char *which, *authors, *seed;
    } cases[] = {{"nolan", "Nolan", "000"},
                 {"komarov", "Komarov, Dashti and D'Souza", "001"},
                 {"singh", "Singh", "002"},
                 {"garrett", "Garrett, Luo and Lu", "003"},
                 {"zhu", "Zhu", "004"}};
    const std::string readme = test::read_file(MNIST_KNN_SOURCE "/README.md");
    const std::string references = readme.substr(readme.find("## References"));
    for (const auto& one : cases) {
        const std::string seed = std::string("eed ") + one.seed, authors = one.authors;
        CAPTURE(seed);
        CHECK(std::string(find_case(one.which)->summary).starts_with(authors + " (s" + seed + ")"));
        const std::size_t at = references.find("- S" + seed + ": ");
        REQUIRE(at != std::string::npos);
        const std::string item = references.substr(at, references.find("\n-", at + 1) - at);
        CHECK(test::contains(item, authors.substr(0, authors.find(','))));
    }
}

TEST_CASE("figures that a reader knows") {
    const auto stated = [](const char* source, const char* row, const char* column) {
        const Figure* found = find_figure(source, row, column);
        return found != nullptr ? found->text : "not stated";
    };
    CHECK(stated("seed 002, A.1", "case 1", "speed-up") == "8.21");
    CHECK(stated("seed 002, A.2", "case 8", "speed-up") == "74.48");
    CHECK(stated("seed 003, 4.1, final version", "distance calculation", "total") == "19500");
    CHECK(stated("seed 004, Table 5", "block size 16", "time of distances computing") == "27449.7461");
    CHECK(stated("seed 003, 4.1", "previous version", "execution time") == "37.21");
    CHECK(stated("seed 003, 4.1", "final version", "correct") == "9688");
    CHECK(stated("seed 000, 2.4.3", "Garcia et al.", "times as fast as serial kd-trees") == "40");
}

TEST_CASE("each speed-up of seed 002 is its CPU time over its GPU time") {
    for (const char* system : {"seed 002, A.1", "seed 002, A.2"})
        for (int number = 1; number <= 9; ++number) {
            const std::string name = "case " + std::to_string(number);
            const auto value = [&](const char* column) { return find_figure(system, name, column)->value(); };
            CAPTURE(name);
            CHECK(value("CPU total") / value("GPU total") ==
                  doctest::Approx(value("speed-up")).epsilon(0.005));
        }
}

TEST_CASE("figures of papers occur only in the table") {
    std::vector<std::string> telling;  // too long to turn up by chance
    for (const Figure& one : paper_figures())
        if (one.text.size() >= 6) telling.push_back(one.text);
    CHECK(telling.size() > 100);
    const std::set<std::string> sources = {".cpp", ".h", ".cu", ".cuh"};
    for (const char* folder : {"app", "cpu", "data", "gpu"})
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(MNIST_KNN_SOURCE) / folder)) {
            if (!sources.contains(entry.path().extension())) continue;
            const std::string text = test::read_file(entry.path());
            for (const std::string& figure : telling) {
                CAPTURE(figure);
                CHECK(!test::contains(text, figure));
            }
        }
}

TEST_CASE("cells of one column stand for the same number of queries") {
    Measurement whole = measured("gpu:0", 100, 2), part = measured("gpu:0", 40, 2);
    whole.name = "whole";
    part.name = "part";
    part.ms = {4, 1, 2};
    CHECK(part.partial());
    CHECK(part.ms_of_all() == doctest::Approx(5));
    BenchReport report;
    Section section(report, "engines (all)", "engine", {"more"});
    section.add(whole, {"a"});
    section.add(part, {"b"});
    section.finish({"a note"});
    const BenchTable& table = report.tables.at(0);
    using Cells = std::vector<std::string>;
    CHECK(table.columns == Cells{"engine", "queries", "ms", "min to max", "us/query", "GB/s", "GFLOP/s",
                                 "of the limit", "more"});
    CHECK(table.rows.at(0) == Cells{"whole", "100", "2.00", "2.00 to 2.00", "20.0", "", "", "", "a"});
    CHECK(table.rows.at(1) == Cells{"part", "40 *", "5.00 *", "2.50 to 10.0 *", "50.0", "", "", "", "b"});
    REQUIRE(table.notes.size() == 2);
    CHECK(table.notes[1] ==
          "*: timed on fewer than all queries, limited by time (--seconds gives more) or memory; times are "
          "multiplied.");
    REQUIRE(report.panels.at(0).bars.size() == 2);
    CHECK(report.panels[0].bars[0].name == "whole");
    CHECK(report.panels[0].bars[1].name == "part *");
    CHECK(report.panels[0].notes.size() == 1);
}

TEST_CASE("a section without a partial row has no mark, and one without a row is no table") {
    BenchReport report;
    Section(report, "nothing", "engine").finish({"a note"});
    CHECK(report.tables.empty());
    Section section(report, "images", "transform", {}, of_images);
    Measurement wrong = measured("cpu", 100, 2), refused;
    wrong.wrong = "image 3";
    section.add(measured("cpu", 100, 2));
    section.add(wrong);
    section.add(refused);
    section.finish();
    CHECK(report.tables.at(0).columns[4] == "us/image");
    CHECK(report.tables[0].notes.empty());
    CHECK(report.tables[0].rows.at(1)[2] == "WRONG");
    CHECK(report.tables[0].rows.at(2)[2] == "not run");
    CHECK(report.panels.at(0).bars.size() == 1);
}

TEST_CASE("a table with extrapolated times says so") {
    BenchReport report;
    BenchTable table;
    table.notes = {"first"};
    table.rows = {{"name", ms_cell(measured("gpu:0", 100, 2))}};
    add_marked(report, table);
    table.rows.push_back({"other", ms_cell(measured("gpu:0", 40, 2))});
    CHECK(table.rows[1][1] == "5.00 *");
    add_marked(report, table);
    CHECK(report.tables[0].notes.size() == 1);
    REQUIRE(report.tables[1].notes.size() == 2);
    CHECK(report.tables[1].notes[0].starts_with("*: "));
}

}  // namespace knn
