#pragma once
/// A whole search in one call, for tests: configure, open, search, vote.

#include "classifier/index.h"
#include "data/core/device_index.h"
#include "tests/support/points.h"

namespace knn::test {

struct Request {
    knn::Rows train, query;
    std::span<const std::uint8_t> train_labels = {};
    int k = 5;
    Measure measure = {};
    Weights weights = Weights::uniform;
    Tie tie = Tie::smallest;
    std::int64_t batch = 0;
    int threads = 0;
    std::string distance = {}, select = {};
    Exclude exclude = {};
    TransformSpec transform = {};  ///< of images of `shape`
    ImageShape shape = {};
    SketchColumns sketch = SketchColumns::automatic;
    const TrainingSet* set = nullptr;  ///< of `train`, with what is fitted to it; null: one of its own

    Training training() const { return {train, train_labels, shape}; }
    Problem problem() const { return method().problem(training(), query.count); }
    Method method() const { return {.transform = transform, .measure = measure, .vote = {k, weights, tie}}; }
    /// Of its own or of other rows.
    Queries queries() const { return queries_of(query, exclude, train); }
};

/// For messages.
inline std::ostream& operator<<(std::ostream& out, const Request& request) {
    return out << request.distance << " " << request.select << ": "
               << Problem{request.train.count, request.query.count, request.train.dim, request.k,
                          request.measure}
               << ", left out from " << request.exclude.first << ", batch " << request.batch << ", threads "
               << request.threads;
}

/// The result, with votes if there are labels; `timeline` begins with the stages of opening. Throws UsageError if the engine
/// refuses.
Results search(const Engine& engine, const Request& request, const ProgressToken& token = {});

/// With the engine `cpu`.
Results search_on_cpu(const Request& request, const ProgressToken& token = {});

/// Why the engine refuses.
UnsupportedReason refuse(const Engine& engine, const Request& request);

/// The engine's index of the training set. Throws UsageError if the engine refuses.
std::unique_ptr<DeviceIndex> opened(const Engine& engine, const Request& request, Timeline& timeline);

/// Of every `step`-th query, how many have other neighbors than the right ones.
std::int64_t wrong_queries(const Neighbors& found, const Request& request, std::int64_t step = 1);

/// How many votes are not those of the neighbors.
std::int64_t wrong_votes(const Neighbors& neighbors, std::span<const Vote> votes, const Request& request);

}  // namespace knn::test
