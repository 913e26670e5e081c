#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/cli/program.h"

using namespace knn::test;
using nlohmann::json;

namespace {

/// One metric as the command line has it.
struct Choice {
    std::vector<std::string> words;
    double (*distance)(const std::vector<int>& a, const std::vector<int>& b);
    bool integral;
};

template <class Term>
double sum_of(const std::vector<int>& a, const std::vector<int>& b, const Term& term) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += term(double(a[i]), double(b[i]));
    return sum;
}

double angle(const std::vector<int>& a, const std::vector<int>& b, double mean_a, double mean_b) {
    const auto centered = [](double from_x, double from_y) {
        return [=](double x, double y) { return (x - from_x) * (y - from_y); };
    };
    const double aa = sum_of(a, a, centered(mean_a, mean_a)), bb = sum_of(b, b, centered(mean_b, mean_b));
    return aa * bb == 0 ? 1 : 1 - sum_of(a, b, centered(mean_a, mean_b)) / std::sqrt(aa * bb);
}

double mean(const std::vector<int>& a) {
    return sum_of(a, a, [](double x, double) { return x; }) / double(a.size());
}

const std::vector<Choice>& choices() {
    static const std::vector<Choice> all = {
        {{"--metric", "l2"},
         [](const std::vector<int>& a, const std::vector<int>& b) {
             return sum_of(a, b, [](double x, double y) { return (x - y) * (x - y); });
         },
         true},
        {{"--metric", "l1"},
         [](const std::vector<int>& a, const std::vector<int>& b) {
             return sum_of(a, b, [](double x, double y) { return std::abs(x - y); });
         },
         true},
        {{"--metric", "lp", "--p", "3"},
         [](const std::vector<int>& a, const std::vector<int>& b) {
             return std::cbrt(sum_of(a, b, [](double x, double y) { return std::pow(std::abs(x - y), 3); }));
         },
         false},
        {{"--metric", "lp", "--p", "0.5"},
         [](const std::vector<int>& a, const std::vector<int>& b) {
             return std::pow(sum_of(a, b, [](double x, double y) { return std::sqrt(std::abs(x - y)); }), 2);
         },
         false},
        {{"--metric", "cosine"},
         [](const std::vector<int>& a, const std::vector<int>& b) { return angle(a, b, 0, 0); },
         false},
        {{"--metric", "pearson"},
         [](const std::vector<int>& a, const std::vector<int>& b) { return angle(a, b, mean(a), mean(b)); },
         false},
    };
    return all;
}

RunResult evaluate(const Folder& folder, const std::vector<std::string>& words,
                   const std::vector<std::string>& more, const RunOptions& options = {}) {
    std::vector<std::string> all = {"evaluate", "--data", folder / "", "--device", "cpu", "-q"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), more.begin(), more.end());
    return program(all, options);
}

}  // namespace

TEST_CASE("neighbors by every metric have its distances, in order") {
    const Folder folder;
    SmallSet set;
    set.levels = 3;
    set.train = 90;
    set.write(folder.path);
    for (const Choice& choice : choices()) {
        CAPTURE(choice.words[1]);
        const RunResult result = evaluate(folder, choice.words, {"-k", "90", "--neighbors-csv", "-"});
        REQUIRE(result.exit_code == 0);
        CHECK(result.err.empty());
        const auto rows = csv_rows(result.out);
        REQUIRE(rows.size() == 1 + 17 * 90);
        double before = 0;
        int index_before = -1;
        for (std::size_t line = 1; line < rows.size(); ++line) {
            const auto query = std::stoul(rows[line][0]);
            const int rank = std::stoi(rows[line][1]), index = std::stoi(rows[line][2]);
            const double distance = std::stod(rows[line][4]);
            const double expected =
                choice.distance(set.test_images[query], set.train_images[static_cast<std::size_t>(index)]);
            REQUIRE(distance == doctest::Approx(expected).epsilon(1e-6));
            const bool digits_alone = rows[line][4].find_first_not_of("0123456789") == std::string::npos;
            if (choice.integral) REQUIRE(digits_alone);
            if (rank > 1) {
                const bool in_order = distance > before || (distance == before && index > index_before);
                REQUIRE(in_order);
            }
            before = distance;
            index_before = index;
        }
    }
}

TEST_CASE("by every metric: the same bytes for any threads, batch and instruction set") {
    const Folder folder;
    SmallSet set;
    set.train = 500;
    set.test = 150;
    set.levels = 3;
    set.write(folder.path);
    for (const Choice& choice : choices()) {
        CAPTURE(choice.words[1]);
        const std::vector<std::string> files = {"--neighbors-csv", folder / "n", "--predictions",
                                                folder / "p",      "--weights",  "distance"};
        const auto bytes = [&](std::vector<std::string> more, const RunOptions& options) {
            more.insert(more.end(), files.begin(), files.end());
            const RunResult result = evaluate(folder, choice.words, more, options);
            if (result.exit_code == 2 && result.err.find("no instruction set") != std::string::npos)
                return std::string();
            REQUIRE(result.exit_code == 0);
            return read_file(folder / "n") + read_file(folder / "p");
        };
        const std::string first = bytes({"--threads", "1"}, {});
        for (const std::vector<std::string>& more : {std::vector<std::string>{"--threads", "2"},
                                                     {"--threads", "7"},
                                                     {"--batch", "1"},
                                                     {"--batch", "33", "--threads", "3"}})
            CHECK(bytes(more, {}) == first);
        for (const char* isa : {"avx512vnni", "avxvnni", "avx2", "plain"}) {
            CAPTURE(isa);
            RunOptions options;
            options.environment["MNIST_KNN_ISA"] = isa;
            const std::string other = bytes({}, options);
            if (std::string(isa) == "plain" || !other.empty()) CHECK(other == first);
        }
    }
}

TEST_CASE("votes by distance count 1/d^2 of the metric's distance") {
    const Folder folder;
    SmallSet set;
    set.levels = 7;
    set.write(folder.path);
    for (const Choice& choice : choices()) {
        CAPTURE(choice.words[1]);
        const RunResult result = evaluate(folder, choice.words,
                                          {"-k", "7", "--weights", "distance", "--neighbors-csv",
                                           folder / "n", "--predictions", folder / "p"});
        REQUIRE(result.exit_code == 0);
        const auto neighbors = csv_rows(read_file(folder / "n")), votes = csv_rows(read_file(folder / "p"));
        for (std::size_t query = 0; query < 17; ++query) {
            double all = 0, most = 0;
            std::map<std::string, double> sums;
            for (std::size_t rank = 0; rank < 7; ++rank) {
                const auto& row = neighbors[1 + query * 7 + rank];
                const double distance = std::stod(row[4]);
                REQUIRE(distance > 0);
                const double weight = 1 / (choice.words[1] == "l2" ? distance : distance * distance);
                sums[row[3]] += weight;
                all += weight;
            }
            for (const auto& [label, sum] : sums)
                most = std::max(most, sum);
            CHECK(sums[votes[query + 1][2]] == doctest::Approx(most).epsilon(1e-6));
            CHECK(std::stod(votes[query + 1][3]) == doctest::Approx(most / all).epsilon(1e-6));
        }
    }
}

TEST_CASE("the report says by which metric, and view reads it back") {
    const Folder folder;
    SmallSet().write(folder.path);
    for (const Choice& choice : choices()) {
        CAPTURE(choice.words[1]);
        const std::string report = folder / choice.words.back();
        const RunResult result = evaluate(folder, choice.words, {"--report", report});
        REQUIRE(result.exit_code == 0);
        const json settings = json::parse(read_file(report + "/report.json"))["settings"];
        CHECK(settings["metric"] == choice.words[1]);
        CHECK(settings.contains("p") == (choice.words[1] == "lp"));
        if (settings.contains("p")) CHECK(settings["p"] == std::stod(choice.words[3]));
        const std::vector<std::string> words = {"view", "--from", report, "--text", "--all", "-q"};
        const RunResult view = program(words);
        CHECK(view.exit_code == 0);
        std::vector<std::string> anew = {"view",  "--data", folder / "", "--text",
                                         "--all", "-q",     "--device",  "cpu"};
        anew.insert(anew.end(), choice.words.begin(), choice.words.end());
        CHECK(program(anew).out == view.out);
        std::filesystem::remove(report + "/predictions.csv");  // searched again then
        CHECK(program(words).out == view.out);
        CHECK(program({"view", "--from", report, "--html", "-"}).out.starts_with("<!"));
    }
}

TEST_CASE("metrics and exponents that do not go together are usage errors") {
    const std::vector<std::vector<std::string>> wrong = {
        {"evaluate", "--metric", "lp"},
        {"evaluate", "--metric", "l2", "--p", "3"},
        {"evaluate", "--metric", "cosine", "--p", "2"},
        {"evaluate", "--p", "2"},
        {"evaluate", "--metric", "lp", "--p", "0"},
        {"evaluate", "--metric", "lp", "--p", "-1"},
        {"evaluate", "--metric", "lp", "--p", "16"},
        {"evaluate", "--metric", "lp", "--p", "x"},
        {"evaluate", "--metric", "lp", "--p", "nan"},
        {"evaluate", "--metric", "lp", "--p", ""},
        {"evaluate", "--metric", "lp", "--p"},
        {"evaluate", "--metric", "lp", "--p", "3", "--p", "3"},
        {"evaluate", "--metric", "euclid"},
        {"evaluate", "--metric", "L2"},
        {"view", "--metric", "lp"},
        {"view", "--from", "report", "--metric", "l1"},
        {"view", "--from", "report", "--p", "3"},
        {"classify", "--metric", "lp", "a.png"},
        {"classify", "--p", "3", "a.png"},
        {"info", "--metric", "l1"},
    };
    for (const auto& words : wrong)
        check_usage_error(words);
    CHECK(program({"evaluate", "--metric", "lp"}).err.find("expected --p P") != std::string::npos);
    CHECK(program({"evaluate", "--metric", "cosin"}).err.find("did you mean cosine?") != std::string::npos);
    CHECK(program({"evaluate", "--metric", "lp", "--p", "1", "--p", "2"})
              .err.find("--p: given more than once") != std::string::npos);
}

TEST_CASE("naming only the metric works on any machine") {
    const Folder folder;
    SmallSet().write(folder.path);
    for (const Choice& choice : choices()) {
        CAPTURE(choice.words[1]);
        std::vector<std::string> words = {"evaluate", "--data", folder / "", "--neighbors-csv", "-", "-q"};
        words.insert(words.end(), choice.words.begin(), choice.words.end());
        const RunResult result = program(words);
        CAPTURE(result.err);
        CHECK(result.exit_code == 0);
        CHECK(result.out == evaluate(folder, choice.words, {"--neighbors-csv", "-"}).out);
        CHECK(lines_of(result.err).size() <= 1);  // no GPU, or not on the GPU
    }
}
