#include "classifier/fitted_cache.h"

#include <array>
#include <bit>
#include <cstring>
#include <functional>

#include "cpu/rerank/rerank.h"

namespace knn {

namespace {

/// Changes with the definition of anything that is kept.
constexpr const char* edition = " fitted 3";
constexpr std::array names = {"descriptors", "density", "spread", "sample", "confidence"};

std::string search_text(const Method& method) {
    return method.transform.text() + ' ' + name(method.measure.metric) + " p " +
           std::to_string(std::bit_cast<std::uint64_t>(method.measure.p));
}

std::string descriptor_text(const Rerank& rerank) {
    return std::string(" rerank ") + name(rerank.kind) + " step 2";
}

std::string rerank_text(const Rerank& rerank) {
    const ClassSpread& spread = rerank.spread;
    std::string text =
        descriptor_text(rerank) + " window 2 context 1 density " + std::to_string(int{rerank.density});
    if (rerank.kind == Reranker::spread)
        text += " neighbors " + std::to_string(spread.neighbors) + ' ' + name(spread.of) + ' ' +
                name(spread.by) + ' ' + std::to_string(spread.weight);
    return text;
}

std::string vote_text(const Method& method) {
    const VotingRule& vote = method.vote;
    return " candidates " + std::to_string(method.rerank.candidates) + " vote " + name(vote.votes) + ' ' +
           std::to_string(vote.k) + ' ' + name(vote.weights) + ' ' + name(vote.tie);
}

}  // namespace

FittedCache::FittedCache(const TrainingIdentity& training, const Method& method, std::int64_t n_train,
                         int threads)
    : training_(training), method_(method), n_train_(n_train), threads_(threads) {}

/// The key has everything that the values depend on.
FittedCache::Entry FittedCache::entry(What what) const {
    const Rerank& rerank = method_.rerank;
    std::string settings;
    switch (what) {
        case What::descriptors:
            settings = descriptor_text(rerank);
            break;
        case What::density:
        case What::spread:
            settings = search_text(method_) + rerank_text(rerank);
            break;
        case What::sample:
        case What::confidence:
            settings = search_text(method_) + rerank_text(rerank) + vote_text(method_);
            break;
    }
    settings += " of " + std::to_string(n_train_);
    const std::string type = names[static_cast<std::size_t>(what)];
    return {type + '-' + training_.name + '-' + std::to_string(std::hash<std::string>()(settings)),
            training_.key + type + ' ' + settings + edition};
}

/// False if there are not `count` of them.
template <class T>
bool FittedCache::read(What what, std::vector<T>& values, std::int64_t count) const {
    if (training_.key.empty()) return false;
    const Entry from = entry(what);
    const auto cached = read_cached(from.file, from.key, threads_);
    if (!cached || cached->span().size() != static_cast<std::size_t>(count) * sizeof(T)) return false;
    values.resize(static_cast<std::size_t>(count));
    std::memcpy(values.data(), cached->span().data(), cached->span().size());
    return true;
}

template <class T>
void FittedCache::write(What what, std::span<const T> values) const {
    if (training_.key.empty() || values.empty()) return;
    const Entry to = entry(what);
    const std::array pieces = {
        std::span(reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes())};
    write_cached(to.file, to.key, pieces);
}

std::unique_ptr<KeptReranking> FittedCache::reranking_of_few() const {
    auto kept = std::make_unique<KeptReranking>();
    kept->reranking.rerank = method_.rerank;
    if (!method_.rerank.has_descriptors())
        return read(What::spread, kept->reranking.spread, n_train_) ? std::move(kept) : nullptr;
    const bool has_density = method_.rerank.density && n_train_ > 1;
    if (has_density && !read(What::density, kept->reranking.density, n_train_)) return nullptr;
    return kept;
}

std::unique_ptr<KeptReranking> FittedCache::reranking(const Training& training) const {
    std::unique_ptr<KeptReranking> kept = reranking_of_few();
    if (kept == nullptr || !method_.rerank.has_descriptors()) return kept;
    Descriptors& train = kept->reranking.train;
    train.layout = DescriptorLayout(training.shape, method_.rerank);
    const Entry from = entry(What::descriptors);
    auto cached = training_.key.empty() ? std::nullopt : read_cached(from.file, from.key, threads_);
    if (cached && static_cast<std::int64_t>(cached->span().size()) == n_train_ * train.layout.bytes()) {
        kept->mapped = std::move(*cached);
        train.elsewhere = kept->mapped.span();
    } else {
        train = cpu::describe(method_.rerank, training.rows, training.shape, threads_);
        write(What::descriptors, train.all());
    }
    return kept;
}

void FittedCache::keep(const Reranking& reranking, bool descriptors) const {
    write(What::density, std::span<const std::uint32_t>(reranking.density));
    write(What::spread, std::span<const std::int64_t>(reranking.spread));
    if (descriptors) write(What::descriptors, reranking.train.all());
}

std::optional<LeaveOneOut> FittedCache::sample() const {
    LeaveOneOut sample;
    if (!read(What::sample, sample, spread_sample(n_train_).m)) return std::nullopt;
    return sample;
}

void FittedCache::keep(const LeaveOneOut& sample) const {
    write(What::sample, std::span<const SampledAnswer>(sample));
}

std::optional<Confidence> FittedCache::confidence() const {
    std::vector<Confidence::Weights> weights;
    if (read(What::confidence, weights, 1)) return Confidence(weights[0]);
    if (const auto kept = sample()) return Confidence(*kept);
    return std::nullopt;
}

void FittedCache::keep(const Confidence& confidence) const {
    if (confidence.fitted())
        write(What::confidence, std::span<const Confidence::Weights>(&confidence.weights(), 1));
}

}  // namespace knn
