/// Confidences of `evaluate`, and what it keeps in the cache.

#include "tests/cli/pictures.h"

using namespace knn::test;

namespace {

struct Written {
    std::string predictions, neighbors;
    json report;

    /// How often something was fitted to the training set.
    int fits() const {
        for (const json& stage : report["timing"]["stages"])
            if (stage["name"] == "fit") return stage["launches"];
        return 0;
    }
    bool same_answers(const Written& other) const {
        return predictions == other.predictions && neighbors == other.neighbors &&
               report["result"] == other.report["result"];
    }
};

Written evaluate(const Digits& digits, const Words& words, const RunOptions& options = {}) {
    const Folder out;
    output_of(program("evaluate -q --data " + digits.folder.path().string() +
                          " --device cpu --limit-train 1000 --limit-test 300 --predictions " + (out / "p") +
                          " --neighbors-csv " + (out / "n") + " --json " + (out / "j") + words,
                      options));
    return {read_file(out / "p"), read_file(out / "n"), json::parse(read_file(out / "j"))};
}

/// The expected calibration error in 15 intervals, of a CSV of predictions: of its column `confidence` or `vote_share`.
double calibration_error(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
    std::array<double, 15> excess{};
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const double share = std::stod(rows[i][column]);
        excess[std::min<std::size_t>(static_cast<std::size_t>(share * 15), 14)] +=
            share - (rows[i][1] == rows[i][2]);
    }
    double sum = 0;
    for (const double one : excess)
        sum += std::abs(one);
    return sum / static_cast<double>(rows.size() - 1);
}

std::string percent(double share) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(2) << 100 * share << " %";
    return text.str();
}

}  // namespace

TEST_CASE("confidences on MNIST are probabilities, by every method") {
    if (mnist_folder().empty()) return skip(no_mnist);
    const std::string document = read_file(MNIST_KNN_SOURCE "/docs/confidence.md");
    for (const std::string method : {"raw", "gradients", "accurate"}) {
        const Folder out;
        output_of(program(Words{"evaluate", "-q", "--data", mnist_folder(), "--method", method,
                                "--predictions", out / "p", "--json", out / "j"} +
                          "--device cpu"));
        const auto rows = csv_rows(read_file(out / "p"));
        REQUIRE(rows.size() == 10'001);
        CHECK(rows[0] == std::vector<std::string>{"index", "label", "predicted", "confidence", "vote_share"});
        const json calibration = json::parse(read_file(out / "j"))["result"]["calibration"];
        CHECK(calibration["fitted"] == true);
        const double error = calibration["expected_calibration_error"];
        CHECK(error == doctest::Approx(calibration_error(rows, 3)).epsilon(1e-4));
        const auto wrong =
            std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row[1] != row[2]; }) - 1;
        const std::string line = "| `" + method + "` | " + percent(error) + " | " +
                                 percent(calibration_error(rows, 4)) + " | " + std::to_string(wrong) + " |\n";
        CAPTURE(line);
        CHECK(document.find(line) != std::string::npos);
        CHECK(calibration["bins"].size() == 15);
    }
}

/// Of a damaged cache: tests/faults/cache_test.cpp.
TEST_CASE("evaluate keeps what it fits, and does not fit again") {
    const Digits digits;
    const Folder folder;
    const RunOptions cached{.environment = {{"XDG_CACHE_HOME", folder / "cache"}}};
    const Words accurate = "--method accurate";
    const Written plain = evaluate(digits, accurate);
    CHECK(plain.fits() == 2);
    Written first = evaluate(digits, accurate + "--no-cache", cached);
    CHECK(first.same_answers(plain));
    CHECK(folder.names().empty());
    first = evaluate(digits, accurate, cached);
    CHECK(first.fits() == 2);
    CHECK(first.same_answers(plain));
    // Features, descriptors, density, confidence.
    CHECK(std::distance(fs::directory_iterator(folder / "cache/mnist-knn"), {}) == 4);
    const Written second = evaluate(digits, accurate, cached);
    CHECK(second.fits() == 0);
    CHECK(second.same_answers(plain));
    const std::string labels = digits.folder / "train-labels-idx1-ubyte";
    overwrite(labels, 8, {static_cast<char>((read_file(labels)[8] + 1) % 10)});  // another training set
    CHECK(evaluate(digits, accurate, cached).fits() == 2);
}

TEST_CASE("no time is in two stages: what a fit searches is not in the stage fit too") {
    const json timing = evaluate(Digits(), "--method accurate --threads 1 --no-cache").report["timing"];
    double listed = 0;
    for (const json& stage : timing["stages"])
        if (stage["name"] != "confidence") listed += stage["total_ms"].get<double>();
    CHECK(listed <= 1.02 * timing["search_ms"].get<double>());
}
