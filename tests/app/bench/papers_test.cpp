/// The tables of papers: what they name, and what they show of measurements. The runs: tests/cli/bench_test.cpp.

#include "app/bench/papers.h"
#include "tests/support/test.h"

namespace knn {

namespace {

using Cells = std::vector<std::string>;

/// Of 100 queries.
Measurement timed(const std::string& name, const std::string& part, std::int64_t n_query, double ms,
                  const Problem& problem) {
    Measurement one;
    one.experiment = "compare 5.2";
    one.name = name;
    one.part = part;
    one.on = name == serial_distances || name == "serial_sort" ? one_cpu_thread : "gpu:0";
    one.problem = problem;
    one.n_query = n_query;
    one.ms = {ms};
    return one;
}

/// A report with measurements of two problems, and a study of both.
struct Shown {
    const Problem small{200, 100, 8, 5}, large{400, 100, 8, 5};
    BenchReport report;
    PaperStudy study{"size"};

    Shown() { study.sizes = {{"case 1", 1, "5.2", small, "plain"}, {"case 2", 2, "5.2", large, "tiles"}}; }
    void have(const std::string& name, const std::string& part, std::int64_t n_query, double ms, int k = 5) {
        for (const Problem& of : {small, large}) {
            report.measurements.push_back(timed(name, part, n_query, of.n_train == 200 ? ms : 2 * ms, of));
            report.measurements.back().problem.k = k;
        }
    }
    /// The only table, with these columns.
    const BenchTable& with(const std::vector<PaperColumn>& columns) {
        add_table(report, study, {"title", columns, {"a note"}, "ms"});
        return report.tables.back();
    }
};

std::vector<Paper> all_papers() {
    const Workload work(100, 20, 784, 10, 1);
    return {nolan_paper(), komarov_paper(), singh_paper(), garrett_paper(work, 5), zhu_paper()};
}

/// Calls `visit` for every column of every study of every paper.
template <class Visit>
void for_each_column(const Visit& visit) {
    for (const Paper& paper : all_papers())
        for (const PaperStudy& study : paper.studies)
            for (const PaperTable& table : study.tables)
                for (const PaperColumn& column : table.columns) {
                    CAPTURE(table.title);
                    CAPTURE(column.heading);
                    visit(study, table, column);
                }
}

}  // namespace

TEST_CASE("a way is the sum of its parts, at the sizes of its row") {
    Shown shown;
    shown.have("plain", "distance", 100, 2);
    shown.have("tiles", "distance", 100, 1);
    shown.have("sort", "select", 100, 3);
    shown.have("sort", "select", 100, 30, 7);
    const BenchTable& table = shown.with({{PaperColumn::size, "train", "train"},
                                          {PaperColumn::time, "#", "#"},
                                          {PaperColumn::time, "both", "plain + sort", "", 0, true},
                                          {PaperColumn::time, "k = 7", "plain + sort", "", 7},
                                          {PaperColumn::per_query, "us", "+ sort"},
                                          {PaperColumn::ratio, "ratio", "+ sort", "tiles"},
                                          {PaperColumn::of_row, "above", "plain"},
                                          {PaperColumn::of_row, "named", "plain", "case 2"},
                                          {PaperColumn::time, "other", "missing"},
                                          {PaperColumn::time, "paper", "=seed 002, A.1|speed-up"},
                                          {PaperColumn::time, "none", "=seed 002, A.1|nothing"}});
    CHECK(table.columns.at(0) == "size");
    CHECK(table.rows.at(0) == Cells{"case 1", "200", "2.00", "5.00", "32.0", "30.0", "3.00x", "", "0.500x",
                                    "not run", "8.21x", "not stated"});
    CHECK(table.rows.at(1) == Cells{"case 2", "400", "2.00", "10.0", "64.0", "60.0", "3.00x", "2.00x",
                                    "1.00x", "not run", "8.75x", "not stated"});
    CHECK(table.notes == Cells{"a note"});
    const Panel& panel = shown.report.panels.at(0);
    REQUIRE(panel.lines.size() == 1);
    CHECK(panel.lines[0].name == "both");
    CHECK(panel.lines[0].points.at(1).y == doctest::Approx(10));
}

TEST_CASE("what a paper states is compared in the unit of our times") {
    Shown shown;
    shown.have("plain", "distance", 100, 14.53);
    // 0.014530 s and 0.119266 s
    const BenchTable& table =
        shown.with({{PaperColumn::ratio, "paper / here", "=seed 002, A.1|GPU total", "plain"},
                    {PaperColumn::ratio, "paper", "=seed 002, A.1|CPU total", "=seed 002, A.1|GPU total"}});
    CHECK(table.rows.at(0) == Cells{"case 1", "1.00x", "8.21x"});
}

TEST_CASE("memory, labels and stages of a run") {
    Shown shown;
    shown.have("plain", "distance", 50, 1);
    shown.have("final", "search", 50, 1);
    for (Measurement& one : shown.report.measurements) {
        one.peak_bytes = 3'000'000;
        one.right = 48;
        one.stages.add({.name = "upload", .total_ms = 2});
        one.stages.add({.name = "sort", .total_ms = 7});
    }
    for (PaperSize& row : shown.study.sizes)
        row.kernel = "upload download";
    const BenchTable& table = shown.with({{PaperColumn::memory, "MB", "plain"},
                                          {PaperColumn::right, "right", "final"},
                                          {PaperColumn::stage, "transfer", "final"},
                                          {PaperColumn::time, "paper", "=seed 002, A.1|speed-up"}});
    CHECK(table.rows.at(0) == Cells{"case 1", "3.00", "48 of 50", "4.00 *", "8.21x"});
}

TEST_CASE("a time of fewer queries is multiplied, or stays alone and is not compared") {
    const std::vector<PaperColumn> columns = {{PaperColumn::time, "part", "part", "", 0, true},
                                              {PaperColumn::time, "serial", "serial", "", 0, true},
                                              {PaperColumn::ratio, "part / whole", "part", "whole"},
                                              {PaperColumn::ratio, "serial / whole", "serial", "whole"}};
    for (const bool multiplies : {false, true}) {
        Shown shown;
        shown.study.multiplies = multiplies;
        shown.have("part", "distance", 16, 8);
        shown.have("serial", "distance", 10, 5);
        shown.have("whole", "distance", 100, 1);
        const BenchTable& table = shown.with(columns);
        CHECK(table.rows.at(0) == (multiplies ? Cells{"case 1", "50.0 *", "50.0 *", "50.0x", "50.0x"}
                                              : Cells{"case 1", "8.00 [16]", "5.00 [10]", "", "50.0x"}));
        REQUIRE(table.notes.size() == 2);
        CHECK(table.notes[0].starts_with(multiplies ? "*: " : "[n]: "));
        const Panel& panel = shown.report.panels.at(0);
        CHECK(panel.lines.size() == (multiplies ? 2 : 1));
        CHECK(panel.lines.back().name == "serial");
        CHECK(panel.lines.back().points.at(0).hollow);
        CHECK(panel.lines.back().points.at(0).y == doctest::Approx(50));  // of all 100
        CHECK(panel.notes.size() == (multiplies ? 1 : 2));
        if (!multiplies)
            CHECK(panel.notes[1] == "not drawn, timed on fewer queries: part at case 1; part at case 2.");
    }
}

TEST_CASE("wrong answers have no time, and nothing measured is no table") {
    Shown shown;
    shown.have("plain", "distance", 100, 2);
    shown.report.measurements[0].wrong = "query 3";
    CHECK(shown.with({{PaperColumn::time, "a", "plain"}}).rows.at(0) == Cells{"case 1", "WRONG"});
    Shown empty;
    add_table(empty.report, empty.study, {"Fig. 4: rows", {{PaperColumn::time, "a", "plain", "", 0, true}}});
    CHECK(empty.report.tables.empty());
    CHECK(empty.report.panels.empty());
    REQUIRE(empty.report.left_out.size() == 1);
    CHECK(empty.report.left_out[0].name == "Fig. 4");
    // What the paper states is shown, but not drawn without ours.
    empty.with({{PaperColumn::time, "a", "plain", "", 0, true},
                {PaperColumn::time, "paper", "=seed 002, A.1|speed-up", "", 0, true}});
    CHECK(empty.report.tables.size() == 1);
    CHECK(empty.report.panels.empty());
}

TEST_CASE("rows of papers are problems that can be searched, and have one place in the report") {
    for (const Paper& paper : all_papers()) {
        std::set<std::string> titles;
        CHECK(!quotes_of(paper.source).empty());
        for (const PaperStudy& study : paper.studies) {
            CHECK(study.share <= 0.5);
            for (const PaperTable& table : study.tables)
                CHECK(titles.insert(table.title).second);
            std::set<std::string> labels;
            for (const PaperSize& row : study.sizes) {
                CAPTURE(row.label);
                CHECK(!refuse_problem(row.problem));
                CHECK(!row.figure.empty());
                CHECK(labels.insert(row.label).second);
            }
        }
    }
}

TEST_CASE("what a column quotes is in figures.csv, unless the text has no such values") {
    for_each_column([](const PaperStudy& study, const PaperTable& table, const PaperColumn& column) {
        for (const std::string& way : {column.way, column.other}) {
            if (!way.starts_with('=')) continue;
            const std::size_t bar = way.find('|');
            REQUIRE(bar != std::string::npos);
            const std::string source = way.substr(1, bar - 1);
            bool found = false;
            for (const PaperSize& row : study.sizes)
                found = found || find_figure(source, row.label, way.substr(bar + 1)) != nullptr;
            const bool has_none = source.starts_with("seed 000, Figure") ||
                                  source.starts_with("seed 001, Fig.") || source == "seed 003, 3";
            CHECK(found != has_none);
        }
        CHECK((column.drawn ? !table.y_label.empty() : true));
    });
}

TEST_CASE("every figure of the tables of seeds 002 and 004 that compares is shown") {
    std::set<std::string> shown;
    for_each_column([&](const PaperStudy& study, const PaperTable&, const PaperColumn& column) {
        for (const std::string& way : {column.way, column.other})
            for (const PaperSize& row : study.sizes)
                if (way.starts_with('=')) shown.insert(way + '|' + row.label);
    });
    for (const Figure& one : paper_figures()) {
        const bool compares = one.source.starts_with("seed 004, Table") || one.column.ends_with("total") ||
                              (one.source.starts_with("seed 002, A.") && one.column == "speed-up");
        const bool first_tables = one.column == "speed up";  // the ratio of their two times
        CAPTURE(one.source);
        CAPTURE(one.column);
        if (compares && !first_tables)
            CHECK(shown.contains("=" + one.source + '|' + one.column + '|' + one.row));
    }
}

TEST_CASE("the published algorithms are measured beside the published figures") {
    std::set<std::string> names;
    for_each_column([&](const PaperStudy& study, const PaperTable&, const PaperColumn& column) {
        for (const std::string& way : {column.way, column.other})
            for (const std::string& word : words_of(way.starts_with('=') ? "" : way)) {
                if (word != "#") names.insert(word);
                for (const PaperSize& row : study.sizes)
                    if (word == "#") names.insert(row.kernel);
            }
    });
    for (const char* name : {"bitonic_step", "bitonic_blocks", "insertion_columns", "k_pass_thread",
                             "replace_max_thread", "bitonic_topk_plain", "radix_kth_row", "bucket_kth_row",
                             "heap", "merge_sort", "comb_sort", "previous", "allocated_once", "final"}) {
        CAPTURE(name);
        CHECK(names.contains(name));
    }
    for (const Program& program : programs)
        CHECK(names.contains(program.name));
}

}  // namespace knn
