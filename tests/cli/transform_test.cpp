/// --transform, --rerank and --method, as users give them.

#include "tests/cli/program.h"

using namespace knn::test;

namespace {

/// Images of 11 × 9 pixels.
SmallSet small() {
    return {.rows = 11, .cols = 9, .levels = 5};
}

json settings(const Work& work, const Words& words) {
    return work.report("evaluate" + words)["settings"];
}

}  // namespace

/// Against the oracle's features: tests/cpu/transform/search_test.cpp.
TEST_CASE("transform: the serial search and graph have the neighbors of evaluate") {
    const Work work(small());
    for (const Words transform : {"--transform raw", "--transform hog", "--transform deskew:0.5,blur:0.7"}) {
        const Words evaluate = "evaluate -q -k 4 --neighbors-csv -" + transform;
        CHECK(work.output(evaluate + "--select nth_element") == work.output(evaluate));
        using Row = std::vector<std::string>;  // an image, its neighbor and the distance
        std::vector<Row> of_evaluate, of_graph;
        for (const Row& row : csv_rows(work.output(evaluate + "--test-images train-images-idx3-ubyte" +
                                                   "--test-labels train-labels-idx1-ubyte")))
            if (row[0] != row[2]) of_evaluate.push_back({row[0], row[2], row[4]});
        for (const Row& row : csv_rows(work.output("graph -k 3 --csv -" + transform)))
            of_graph.push_back({row[0], row[2], row[3]});
        of_evaluate[0] = of_graph[0];  // the headings
        CHECK(of_evaluate == of_graph);
    }
}

TEST_CASE("transform: the text says which, and graph's report") {
    const Work work(small());
    check_contains(work.output("evaluate --transform deskew,pca:9"),
                   {"settings  transform deskew,pca:9, k = 5, metric l2", "  fit ", "  transform "});
    const json graph = work.report("graph -k 3 --transform deskew:1")["settings"];
    CHECK(graph["transform"] == "deskew");
    CHECK(!graph.contains("method"));
}

TEST_CASE("method: a whole classifier, whose parts other options override in any order") {
    const Work work(small());
    const json whole = settings(work, "--method gradients");
    CHECK(whole["method"] == "gradients");
    CHECK(whole["transform"] == "gradients");
    CHECK(whole["k"] == 5);
    CHECK(settings(work, "--transform gradients")["method"] == "gradients");  // it is the same classifier
    CHECK(settings(work, {})["method"] == "raw");
    for (const Words words : {"--method gradients -k 3", "-k 3 --method gradients"}) {
        const json some = settings(work, words);
        CHECK(some["k"] == 3);
        CHECK(some["transform"] == "gradients");
        CHECK(some["method"] == "custom");
    }
    for (const Words words : {"--method gradients --transform blur --metric l1 --tie nearest",
                              "--tie nearest --metric l1 --transform blur --method gradients"}) {
        const json some = settings(work, words);
        CHECK(some["transform"] == "blur");
        CHECK(some["metric"] == "l1");
        CHECK(some["tie"] == "nearest");
    }
    CHECK(settings(work, "--method gradients --transform raw")["method"] == "raw");
    CHECK(work.output("evaluate -q --method gradients --neighbors-csv -") ==
          work.output("evaluate -q --transform gradients --neighbors-csv -"));
    // More neighbors than the usual candidates make more candidates.
    const Work digits({.rows = 28, .cols = 28, .train = 150});
    CHECK(settings(digits, "--method accurate -k 97")["candidates"] == 97);
    CHECK(settings(digits, "--vote class-mean -k 97")["candidates"] == 97);
}

TEST_CASE("transform: view draws an image from its pixels") {
    const Work work(small());
    const auto first_block = [&](const std::string& transform) {
        std::string left;
        for (const std::string& line :
             lines_of(work.output("view --index 4 --text -q --color never --transform " + transform)))
            if (line.find('#') != 0) left += line.substr(0, 9) + "\n";
        return left;
    };
    CHECK(first_block("gradients") == first_block("raw"));
}

TEST_CASE("transform: view --from shows the distances and votes that evaluate has, of floats too") {
    const Work work(small());
    for (const std::string method :
         {"zscore", "minmax --metric cosine", "gradients", "zscore --metric lp --p 3"}) {
        const Words words = " --weights distance --transform " + method;
        work.output("evaluate -q --report r" + words);
        const Words view = "view --all --text -q --limit 1000";
        CHECK(output_of(work.plain(view + "--from r")) == work.output(view + words));
    }
}
