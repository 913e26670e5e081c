/// `audit` as a user runs it: the list against plain loops, its files, and planted labels.

#include "tests/cli/program.h"

using namespace knn::test;

namespace {

/// (mean of the label's class) + t over (the smallest other mean) + t, as classifier/audit.h defines it.
struct Ratio {
    double own = 0, other = 0;
    int best = 0;
};

Ratio ratio_of(const SmallSet& set, const Nearest& near, int label, int each) {
    Ratio ratio{.own = 0, .other = 1e300, .best = label};
    for (const int c : set.classes) {
        double sum = 0;
        int count = 0;
        for (const auto& [distance, j] : near)
            if (set.train_labels[j] == c && count < each) sum += static_cast<double>(distance), ++count;
        sum += static_cast<double>((each - count) * near.back().first);
        if (c == label)
            ratio.own = sum / each;
        else if (sum / each < ratio.other)
            ratio.other = sum / each, ratio.best = c;
    }
    if (ratio.own <= ratio.other) ratio.best = label;
    return ratio;
}

const SmallSet usual = {.classes = {0, 7, 255}, .train = 60, .levels = 9};

}  // namespace

TEST_CASE("audit: the order, the suggestions and the probabilities are those of plain loops") {
    SmallSet alone = usual;
    alone.test = 0;
    const Work work(usual), without_test_set(alone);
    const SmallSet& set = work.set;
    const auto near_train = nearest_others(set.train_images);
    double unit = 0;
    for (std::size_t i = 0; i < near_train.size(); ++i) {
        const Ratio one = ratio_of(set, near_train[i], set.train_labels[i], 4);
        unit += 0.01 / set.train * std::min(one.own, one.other);
    }
    for (const std::string of : {"test", "train"}) {
        const bool train = of == "train";
        const auto near = train ? near_train : nearest_rows(set.train_images, set.test_images, set.train);
        const auto& labels = train ? set.train_labels : set.test_labels;
        const auto rows =
            csv_rows((train ? without_test_set : work).output("audit --method raw -k 4 --csv - --of " + of));
        REQUIRE(rows.size() == near.size() + 1);
        CHECK(rows[0] == std::vector<std::string>{"set", "index", "label", "suggested", "probability"});
        double previous = 1e300, slope = 0;
        for (std::size_t r = 1; r < rows.size(); ++r) {
            const auto i = std::stoul(rows[r][1]);
            const Ratio one = ratio_of(set, near[i], labels[i], 4);
            const double evidence = std::log((one.own + unit) / (one.other + unit));
            CHECK(rows[r][0] == of);
            CHECK(rows[r][2] == std::to_string(labels[i]));
            CHECK(rows[r][3] == std::to_string(one.best));
            CHECK(evidence <= previous + 1e-9);
            previous = evidence;
            const double p = std::stod(rows[r][4]);
            if (r == 1) slope = std::log(p / (1 - p)) / evidence;
            CHECK(p == doctest::Approx(1 / (1 + std::exp(-slope * evidence))).epsilon(0.001));
        }
        CHECK(slope >= 0);
    }
}

TEST_CASE("audit: text, JSON, page and sheet have the first ones") {
    const Work work(usual);
    const std::string text =
        work.output("audit --method raw --json a.json --html a.html --csv a.csv --limit 7");
    check_contains(text, {"60 training images", " contradicted by their neighbors, ",
                          "assumes that a label and the one suggested are equally likely beforehand"});
    const auto all = csv_rows(work.output("audit --method raw --csv -"));
    const auto contradicted = std::ranges::count_if(all, [](auto& row) { return row[2] != row[3]; }) - 1;
    REQUIRE(contradicted > 7);
    CHECK(text.ends_with("\n... and " + std::to_string(contradicted - 7) + " more (--limit, --csv)\n"));
    CHECK(!contains(work.output("audit --method raw --limit 60"), "... and "));
    const auto rows = csv_rows(work.file("a.csv"));
    REQUIRE(rows.size() == 8);
    const json report = work.json_of("a.json");
    CHECK(report["schema"] == "mnist-knn/audit/1");
    CHECK(report["images"].size() == 7);
    CHECK(report["images"][0]["neighbors"].size() == 5);
    CHECK(std::to_string(report["images"][3]["index"].get<int>()) == rows[4][1]);
    const json page = page_data(work.file("a.html")), &digits = page["gallery"]["digits"];
    CHECK(contains(page["words"]["held"].get<std::string>(), "; --limit takes more."));
    const Work large({.rows = 250, .cols = 250, .train = 60});  // a page holds 18 of them with 10 neighbors
    large.output("audit --method raw --html a.html --limit 20 -q");
    CHECK(
        contains(page_data(large.file("a.html"))["words"]["held"].get<std::string>(), "; more do not fit."));
    std::filesystem::create_directory_symlink(work.folder.path(), work.folder / "50%");
    silent_output(work.plain("audit -q --device cpu --method raw --data 50% --html b.html"));
    CHECK(page_data(work.file("b.html"))["dataset"]["name"] == "50%");
    REQUIRE(digits.size() == 7);
    CHECK(std::to_string(digits[6]["index"].get<int>()) == rows[7][1]);
    CHECK(digits[0]["neighbors"].size() == 10);
    CHECK(work.output("audit --method raw -q").empty());
    if (!has_opencv) {
        check_error(work.run("audit --method raw --sheet a.png"), 2);
        return skip(no_opencv);
    }
    work.output("audit --method raw --sheet a.png");
    CHECK(png_size(work.file("a.png")).first > 300);
}

TEST_CASE("audit: the neighbors are those of accurate unless a method is given") {
    const Work work({.rows = 28, .cols = 28});
    CHECK(work.report("audit")["settings"]["method"] == "accurate");
    CHECK(work.report("audit --method raw")["settings"]["method"] == "raw");
}

TEST_CASE("audit: unusual sets") {
    const Work one({.classes = {200}, .train = 60});
    check_error(one.run("audit --method raw"), 1,
                ": has one class, 200, which nothing contradicts; expected at least two");
    check_error(one.run("audit --method raw --plant 3"), 2,
                "--plant 3: all labels are the same; expected at least two classes");

    const Work equal({.classes = {0, 255}, .train = 30});  // nothing contradicts anything
    equal.make_all_images_equal();
    const auto rows = csv_rows(equal.output("audit --method raw --csv -"));
    REQUIRE(rows.size() == 31);
    for (std::size_t i = 1; i < rows.size(); ++i) {
        CHECK(rows[i][1] == std::to_string(i - 1));
        CHECK(rows[i][2] == rows[i][3]);
        CHECK(rows[i][4] == "0.500000");
    }

    write(one.folder / "least.csv", "x,label\n5e-324,0\n0,1\n0,0\n0,1\n");  // whose mean is 0
    const auto least = csv_rows(
        silent_output(one.plain("audit --train least.csv -q -k 1 --metric l1 --csv - --device cpu")));
    REQUIRE(least.size() == 5);
    for (std::size_t i = 1; i < least.size(); ++i)
        CHECK(least[i][4] == "0.500000");
}

TEST_CASE("audit: nothing is certain") {
    const Work work({.classes = {0, 1}, .train = 420, .test = 0});
    std::string pixels, labels;
    for (int i = 0; i < 420; ++i) {
        const bool far = i < 20;  // equal images of one class, but for one label
        labels += static_cast<char>(far ? i == 7 : i % 2);
        for (int pixel = 0; pixel < 15; ++pixel) {
            const auto noise =
                static_cast<int>((static_cast<unsigned>(15 * i + pixel + 1) * 2654435761u >> 16) % 9);
            pixels += static_cast<char>(far ? 255 : 100 + 10 * (i % 2) + noise);
        }
    }
    overwrite(work.folder / "train-images-idx3-ubyte", 16, pixels);
    overwrite(work.folder / "train-labels-idx1-ubyte", 8, labels);
    const auto rows = csv_rows(work.output("audit --method raw --csv -"));
    CHECK(rows[1] == std::vector<std::string>{"train", "7", "1", "0", "0.999999"});
    CHECK(rows.back()[4] == "0.000001");
    check_contains(work.output("audit --method raw"), {"> 99.99 %"});
    work.output("audit --method raw -q --html a.html");
    const json audit = page_data(work.file("a.html"))["audit"];
    CHECK(audit["improbable"] == 1);
    CHECK(audit["headline"] == " label that its neighbors contradict");
    work.output("audit --method raw -q --plant 1 --html a.html");
    const json planted = page_data(work.file("a.html"))["audit"];
    CHECK(planted["headline"] == " labels that their neighbors contradict");
    CHECK(planted["planted"] == "1 wrong label, as a test");
}

TEST_CASE("audit --of test keeps what it fits to the training set, as evaluate does") {
    const Work work(usual);
    const auto csv = [&](const std::string& cache) {
        return output_of(work.run("audit --of test --method raw --transform blur --csv -",
                                  {.environment = {{"XDG_CACHE_HOME", cache}}}));
    };
    const std::string cache = work.folder / "cache", plain = csv("/dev/null");
    CHECK(csv(cache) == plain);
    CHECK(std::distance(std::filesystem::directory_iterator(cache + "/mnist-knn"), {}) == 1);
    CHECK(csv(cache) == plain);
}

TEST_CASE("audit: planted labels are the same for a seed") {
    const Work work(usual);
    const auto planted = [&](const std::string& seed) {
        return work.report("audit --method raw --plant 9 --seed " + seed)["planted"];
    };
    CHECK(planted("1").size() == 9);
    CHECK(planted("1") == planted("1"));
    CHECK(planted("1") != planted("2"));
    CHECK(contains(work.output("audit --method raw --plant 9"), "9 wrong labels: "));
}

TEST_CASE("audit: finds planted labels of MNIST") {
    if (mnist_folder().empty()) return skip(no_mnist);
    const std::string text =
        output_of(program("audit --device cpu --method gradients --limit-train 20000 --plant 100" +
                          Words{"--data", mnist_folder()}));
    CAPTURE(text);
    const auto place = text.find(" among the first 150");
    REQUIRE(place != std::string::npos);
    CHECK(std::stoi(text.substr(text.rfind(' ', place - 1))) >= 95);
}
