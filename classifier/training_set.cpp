#include "classifier/training_set.h"

#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "cpu/host/host.h"
#include "cpu/rerank/rerank.h"
#include "cpu/transform/transform.h"
#include "data/core/clock.h"
#include "data/core/errors.h"
#include "data/synthetic/drawn_forms.h"

namespace knn {

namespace {

using Piece = std::span<const std::uint8_t>;

/// Changes with the definition of anything that is kept.
constexpr const char* edition = " fitted 4";

/// use(array) for the numbers of a fitted step, in the order in which they are kept. Whether all calls return true.
template <class Step, class Use>
bool for_numbers(Step& step, const Use& use) {
    if constexpr (requires { step.divisors; })
        return use(std::span(step.offsets)) && use(std::span(step.divisors));
    else
        return use(std::span(&step.n_out, 1)) && use(std::span(&step.dim, 1)) &&
               use(std::span(&step.scale, 1)) && use(std::span(step.weights)) && use(std::span(step.centers));
}

void write_features(const Features& features, const std::string& file, const std::string& key) {
    std::vector<Piece> pieces;
    const auto put = [&](auto numbers) {
        pieces.push_back(bytes_of(numbers));
        return true;
    };
    for (const FittedStep& step : features.transform.steps) {
        if (const auto* one = std::get_if<ColumnScaling>(&step.what)) for_numbers(*one, put);
        if (const auto* one = std::get_if<Projection>(&step.what)) for_numbers(*one, put);
    }
    pieces.emplace_back(features.rows.pixels, static_cast<std::size_t>(features.rows.bytes()));
    write_cached(file, key, pieces);
}

/// All settings that the values depend on.
std::string settings_of(Fitted what, Method method) {
    if (what == Fitted::features) return method.transform.text();
    if (what == Fitted::descriptors) return std::string(" rerank ") + name(method.rerank.kind) + " step 2";
    if (what == Fitted::density || what == Fitted::spread) {
        method.vote = {};
        method.rerank.candidates = RerankSpec().candidates;
    }
    const std::string drawn = what == Fitted::drawn_sample ? ' ' + drawn_edition() : "";
    return method_text(method) + "density " + std::to_string(int{method.rerank.density}) + drawn;
}

}  // namespace

struct TrainingSet::Shared {
    /// Values in memory: made here, or mapped from the cache.
    struct Blob {
        std::vector<std::uint8_t> made;
        CachedBytes mapped;
        bool is_kept = false;  ///< in the cache

        Piece bytes() const { return made.empty() ? mapped.span() : Piece(made); }
    };

    Training images;
    TrainingIdentity identity;
    std::shared_ptr<const void> owner;
    std::recursive_mutex mutex;                ///< of what follows
    std::map<std::string, Blob> blobs;         ///< by the key of the cache
    std::map<std::string, Features> features;  ///< by the text of the transform
};

TrainingSet::TrainingSet(const Training& images, const TrainingIdentity& identity,
                         std::shared_ptr<const void> owner)
    : shared_(std::make_shared<Shared>()) {
    shared_->images = images;
    shared_->identity = identity;
    shared_->owner = std::move(owner);
}

const Training& TrainingSet::view() const {
    return shared_->images;
}

bool TrainingSet::is_cached() const {
    return !shared_->identity.key.empty();
}

TrainingSet::Entry TrainingSet::entry(Fitted what, const Method& method) const {
    std::string settings = settings_of(what, method) + " of " + std::to_string(size());
    if (!images().are_bytes()) settings += std::string(" ") + knn::name(images().type);
    const std::string type = name(what);
    return {type + '-' + shared_->identity.name + '-' + std::to_string(std::hash<std::string>()(settings)),
            shared_->identity.key + type + ' ' + settings + edition};
}

Features& TrainingSet::features_of(const TransformSpec& spec) const {
    const auto [found, is_new] = shared_->features.try_emplace(spec.text());
    Features& features = found->second;  // another thread may read what is set
    if (is_new) features.transform.image = shape();
    if (is_new) features.transform.type_in = images().type;
    if (is_new && spec.is_raw()) features.rows = images();
    return features;
}

const FittedTransform& TrainingSet::transform(const TransformSpec& spec, int threads,
                                              const std::atomic<bool>* stop, Timeline& timeline) const {
    const std::lock_guard lock(shared_->mutex);
    FittedTransform& transform = features_of(spec).transform;
    if (spec.is_raw() || !transform.is_raw()) return transform;
    if (const UnsupportedReason why = refuse_transform(spec, shape(), size())) throw UsageError(*why);
    const auto start = Clock::now();
    transform = cpu::fit(spec, images(), shape(), threads, stop);
    timeline.add_since("fit", start);
    return transform;
}

const Features& TrainingSet::features(const TransformSpec& spec, int threads, const std::atomic<bool>* stop,
                                      Timeline& timeline) const {
    const std::lock_guard lock(shared_->mutex);
    Features& features = features_of(spec);
    if (features.rows.count > 0) return features;
    const auto [file, key] = entry(Fitted::features, {.transform = spec});
    Shared::Blob& blob = shared_->blobs[key];
    Features read;
    if (is_cached() && !refuse_transform(spec, shape(), size()))
        if (auto bytes = read_cached(file, key, cpu::threads_or_all(threads));
            bytes && restore_features(bytes->span(), spec, shape(), size(), read)) {
            blob.mapped = std::move(*bytes);
            if (features.transform.is_raw()) features.transform = std::move(read.transform);
            features.rows = read.rows;
            return features;
        }
    const FittedTransform& fitted = transform(spec, threads, stop, timeline);
    const auto start = Clock::now();
    blob.made = cpu::features(fitted, images(), threads, stop);
    features.rows = fitted.rows_out(blob.made.data(), size());
    timeline.add({.name = "transform",
                  .launches = 1,
                  .total_ms = ms_since(start),
                  .bytes = static_cast<double>(images().bytes() + features.rows.bytes())});
    if (is_cached()) write_features(features, file, key);
    return features;
}

Descriptors TrainingSet::descriptors(const RerankSpec& rerank, int threads, const std::atomic<bool>* stop,
                                     bool keep) const {
    const std::lock_guard lock(shared_->mutex);
    Descriptors all{DescriptorLayout(shape(), rerank), {}};
    const Method method{.rerank = rerank};
    find_bytes(Fitted::descriptors, method, static_cast<std::size_t>(size() * all.layout.bytes()));
    const auto [file, key] = entry(Fitted::descriptors, method);
    Shared::Blob& blob = shared_->blobs[key];
    if (blob.bytes().empty()) blob.made = cpu::describe(rerank, images(), shape(), threads, stop).bytes;
    all.elsewhere = blob.bytes();
    if (!keep || blob.is_kept || !is_cached()) return all;
    write_cached(file, key, std::array{all.elsewhere});
    blob.is_kept = true;
    return all;
}

bool TrainingSet::has_descriptors(const RerankSpec& rerank) const {
    const std::unique_lock lock(shared_->mutex, std::try_to_lock);
    if (!lock) return false;
    const auto known = shared_->blobs.find(entry(Fitted::descriptors, Method{.rerank = rerank}).key);
    return known != shared_->blobs.end() && !known->second.bytes().empty();
}

TrainingSet::Bytes TrainingSet::find_bytes(Fitted what, const Method& method, std::size_t size) const {
    const std::lock_guard lock(shared_->mutex);
    const auto [file, key] = entry(what, method);
    if (const auto known = shared_->blobs.find(key);
        known != shared_->blobs.end() && known->second.bytes().size() == size)
        return known->second.bytes();
    if (!is_cached()) return {};
    auto cached = read_cached(file, key, cpu::available_threads());
    if (!cached || cached->span().size() != size) return {};
    Shared::Blob& blob = shared_->blobs[key];
    blob.mapped = std::move(*cached);
    blob.is_kept = true;
    return blob.bytes();
}

TrainingSet::Bytes TrainingSet::keep_bytes(Fitted what, const Method& method, Bytes values) const {
    const std::lock_guard lock(shared_->mutex);
    const auto [file, key] = entry(what, method);
    if (is_cached() && !values.empty()) write_cached(file, key, std::array{values});
    Shared::Blob& blob = shared_->blobs[key];
    // What another thread has got stays where it is.
    if (blob.bytes().size() != values.size()) blob.made.assign(values.begin(), values.end());
    return blob.bytes();
}

bool restore_features(Piece bytes, const TransformSpec& spec, ImageShape shape, std::int64_t count,
                      Features& features) {
    FittedTransform transform{.spec = {}, .image = shape, .steps = {}};
    const auto take = [&](auto numbers) {
        if (bytes.size() < numbers.size_bytes()) return false;
        std::memcpy(numbers.data(), bytes.data(), numbers.size_bytes());
        bytes = bytes.subspan(numbers.size_bytes());
        return true;
    };
    for (const TransformStep& step : spec.steps) {
        const auto dim = static_cast<std::size_t>(transform.dim_out());
        Projection projection;
        if (step.kind == TransformKind::pca) {
            const auto n_out = static_cast<std::size_t>(step.parameter);
            projection.weights.resize(n_out * dim);
            projection.centers.resize(n_out);
            if (!for_numbers(projection, take) || projection.n_out != std::int64_t(n_out) ||
                projection.dim != std::int64_t(dim))
                return false;
        }
        ColumnScaling scaling;
        if (info(step.kind).makes_reals) {
            scaling.offsets.resize(dim);
            scaling.divisors.resize(dim);
            if (!for_numbers(scaling, take)) return false;
        }
        append_step(transform, step, std::move(projection), std::move(scaling));
    }
    if (static_cast<std::int64_t>(bytes.size()) != count * transform.row_bytes_out()) return false;
    const Rows rows = transform.rows_out(bytes.data(), count);
    features = {std::move(transform), rows};
    return true;
}

}  // namespace knn
