#include <algorithm>
#include <cmath>
#include <optional>

#include "classifier/exact_distances.h"
#include "classifier/host.h"
#include "library/index.h"

using namespace knn::library;

namespace {

using knn::Neighbors;
using knn::Queries;
using knn::Results;

/// The queries of a call: vectors of the caller, or rows of the set.
struct Asked {
    Asked(const knn_vectors* vectors, const char* name)
        : given(read_struct(vectors, name)), rows(dense_rows(given, copy, name)), count(rows.count) {}
    Asked(const std::uint32_t* some, std::int64_t n) : of_set(true), indices(some), count(n) {
        require(n >= 0, "count " + std::to_string(n) + ": is negative; expected 0 or more");
    }

    /// Throws std::invalid_argument if they do not suit the set.
    Queries of(const Opened& opened) const {
        const knn::Rows& set = opened.index->set().images();
        if (!of_set) {
            require_same_form(rows, set, "queries");
            require_same_images(given, opened.index->set().shape(), "queries");
            return rows;
        }
        if (indices == nullptr) {
            require(count <= set.count, "count " + std::to_string(count) + ": the set has " +
                                            std::to_string(set.count) + "; expected at most as many");
            return count == set.count ? Queries::all_of(set) : Queries::some_of(set, 0, count);
        }
        std::vector<std::uint32_t> some(indices, indices + count);
        for (const std::uint32_t row : some)
            require(row < set.count, "rows: has " + std::to_string(row) + "; expected indices below " +
                                         std::to_string(set.count));
        return Queries::some_of(set, std::move(some));
    }

    std::vector<std::uint8_t> copy = {};
    knn_vectors given = {};
    bool of_set = false;
    const std::uint32_t* indices = nullptr;
    knn::Rows rows = {};
    std::int64_t count;
};

void require_count(std::int64_t count, std::int64_t asked, const std::string& name) {
    require(count == asked, name + ": has count " + std::to_string(count) + "; expected " +
                                std::to_string(asked) + ", that of the queries");
}

knn_neighbors read_neighbors(const knn_neighbors* given, std::int64_t asked) {
    const knn_neighbors found = read_struct(given, "neighbors");
    require_count(found.count, asked, "neighbors");
    require(found.k >= 1 && found.k <= knn::max_k,
            "neighbors: has k " + std::to_string(found.k) + "; expected 1 to " + std::to_string(knn::max_k));
    require(found.space == KNN_HOST || found.space == KNN_CUDA,
            "neighbors: has space " + std::to_string(found.space) + "; expected KNN_HOST or KNN_CUDA");
    if (found.space != KNN_HOST) copies_of("neighbors");
    require_flag(found.roots, "neighbors", "roots", found.reserved);
    require(found.space == KNN_HOST || (found.roots == 0 && found.wide_indices == nullptr),
            "neighbors: has wide_indices or roots in KNN_CUDA memory; expected them in KNN_HOST");
    return found;
}

void require_k(int k, const Opened& opened, bool leaves_out) {
    const std::int64_t others = opened.size() - (leaves_out ? 1 : 0);
    require(k <= others, "k " + std::to_string(k) + ": there are " + std::to_string(others) +
                             " vectors to find; expected at most as many");
    const knn::Plan& plan = opened.index->plan();
    const knn::Engine& engine = *knn::find_engine(plan.engine);
    const bool reranks = plan.stages.rerank == knn::StagePlace::device;
    const int most = reranks ? std::min(engine.can.max_k, knn::max_candidates) : engine.can.max_k;
    require(k <= most, "k " + std::to_string(k) + ": the engine " + engine.name + " finds at most " +
                           std::to_string(most) + (reranks ? " neighbors to re-rank" : " neighbors") +
                           "; expected at most as many, or the engine cpu");
}

void write_neighbors(const Results& results, const Opened& opened, int threads,
                     const knn::ProgressToken& token, knn_neighbors out) {
    const Neighbors& found = results.neighbors;
    const knn_neighbors caller = out;
    const bool on_device = caller.space == KNN_CUDA;
    std::vector<std::uint32_t> indices(on_device && caller.indices != nullptr ? found.rows.size() : 0);
    std::vector<double> distances(on_device && caller.distances != nullptr ? found.rows.size() : 0);
    if (!indices.empty()) out.indices = indices.data();
    if (!distances.empty()) out.distances = distances.data();
    const knn::Measure measure = opened.index->method().neighbor_measure();
    const knn::Rows &queries = results.features.rows, &scaled = opened.index->training().features;
    const auto distance = [&](std::int64_t q, const knn::Neighbor& one) {
        if (!measure.real) return knn::distance_of(measure, one.distance);
        const std::uint8_t* const row =
            scaled.count > 0 ? scaled.row(one.index) : opened.snapshot->row(one.index);
        return knn::shown_distance(
            measure, knn::exact_distance(measure, queries.row(q), row, queries.dim, queries.type));
    };
    constexpr std::int64_t elements = 1 << 16;  // between two looks at the token
    const std::int64_t piece = measure.real ? std::max<std::int64_t>(elements / queries.dim, 1) : elements;
    knn::for_rows(std::ssize(found.rows), piece, measure.real ? threads : 1,
                  token.waiting(found.n_query, found.n_query), [&](std::int64_t first, std::int64_t last) {
                      for (std::int64_t i = first; i < last; ++i) {
                          const knn::Neighbor& one = found.rows[static_cast<std::size_t>(i)];
                          if (out.indices != nullptr) out.indices[i] = one.index;
                          if (out.wide_indices != nullptr) out.wide_indices[i] = one.index;
                          if (out.distances == nullptr) continue;
                          const double shown = distance(i / found.k, one);
                          out.distances[i] = out.roots != 0 ? std::sqrt(shown) : shown;
                      }
                  });
    const auto copy = [&](const auto& from, auto* d_to) {
        if (!from.empty())
            copies_of("neighbors")
                .to_device(from.data(), d_to, std::ssize(from) * std::int64_t{sizeof(from[0])},
                           caller.stream);
    };
    copy(indices, caller.indices);
    copy(distances, caller.distances);
}

/// Queues a search whose queries and neighbors are both on the device of the index, which does it alone. False: the host has a
/// part in it, or the arguments are wrong, which `Asked` says.
bool is_queued(knn_index& index, const knn_vectors* given, const knn_neighbors* neighbors) {
    const knn_vectors queries = given == nullptr ? knn_vectors{} : read_struct(given, "queries");
    if (queries.space != KNN_CUDA || queries.type != KNN_UINT8 || queries.count <= 0) return false;
    const knn_neighbors out = read_neighbors(neighbors, queries.count);
    const std::int64_t pitch = queries.pitch == 0 ? queries.dim : queries.pitch;
    if (out.space != KNN_CUDA || queries.data == nullptr || pitch < queries.dim) return false;
    const auto opened = index.open(false, out.k, {});
    if (opened->rest != nullptr || opened->index->set().images().dim != queries.dim ||
        !opened->index->set().images().are_bytes())
        return false;
    require_same_images(queries, opened->index->set().shape(), "queries");
    require_k(out.k, *opened, false);
    return opened->index->enqueue({.queries = static_cast<const std::uint8_t*>(queries.data),
                                   .count = queries.count,
                                   .dim = queries.dim,
                                   .pitch = pitch,
                                   .k = out.k,
                                   .indices = out.indices,
                                   .distances = out.distances,
                                   .queries_stream = queries.stream,
                                   .answers_stream = out.stream});
}

knn_status search(knn_index* index, const knn_vectors* vectors, const knn_options* given,
                  knn_neighbors* neighbors, const auto& read_asked) {
    return call([&] {
        require_there(index, "index", "an index");
        if (is_queued(*index, vectors, neighbors)) return;
        const Asked asked = read_asked();
        const knn_options options = read_options(given);
        const knn_neighbors out = read_neighbors(neighbors, asked.count);
        const Progress progress(options.progress, options.data);
        const auto opened = index->open(asked.of_set, out.k, progress.token());
        const Queries queries = asked.of(*opened);
        require_k(out.k, *opened, asked.of_set);
        if (asked.count == 0 ||
            (out.indices == nullptr && out.wide_indices == nullptr && out.distances == nullptr))
            return;
        const Results found = opened->search(
            queries, {.k = out.k, .vote = false, .keep_features = true, .token = progress.token()});
        write_neighbors(found, *opened, index->threads(), progress.token(), out);
    });
}

/// What is fitted to the set says more of the answers.
void write_scores(const Scoring& scoring, const Results& found, const Queries& queries, double reject,
                  int threads, const knn_answers& out, const knn::ProgressToken& token) {
    const auto loss = reject > 0 ? std::optional(reject) : std::nullopt;
    const bool tests = out.p_values != nullptr || (out.rejected != nullptr && loss);
    knn::for_rows(queries.count(), 1, tests ? knn::threads_or_all(threads) : 1,
                  token.waiting(queries.count(), queries.count()),
                  [&](std::int64_t first, std::int64_t last) {
                      for (std::int64_t q = first; q < last; ++q) {
                          if (out.probabilities != nullptr)
                              out.probabilities[q] = scoring.scorer.probability(found, q);
                          if (!tests) continue;
                          const auto test = scoring.scorer.test(found, q, queries.rows.row(q), loss);
                          if (out.p_values != nullptr) out.p_values[q] = test.p_value;
                          if (out.rejected != nullptr) out.rejected[q] = test.reason.empty() ? 0 : 1;
                      }
                  });
}

knn_status classify(knn_index* index, const knn_options* given, knn_answers* answers,
                    const auto& read_asked) {
    return call([&] {
        require_there(index, "index", "an index");
        const Asked asked = read_asked();
        const knn_options options = read_options(given);
        const knn_answers out = read_struct(answers, "answers");
        require_count(out.count, asked.count, "answers");
        const int k = index->method().vote.k;
        std::optional<knn_neighbors> neighbors;
        if (out.neighbors != nullptr) {
            neighbors = read_neighbors(out.neighbors, asked.count);
            require(neighbors->k == k, "neighbors: has k " + std::to_string(neighbors->k) + "; expected " +
                                           std::to_string(k) + ", as the index");
        }
        const bool tests = out.p_values != nullptr || (out.rejected != nullptr && options.reject > 0);
        const bool scores = out.probabilities != nullptr || tests;
        const Progress progress(options.progress, options.data);
        const auto opened = index->open(asked.of_set || scores, k, progress.token());
        const Queries queries = asked.of(*opened);
        if (tests) knn::require_novelty(index->method());
        require(!tests || index->method().compared_type(queries.rows.type) == knn::ElementType::uint8,
                "answers: p_values and rejected need images that are compared as uint8; expected NULL and no "
                "reject");
        require(opened->snapshot->has_labels(), "set: has no labels; expected one with labels to classify");
        require_k(k, *opened, asked.of_set);
        const auto scoring = scores ? index->scoring(*opened, progress.token()) : nullptr;
        if (asked.count == 0) return;
        const Results found = opened->search(queries, {.keep_features = true, .token = progress.token()});
        for (std::size_t q = 0; q < found.votes.size(); ++q) {
            if (out.labels != nullptr) out.labels[q] = found.votes[q].label;
            if (out.vote_shares != nullptr) out.vote_shares[q] = found.votes[q].vote_share;
            if (out.rejected != nullptr) out.rejected[q] = 0;
        }
        if (scoring != nullptr)
            write_scores(*scoring, found, queries, options.reject, index->threads(), out, progress.token());
        if (neighbors) write_neighbors(found, *opened, index->threads(), progress.token(), *neighbors);
    });
}

}  // namespace

extern "C" {

knn_status knn_search(knn_index* index, const knn_vectors* queries, const knn_options* options,
                      knn_neighbors* found) {
    return search(index, queries, options, found, [&] { return Asked(queries, "queries"); });
}

knn_status knn_search_rows(knn_index* index, const uint32_t* rows, int64_t count, const knn_options* options,
                           knn_neighbors* found) {
    return search(index, nullptr, options, found, [&] { return Asked(rows, count); });
}

knn_status knn_classify(knn_index* index, const knn_vectors* queries, const knn_options* options,
                        knn_answers* answers) {
    return classify(index, options, answers, [&] { return Asked(queries, "queries"); });
}

knn_status knn_classify_rows(knn_index* index, const uint32_t* rows, int64_t count,
                             const knn_options* options, knn_answers* answers) {
    return classify(index, options, answers, [&] { return Asked(rows, count); });
}
}
