#pragma once
/// The C interface as tests use it: handles that free themselves, and arrays.

#include "mnist_knn/knn.h"
#include "tests/support/test.h"

namespace knn::test {

using Set = std::unique_ptr<knn_set, decltype(&knn_set_free)>;
using OpenIndex = std::unique_ptr<knn_index, decltype(&knn_index_free)>;

/// The status must be KNN_OK.
#define OK(call) CHECK_MESSAGE((call) == KNN_OK, knn_last_error())
/// The status must be this, with `part` in the one line of the message.
#define REFUSED(status, part, call)                                          \
    do {                                                                     \
        CHECK((call) == (status));                                           \
        const std::string message = knn_last_error();                        \
        CHECK_MESSAGE(message.find(part) != message.npos, message);          \
        CHECK_MESSAGE(message.find("expected") != message.npos, message);    \
        CHECK_MESSAGE(message.find_first_of("\n") == message.npos, message); \
        CHECK_MESSAGE(message.find("--") == message.npos, message);          \
        CHECK_MESSAGE(message.find("\xc2\xa7") == message.npos, message);    \
    } while (false)

inline Set made_set(const knn_vectors& vectors, const std::uint8_t* labels) {
    knn_set* set = nullptr;
    OK(knn_set_create(&vectors, labels, &set));
    return Set(set, knn_set_free);
}

inline knn_settings settings_of(const char* method, int k = 0) {
    knn_settings settings{};
    settings.struct_size = sizeof settings;
    settings.method = method;
    settings.device = "cpu";
    settings.k = k;
    return settings;
}

inline OpenIndex made_index(const Set& set, const knn_settings& settings) {
    knn_index* index = nullptr;
    OK(knn_index_create(set.get(), &settings, &index));
    return OpenIndex(index, knn_index_free);
}

/// What a search finds.
struct Found {
    std::vector<std::uint32_t> indices;
    std::vector<double> distances;
    knn_neighbors out;

    Found(std::int64_t count, int k)
        : indices(static_cast<std::size_t>(count * k), 77),
          distances(indices.size(), -1),
          out KNN_NEIGHBORS(count, k) {
        out.indices = indices.data();
        out.distances = distances.data();
    }
    Found(const Found&) = delete;
    friend bool operator==(const Found& a, const Found& b) {
        return a.indices == b.indices && a.distances == b.distances;
    }
};

struct Answers {
    std::vector<std::uint8_t> labels, rejected;
    std::vector<double> vote_shares, probabilities, p_values;
    knn_answers out;

    /// `scores`: also what is fitted.
    explicit Answers(std::int64_t count, bool scores = false) : out KNN_ANSWERS(count) {
        const auto n = static_cast<std::size_t>(count);
        labels.assign(n, 77);
        vote_shares.assign(n, -1);
        out.labels = labels.data();
        out.vote_shares = vote_shares.data();
        if (!scores) return;
        rejected.assign(n, 77);
        probabilities.assign(n, -1);
        p_values.assign(n, -1);
        out.rejected = rejected.data();
        out.probabilities = probabilities.data();
        out.p_values = p_values.data();
    }
    Answers(const Answers&) = delete;
    friend bool operator==(const Answers& a, const Answers& b) {
        return a.labels == b.labels && a.vote_shares == b.vote_shares && a.probabilities == b.probabilities &&
               a.p_values == b.p_values && a.rejected == b.rejected;
    }
};

}  // namespace knn::test
