#include "app/bench/table.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "app/bench/run.h"

namespace fs = std::filesystem;

namespace knn {

TEST_CASE("every figure of a paper has a source and is a number") {
    std::set<std::string> places;
    for (const Figure& one : paper_figures()) {
        CAPTURE(one.source);
        CAPTURE(one.text);
        CHECK(one.source.starts_with("seed 00"));
        CHECK(one.source.find(", ") != std::string::npos);  // and the section or table
        CHECK(one.value() > 0);
        CHECK(places.insert(one.source + '|' + one.row + '|' + one.column).second);  // once
        CHECK(find_figure(one.source, one.row, one.column) == &one);
    }
    CHECK(places.size() == 2 * 9 * 7 + 12 + 85);
}

TEST_CASE("what a paper does not state is not made up") {
    CHECK(stated("seed 000, 5", "Figure 5.1", "time") == "not stated");
    CHECK(quotes_of("seed 001").empty());
}

TEST_CASE("the README says which report each seed is, and the title of its case names the authors") {
    const struct {
        const char *which, *authors, *seed;
    } cases[] = {{"nolan", "Nolan", "000"},
                 {"komarov", "Komarov, Dashti and D'Souza", "001"},
                 {"singh", "Singh", "002"},
                 {"garrett", "Garrett, Luo and Lu", "003"},
                 {"zhu", "Zhu", "004"}};
    std::ifstream file(fs::path(MNIST_KNN_SOURCE) / "README.md");
    const std::string readme{std::istreambuf_iterator<char>(file), {}};
    const std::string references = readme.substr(readme.find("## References"));
    for (const auto& one : cases) {
        const std::string seed = std::string("eed ") + one.seed, authors = one.authors;
        CAPTURE(seed);
        CHECK(std::string(find_case(one.which)->summary).starts_with(authors + " (s" + seed + ")"));
        const std::size_t at = references.find("- S" + seed + ": ");
        REQUIRE(at != std::string::npos);
        const std::string item = references.substr(at, references.find("\n-", at + 1) - at);
        CHECK(item.find(authors.substr(0, authors.find(','))) != std::string::npos);
    }
}

TEST_CASE("figures that a reader knows") {
    CHECK(stated("seed 002, A.1", "case 1", "speed-up") == "8.21");
    CHECK(stated("seed 002, A.2", "case 8", "speed-up") == "74.48");
    CHECK(stated("seed 003, 4.1, final version", "distance calculation", "total") == "19500");
    CHECK(stated("seed 004, Table 5", "block size 16", "time of distances computing") == "27449.7461");
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
            std::ifstream file(entry.path());
            const std::string text{std::istreambuf_iterator<char>(file), {}};
            for (const std::string& figure : telling) {
                CAPTURE(figure);
                CHECK(text.find(figure) == std::string::npos);
            }
        }
}

}  // namespace knn
