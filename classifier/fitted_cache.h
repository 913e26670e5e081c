#pragma once
/// What is fitted to a training set, kept in the cache beside its features: descriptors, density and spread of re-ranking, the
/// leave-one-out sample, the weights of confidences. An entry is used if it was made of the same files and settings and is
/// whole (data/set/cache.h); otherwise it is as if it were not there.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "classifier/confidence.h"
#include "classifier/leave_one_out.h"
#include "data/rerank/reranking.h"
#include "data/set/training.h"

namespace knn {

/// A re-ranking, and the file that its descriptors are mapped from.
struct KeptReranking {
    Reranking reranking;
    CachedBytes mapped;
};

class FittedCache {
  public:
    /// Has nothing and keeps nothing.
    FittedCache() = default;
    /// Of the first `n_train` images; an empty key keeps nothing either. `threads` compute checksums.
    FittedCache(const TrainingIdentity& training, const Method& method, std::int64_t n_train, int threads);

    /// Null if the density, or the spread, is not there. Descriptors that are not there are made, and kept.
    std::unique_ptr<KeptReranking> reranking(const Training& training) const;
    /// Without descriptors: those of candidates are made in each search, which is faster for few queries.
    std::unique_ptr<KeptReranking> reranking_of_few() const;
    /// With its descriptors if it has some and `descriptors` says so.
    void keep(const Reranking& reranking, bool descriptors) const;

    std::optional<LeaveOneOut> sample() const;
    void keep(const LeaveOneOut& sample) const;

    /// Of the weights, or of the sample if only that is there.
    std::optional<Confidence> confidence() const;
    void keep(const Confidence& confidence) const;

  private:
    enum class What { descriptors, density, spread, sample, confidence };
    struct Entry {
        std::string file, key;
    };
    Entry entry(What what) const;
    template <class T>
    bool read(What what, std::vector<T>& values, std::int64_t count) const;
    template <class T>
    void write(What what, std::span<const T> values) const;

    TrainingIdentity training_;
    Method method_;
    std::int64_t n_train_ = 0;
    int threads_ = 1;
};

}  // namespace knn
