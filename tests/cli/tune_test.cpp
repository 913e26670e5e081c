/// `tune` as a user runs it: its files, its method read back, and bad input.

#include "tests/cli/program.h"
#include "tests/support/idx_bytes.h"

using namespace knn::test;

/// The errors of every configuration against plain loops: tests/classifier/tune_test.cpp.
TEST_CASE("tune: every configuration in all forms, without a test set") {
    const Work work({.train = 60, .test = 0});
    const std::string text = silent_output(work.run(
        "tune --k 1-9 --transform raw --transform pca:3 --json t.json --csv t.csv --plot t.svg --save best"));
    const json report = work.json_of("t.json");
    CHECK(report["schema"] == "mnist-knn/tune/1");
    CHECK(report["data"]["count"] == 60);
    const json& all = report["configurations"];
    REQUIRE(all.size() == 2 * 6 * 9);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const json& one = all[i];
        if (i > 0) CHECK(all[i - 1]["errors"] <= one["errors"]);
        CHECK(one["error_low"] <= one["error"]);
        CHECK(one["error_high"] >= one["error"]);
        CHECK(one["as_good_as_best"] == (one["p_value"] >= 0.05));
    }
    CHECK(all[0]["p_value"] == 1);

    const auto rows = csv_rows(work.file("t.csv"));
    REQUIRE(rows.size() == 1 + all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(std::stoi(rows[1 + i][0]) == all[i]["errors"]);
        CHECK(rows[1 + i][6] == '"' + all[i]["transform"].get<std::string>() + '"');
        CHECK(rows[1 + i][12] == std::to_string(all[i]["k"].get<int>()));
    }
    check_contains(
        text, {"60 training images of 5 x 3, 3 classes", "searches  raw, l2: the nearest 59",
               "108 configurations, k = 1 to 9", "as good as the best", " more (--limit, --csv)", "best: "});
    check_contains(work.file("t.svg"), {"Errors over k", "pca:3, l2", "majority, tie nearest", "class-mean"});
    CHECK(work.file("best").starts_with("mnist-knn method 1\n# chosen by 'mnist-knn tune': " +
                                        std::to_string(all[0]["errors"].get<int>()) + " errors"));
}

TEST_CASE("tune: what --save wrote is a method for every command") {
    const Work work({.train = 60, .levels = 200});
    const Words same = "--metric lp --p 3 --weights distance --tie nearest -k 4";
    work.output("tune --vote majority --save m" + same);
    work.output("evaluate --method m --predictions m.csv --json m.json");
    work.output("evaluate --predictions o.csv" + same);
    CHECK(work.file("m.csv") == work.file("o.csv"));
    const json settings = work.json_of("m.json")["settings"];
    CHECK(settings["metric"] == "lp");
    CHECK(settings["p"] == 3);
    CHECK(settings["tie"] == "nearest");
    CHECK(work.report("evaluate --method ./m -k 2")["settings"]["k"] == 2);
    const json searches = work.report("tune --method m -k 4 --vote majority")["searches"];
    REQUIRE(searches.size() == 1);
    CHECK(searches[0]["p"] == 3);

    // A re-ranker with parameters of its own, which are tried once each.
    const std::string spread = "--rerank spread:9:deviation:plus:0.25 ", three = "--rerank spread:3 ";
    check_contains(work.output("tune -k 1-8 --json t.json --rerank none " + three + spread + three),
                   {"spread:9:deviation:plus:0.25 of 96 candidates"});
    REQUIRE(work.json_of("t.json")["searches"].size() == 3);
    CHECK(work.json_of("t.json")["searches"][2]["rerank"] == "spread:9:deviation:plus:0.25");
    work.output("tune -k 3 --save s " + spread);
    CHECK(contains(work.file("s"), "\nrerank spread:9:deviation:plus:0.25\n"));
    for (const Words words :
         {"graph --method m -k 3", "view --method m --text", "evaluate --method s", "audit --method s",
          "condense --method s --out small --rule both", "view --method s --text", "tune --method s -k 1-3"})
        work.output(words);

    write(work.folder / "bad", "mnist-knn method 1\nk five\n");
    write(work.folder / "large", std::string("mnist-knn method 1\n").append(70000, '#'));
    for (const auto& [name, part] :
         {std::pair("bad", "bad: line 2: k 'five' is not allowed; expected 1 to 16384"),
          {"none.txt", "none.txt: no such file"},
          {".", ".: is a folder"},
          {"large", "is larger than 65,536 bytes"}})
        check_error(work.run("evaluate --method" + Words(name)), 1, part);
    check_error(work.run("evaluate --method gradiants"), 2, "did you mean gradients?");
}

TEST_CASE_FIXTURE(Work, "tune: a re-ranker's candidates bound k, and every combination is searched once") {
    const json report = this->report(
        "tune --method raw --method accurate --transform raw --metric l2 --metric l1 --candidates 12");
    CHECK(report["searches"].size() == 4);
    int most = 0;
    for (const json& one : report["configurations"])
        most = std::max(most, one["k"].get<int>());
    CHECK(most == 12);
    CHECK(this->report("tune --method raw --transform raw --rerank none --method raw")["searches"].size() ==
          1);
    const RunResult both = run("tune --vote class-mean --metric cosine --metric l2 -k 1-3");
    CHECK(both.exit_code == 0);
    CHECK(contains(both.err,
                   "--vote class-mean: left out, because their distances are not integers: raw, cosine"));
}

TEST_CASE("tune: candidates are named where they count") {
    const Work work({.train = 120, .test = 0});
    const std::string majority = work.output("tune --candidates 20 -k 3 --limit 1");
    for (const std::string& line : lines_of(majority))
        if (line.starts_with("best: ")) CHECK(contains(line, "--candidates") == contains(line, "class-mean"));
    work.output("tune -q --vote class-mean -k 97 --csv t.csv --json t.json");
    CHECK(csv_rows(work.file("t.csv"))[1][10] == "97");
    CHECK(work.json_of("t.json")["configurations"][0]["candidates"] == 97);
    // More than --candidates may be: only -k says so, and reports of it are read.
    const Work large({.train = 1101, .test = 5});
    CHECK(contains(large.output("tune --vote class-mean -k 1100"), "best: --vote class-mean -k 1100: "));
    CHECK(contains(large.output("tune --vote class-mean -k 90 --candidates 90"), "best: --candidates 90 "));
    large.output("evaluate -q --vote class-mean -k 1100 --report r");
    CHECK(large.json_of("r/report.json")["settings"]["candidates"] == 1100);
    large.output("view --text --from r");
}

TEST_CASE("tune: -k takes numbers and ranges") {
    const Work work({.train = 60, .test = 0});
    const std::string text = work.output("tune --k 9,1,3-5,4 --vote majority --csv t.csv");
    CHECK(contains(text, "20 configurations, k = 1, 3 to 5, 9\n"));
    std::set<std::string> tried;
    for (const auto& row : csv_rows(work.file("t.csv")))
        tried.insert(row[12]);
    CHECK(tried == std::set<std::string>{"k", "1", "3", "4", "5", "9"});
    for (const std::string wrong : {"1,,3", "1,", ",1", "1-", "3-1", "1-2-3", "0,1", "1,16385"})
        check_error(
            work.run("tune -k " + wrong), 2,
            "-k " + wrong + ": no list of numbers; expected numbers and ascending ranges, 1 to 16384, ");
}

TEST_CASE("tune: what is one classifier has one line, and p is explained") {
    const Work work({.train = 60, .test = 0});
    // The nearest neighbor alone: whatever weights and ties are.
    const std::string text = work.output("tune -k 1 --vote majority --json t.json");
    CHECK(work.json_of("t.json")["configurations"].size() == 4);
    CHECK(count_of(text, "\n*") == 2);  // its line, and what the star means
    check_contains(text, {"share a line", "\np: how likely ",
                          "* as good as the best: p >= 0.05; 4 of 4 configurations\n"});
    CHECK(!contains(text, " more (--limit"));

    // Rows in groups, of 42 of which one is wrong with k = 1 alone, of 25 with k = 3 alone: p = 0.0498.
    std::string rows = "x,label\n";
    for (int group = 0; group < 42 + 25; ++group)
        for (const auto& [x, label] :
             group < 42 ? std::vector<std::pair<int, int>>{{18, 0}, {24, 1}, {2, 1}, {8, 1}}
                        : std::vector<std::pair<int, int>>{{12, 1}, {6, 0}, {3, 1}, {15, 1}, {0, 0}, {24, 0}})
            rows += std::to_string(1000 * group + x) + ',' + std::to_string(label) + '\n';
    write(work.folder / "t.csv", rows);
    check_contains(output_of(work.plain("tune --train t.csv -k 1,3 --vote majority --weights uniform")),
                   {"  0.0498  1  majority", "; 2 of 4 configurations"});
}

TEST_CASE("tune: more configurations than fit into the free memory are refused at once") {
    const std::string free = read_file("/proc/meminfo"), name = "MemAvailable:";
    const std::int64_t kilobytes = std::stoll(free.substr(free.find(name) + name.size()));
    const auto n = static_cast<std::uint32_t>(kilobytes / 9);  // 98,304 bits take 12 kB
    const Folder folder;
    write(folder / "rows", idx_header(8, {n, 1, 1}) + std::string(n, '\0'));
    write(folder / "labels", idx_header(8, {n}) + std::string(n / 2, '\1') + std::string(n - n / 2, '\2'));
    check_error(program("tune --train " + (folder / "rows") + " --train-labels " + (folder / "labels") +
                        " --device cpu -k 1-16384"),
                1, "memory: trying 98,304 configurations on ");
}

TEST_CASE("tune: -q and standard output") {
    const Work work({.train = 300, .test = 0, .levels = 2});
    CHECK(lines_of(work.output("tune -q")).size() == 1);
    CHECK(lines_of(work.output("tune --csv -")).size() == 181);
    CHECK(lines_of(work.output("tune --limit 3 --limit-train 50")).size() == 7 + 1 + 4 + 1 + 1 + 5);
}

TEST_CASE("tune: one class, and classes with one image, are noted") {
    const Work two({.classes = {3}, .train = 2, .test = 0});
    const RunResult one_class = two.run("tune");
    CHECK(contains(output_of(one_class), "0.00 %"));
    CHECK(contains(one_class.err, "note: all images have one label"));
    overwrite(two.folder / "train-labels-idx1-ubyte", 8, "\x09");
    const RunResult lonely = two.run("tune");
    CHECK(contains(output_of(lonely), "100.00 %"));
    CHECK(contains(lonely.err, "labels 3, 9: one image each, which is always wrong"));
    const Work three({.classes = {3}, .train = 3, .test = 0});
    overwrite(three.folder / "train-labels-idx1-ubyte", 8, "\x09");
    CHECK(contains(three.run("tune -k 1").err, "label 9: one image, which is always wrong"));
}

TEST_CASE("tune: the named methods' settings are as good as the best on a part of MNIST") {
    if (mnist_folder().empty()) return skip(no_mnist);
    const json report = json::parse(output_of(program(
        "tune --device cpu --limit-train 6000 --method raw --method gradients --method accurate --json -" +
        Words{"--data", mnist_folder()})));
    // Of each search the fewest errors, and those of the settings of the named method.
    struct Named {
        const char *transform, *rerank, *vote;
        int k;
    };
    for (const Named& named :
         {Named{"gradients", "none", "majority", 5}, Named{"gradients", "both", "class-mean", 4}}) {
        json best, chosen;  // the first of the search has the fewest errors
        for (const json& one : report["configurations"]) {
            if (one["transform"] != named.transform || one["rerank"] != named.rerank) continue;
            if (best.is_null()) best = one;
            if (one["vote"] == named.vote && one["k"] == named.k && one["weights"] == "uniform" &&
                one["tie"] == "smallest")
                chosen = one;
        }
        REQUIRE(chosen.is_object());
        CAPTURE(best["errors"].get<int>());
        CAPTURE(chosen["errors"].get<int>());
        // The intervals of a share are wider than what McNemar's test tells apart.
        CHECK(chosen["errors"].get<int>() <= best["errors"].get<int>() * 5 / 4);
        CHECK(chosen["error_low"] <= best["error_high"]);
    }
    // Raw pixels, gradients and re-ranking differ by more than chance.
    CHECK(report["configurations"][0]["rerank"] == "both");
    for (const json& one : report["configurations"])
        if (one["transform"] == "raw") CHECK(one["as_good_as_best"] == false);
}
