#pragma once
/// What `evaluate` found out: the one thing that every form of the report (text, json, csv, picture, html) is
/// made from.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/core/searcher.h"
#include "data/set/dataset.h"

namespace knn {

/// What the user asked for and what was chosen, as the report states it.
struct Settings {
    int k = 5;
    std::string engine, distance, select, metric = "l2", weights, tie, device;
    int threads = 0;
    std::int64_t batch = 0;
    double p = 2;  ///< the exponent of the metric lp
};

struct ClassScore {
    int label = 0;
    double precision = 0, recall = 0, f1 = 0;  ///< 0 where nothing was predicted or nothing is there
    std::int64_t support = 0;
};

/// Right and wrong, counted. Rows and columns of the confusion matrix stand for `labels`, in that order.
struct Score {
    std::vector<std::uint8_t> labels;  ///< the classes, ascending
    std::int64_t correct = 0, total = 0;
    double accuracy = 0;                               ///< correct / total
    double accuracy_low = 0, accuracy_high = 0;        ///< 95 % Wilson score interval
    std::vector<std::vector<std::int64_t>> confusion;  ///< [true][predicted]
    std::vector<ClassScore> per_class;

    std::size_t class_of(std::uint8_t label) const;  ///< position in `labels`; throws std::out_of_range
};
Score score(std::span<const Vote> votes, std::span<const std::uint8_t> truth,
            std::span<const std::uint8_t> labels);

struct Evaluation {
    const Dataset* data = nullptr;  ///< whole; the images that were used are the first `n_train`, `n_test`
    std::int64_t n_train = 0, n_test = 0;
    std::string created;  ///< ISO 8601, UTC
    Settings settings;
    SearchResult found;
    Score score;
    double load_ms = 0, wall_ms = 0;
};

/// Each label's share of the votes of one test image, by the rules of classifier/vote.h, the largest first.
struct VoteShare {
    int label = 0;
    double share = 0;  ///< 0 < share <= 1
};
std::vector<VoteShare> vote_shares(const Evaluation& evaluation, std::int64_t image);

}  // namespace knn
