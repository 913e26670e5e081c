#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <tuple>

#include "tests/cli/evaluated.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;

TEST_CASE("view --text shows the misclassified digits, the most sure first") {
    const Evaluated evaluated;
    const RunResult result = evaluated.view({"--text", "--limit", "1000"});
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
    const std::vector<Answer> digits = digits_in(result.out);
    REQUIRE(digits.size() >= 5);
    CHECK(indices_in(result.out) == evaluated.expected(is_wrong));
    for (const Answer& digit : digits)
        CHECK(digit == evaluated.answers[static_cast<std::size_t>(digit.index)]);
}

TEST_CASE("view shows the neighbors of a digit with labels and squared distances") {
    const Evaluated evaluated;
    const RunResult csv =
        program({"evaluate", "--data", evaluated.folder / "", "--device", "cpu", "--neighbors-csv", "-"});
    const RunResult result = evaluated.view({"--text", "--index", "7"});
    const auto rows = csv_rows(csv.out);
    for (std::size_t i = 1; i < rows.size(); ++i) {
        if (rows[i][0] != "7") continue;
        std::string distance = rows[i][4];
        for (int place = static_cast<int>(distance.size()) - 3; place > 0; place -= 3)
            distance.insert(static_cast<std::size_t>(place), 1, ',');
        const std::regex line("#" + rows[i][2] + " +" + rows[i][3] + " +" + distance);
        CHECK(std::regex_search(result.out, line));
    }
}

TEST_CASE("view filters by true label, predicted label, index, and takes the correct ones too") {
    const Evaluated evaluated;
    const auto shown = [&](std::vector<std::string> extra) {
        extra.insert(extra.end(), {"--text", "--limit", "1000"});
        return indices_in(evaluated.view(extra).out);
    };
    using A = const Answer&;
    CHECK(shown({"--true", "7"}) == evaluated.expected([](A a) { return is_wrong(a) && a.label == 7; }));
    CHECK(shown({"--predicted", "200"}) ==
          evaluated.expected([](A a) { return is_wrong(a) && a.predicted == 200; }));
    CHECK(shown({"--true", "7", "--predicted", "1"}) ==
          evaluated.expected([](A a) { return a.label == 7 && a.predicted == 1; }));
    CHECK(shown({"--true", "7", "--true", "1"}) ==
          evaluated.expected([](A a) { return is_wrong(a) && a.label != 200; }));
    CHECK(shown({"--all"}) == evaluated.expected([](A) { return true; }));
    CHECK(shown({"--all", "--true", "7", "--predicted", "7"}) ==
          evaluated.expected([](A a) { return a.label == 7 && a.predicted == 7; }));
    CHECK(shown({"--index", "3", "--index", "59"}) ==
          evaluated.expected([](A a) { return a.index == 3 || a.index == 59; }));
    const RunResult twice = evaluated.view({"--text", "--true", "7", "--true", "7"});
    CHECK(twice.out == evaluated.view({"--text", "--true", "7"}).out);
    CHECK(contains(twice.out, "true label 7)"));
}

TEST_CASE("view orders by confidence, index or pair") {
    const Evaluated evaluated;
    const auto shown = [&](const std::string& order) {
        return digits_in(evaluated.view({"--text", "--all", "--limit", "1000", "--order", order}).out);
    };
    const auto sorted = [&](const std::string& order, auto key) {
        std::vector<Answer> answers = evaluated.answers;
        std::sort(answers.begin(), answers.end(),
                  [&](const Answer& a, const Answer& b) { return key(a) < key(b); });
        CHECK(shown(order) == answers);
    };
    sorted("index", [](const Answer& a) { return a.index; });
    sorted("confidence", [](const Answer& a) { return std::tuple(-a.confidence, a.index); });
    sorted("pair", [](const Answer& a) { return std::tuple(a.label, a.predicted, -a.confidence, a.index); });
}

TEST_CASE("view --text has a limit and says when there are more") {
    const Evaluated evaluated;
    const std::size_t wrong = evaluated.expected(is_wrong).size();
    REQUIRE(wrong > 10);
    const RunResult some = evaluated.view({"--text"});
    CHECK(digits_in(some.out).size() == 10);
    CHECK(some.out.find("10 of " + std::to_string(wrong) + " digits shown; --limit") != std::string::npos);
    const RunResult three = evaluated.view({"--text", "--limit", "3", "-q"});
    CHECK(digits_in(three.out).size() == 3);
    CHECK(three.out.starts_with("#"));
    CHECK(three.out.find("--limit") == std::string::npos);
}

TEST_CASE("view with nothing to show says so and is no error") {
    const Evaluated evaluated;
    const Answer& right = *std::find_if_not(evaluated.answers.begin(), evaluated.answers.end(), is_wrong);
    const std::string index = std::to_string(right.index);
    const std::string other = right.label == 1 ? "7" : "1";
    for (const std::vector<std::string>& form :
         {std::vector<std::string>{"--text"}, {"--html", "/dev/null"}}) {
        std::vector<std::string> words = {"--index", index, "--true", other};
        words.insert(words.end(), form.begin(), form.end());
        const RunResult result = evaluated.view(words);
        CHECK(result.exit_code == 0);
        CHECK(result.out.find("nothing to show") != std::string::npos);
        CHECK(result.err.empty());
    }
}

TEST_CASE("view refuses a wrong command line") {
    const Evaluated evaluated;
    const Folder results;
    const std::string same = results / "x";
    for (const std::vector<std::string>& words : {std::vector<std::string>{"--true", "x"},
                                                  {"--true", "256"},
                                                  {"--true", "-1"},
                                                  {"--predicted", "5"},  // no label of this data set
                                                  {"--index", "60"},
                                                  {"--index", "1.5"},
                                                  {"--order", "size"},
                                                  {"--limit", "0"},
                                                  {"-k", "5"},
                                                  {"--weights", "distance"},
                                                  {"--limit-test", "5"},
                                                  {"--html", "-"},
                                                  {"--sheet", "-"},
                                                  {"--sheet", same, "--html", same},
                                                  {"--from", "again"},
                                                  {"--json", "-"}}) {
        std::vector<std::string> all = words;
        all.insert(all.end(), {"--text"});
        const RunResult result = evaluated.view(all);
        CAPTURE(words);
        CHECK(result.exit_code == 2);
        CHECK(is_usage_error(result.err));
        CHECK(result.out.empty());
    }
    CHECK(results.names().empty());
}
