#include "tests/support/sample_evaluation.h"

#include <random>

namespace knn::test {

namespace {

/// Each image shows its class as the height of a bright bar, with noise in the other pixels.
LabeledImages sample_images(std::int64_t count, const SampleOptions& options, std::mt19937_64& random) {
    LabeledImages set;
    set.count = count;
    set.rows = options.rows;
    set.cols = options.cols;
    set.pixels = Bytes(static_cast<std::size_t>(count * set.dim()));
    set.labels = Bytes(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
        const auto label = i % options.classes;
        set.labels.data()[i] = static_cast<std::uint8_t>(label);
        for (std::int64_t p = 0; p < set.dim(); ++p) {
            const std::int64_t row = p / set.cols, col = p % set.cols;
            const bool bar = col > 1 && col < set.cols - 1 && row * options.classes <= label * set.rows;
            set.pixels.data()[i * set.dim() + p] =
                static_cast<std::uint8_t>(bar ? 200 + random() % 56 : random() % 40);
        }
    }
    return set;
}

}  // namespace

Sample sample_evaluation(const SampleOptions& options) {
    std::mt19937_64 random(1);
    Sample sample{std::make_unique<Dataset>(), {}};
    Dataset& data = *sample.data;
    data.name = "sample";
    data.source = "made up by a test";
    data.train = sample_images(options.n_train, options, random);
    data.test = sample_images(options.n_test, options, random);
    for (int label = 0; label < options.classes; ++label)
        data.labels.push_back(static_cast<std::uint8_t>(label));
    data.classes = options.names;

    Evaluation& evaluation = sample.evaluation;
    evaluation.data = &data;
    evaluation.n_train = options.n_train;
    evaluation.n_test = options.n_test;
    evaluation.created = "2024-05-06T07:08:09Z";
    evaluation.method.vote.k = options.k;
    evaluation.load_ms = 12.5;
    evaluation.wall_ms = 250;

    Results& found = evaluation.found;
    found.plan = {"cpu", {}, "gemm", "heap", 100, 2};
    found.plan.device.name = "a made-up processor";
    found.plan.device.peak_gb_per_s = 20;
    found.search_ms = 200;
    found.timeline.add({"distance", 4, 150, 1.2e9, 9e9});
    found.timeline.add({"select", 4, 40, 3e8, 0});
    found.neighbors = Neighbors(options.n_test, options.k);
    for (std::int64_t i = 0; i < options.n_test; ++i) {
        const std::uint8_t label = data.test.labels.data()[i];
        const bool wrong = double(random() % 10'000) < 1e4 * options.error_rate;
        const auto shift = wrong ? 1 + (random() % 4) * (random() % 2) : 0;
        const auto voted =
            static_cast<std::uint8_t>((label + shift) % static_cast<unsigned>(options.classes));
        const int for_it = options.k - static_cast<int>(random() % 2) * ((options.k - 1) / 2);  // a majority
        found.votes.push_back({voted, double(for_it) / options.k});
        evaluation.confidence.push_back(0.5 + double(random() % 5'000) / 1e4);
        std::uint32_t distance = 1000;
        for (int rank = 0; rank < options.k; ++rank) {
            distance += static_cast<std::uint32_t>(random() % 5000);
            const int like = rank < for_it ? voted : (voted + 1) % options.classes;
            const auto times = static_cast<std::uint64_t>(options.n_train / options.classes);
            found.neighbors.row(i)[static_cast<std::size_t>(rank)] = {
                distance,
                static_cast<std::uint32_t>(like + options.classes * static_cast<int>(random() % times))};
        }
    }
    evaluation.score = score(found.votes, data.test.labels.span(), data.labels);
    evaluation.score.classes = data.classes;
    return sample;
}

}  // namespace knn::test
