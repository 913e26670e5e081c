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

}  // namespace

TEST_CASE("confidences on MNIST are probabilities, by every method") {
    if (mnist_folder().empty()) return skip(no_mnist);
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
        CHECK(calibration["expected_calibration_error"] <= 0.005);
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
