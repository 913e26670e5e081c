#pragma once
/// A training set and all that methods fit to it.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "classifier/method.h"
#include "data/rerank/descriptor.h"
#include "data/set/training.h"
#include "data/transform/fitted.h"

namespace knn {

/// What is fitted, as its files in the cache are called.
enum class Fitted { features, descriptors, density, spread, sample, confidence, drawn_sample };
template <>
inline constexpr std::array name_list<Fitted>{"features", "descriptors",         "density",     "spread",
                                              "sample",   "monotone-confidence", "drawn-sample"};

/// A fitted transform and the features of the images that it was fitted on.
struct Features {
    FittedTransform transform;
    Rows rows;  ///< count × dim_out; of no image where only the transform was asked for
};

/// Images, labels, and what is fitted to them: made once, on first use, and kept, also in the user's cache if the set has an
/// identity. A copy refers to the same set. Thread-safe.
class TrainingSet {
  public:
    /// `owner` keeps the memory of the images; without one they must outlive this. An entry of the cache belongs to the
    /// key of `identity`, the number of images and the settings of the method.
    TrainingSet(const Training& images, const TrainingIdentity& identity = {},
                std::shared_ptr<const void> owner = nullptr);

    const Training& view() const;
    const Rows& images() const { return view().rows; }
    std::span<const std::uint8_t> labels() const { return view().labels; }
    ImageShape shape() const { return view().shape; }
    std::int64_t size() const { return images().count; }
    /// Whether it keeps what is fitted in the cache.
    bool is_cached() const;

    /// The transform alone, fitted on all images. Adds the stage `fit` if it fits. threads: 0: all. Throws as cpu::fit.
    const FittedTransform& transform(const TransformSpec& spec, int threads, const std::atomic<bool>* stop,
                                     Timeline& timeline) const;
    /// With the features of all images; adds the stage `transform` if it makes them. Throws as cpu::features.
    const Features& features(const TransformSpec& spec, int threads, const std::atomic<bool>* stop,
                             Timeline& timeline) const;
    /// The descriptors of all images, in memory of this set. `keep`: in the cache too. Throws as cpu::describe.
    /// A search of any number of queries uses them from then on.
    Descriptors descriptors(const RerankSpec& rerank, int threads, const std::atomic<bool>* stop,
                            bool keep) const;
    /// Whether they are in memory. False while another thread makes them.
    bool has_descriptors(const RerankSpec& rerank) const;

    /// `count` values that were kept for a method with the same settings; else none.
    template <class T>
    std::span<const T> find(Fitted what, const Method& method, std::int64_t count) const {
        const auto bytes = find_bytes(what, method, static_cast<std::size_t>(count) * sizeof(T));
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    /// Keeps values; returns where they are now.
    template <class T>
    std::span<const T> keep(Fitted what, const Method& method, std::span<const T> values) const {
        const auto bytes = keep_bytes(what, method, bytes_of(values));
        return {reinterpret_cast<const T*>(bytes.data()), values.size()};
    }

  private:
    struct Shared;
    struct Entry {
        std::string file, key;
    };
    using Bytes = std::span<const std::uint8_t>;

    Entry entry(Fitted what, const Method& method) const;
    Features& features_of(const TransformSpec& spec) const;
    Bytes find_bytes(Fitted what, const Method& method, std::size_t size) const;
    Bytes keep_bytes(Fitted what, const Method& method, Bytes values) const;

    std::shared_ptr<Shared> shared_;
};

/// Whether cached bytes are this transform, fitted, and its features of `count` images; then `features` has the
/// transform, and rows in these bytes.
bool restore_features(std::span<const std::uint8_t> bytes, const TransformSpec& spec, ImageShape shape,
                      std::int64_t count, Features& features);

}  // namespace knn
