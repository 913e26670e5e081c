#include "library/set.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "classifier/exact_distances.h"
#include "classifier/host.h"
#include "data/core/errors.h"
#include "data/file/byte_source.h"
#include "data/set/cache.h"
#include "data/set/idx.h"
#include "data/set/training.h"
#include "data/vectors/sets.h"
#include "library/call.h"

namespace knn::library {

namespace {

/// Indices have 32 bits, and the last one means no neighbor.
constexpr std::int64_t max_rows = 0xffffffff;

/// Up to this share of the rows before them, added rows are searched beside these.
constexpr std::int64_t rows_per_added = 4;

/// Bytes of the caller that a set keeps.
struct Copied {
    std::vector<std::uint8_t> rows, labels;
};

ImageShape shape_of(const knn_vectors& vectors) {
    if (vectors.image_rows == 0) return {1, static_cast<int>(vectors.dim)};
    return {vectors.image_rows, vectors.image_cols};
}

TrainingSet copied_set(const knn_vectors* given, const std::uint8_t* labels) {
    const knn_vectors vectors = read_struct(given, "vectors");
    const auto copied = std::make_shared<Copied>();
    Rows rows = dense_rows(vectors, copied->rows, "vectors");
    require(rows.count > 0 && rows.count < max_rows,
            "vectors: has count " + std::to_string(rows.count) + "; expected 1 to 4294967294");
    if (vectors.borrowed == 0) {
        if (copied->rows.empty()) copied->rows.assign(rows.pixels, rows.pixels + rows.bytes());
        rows.pixels = copied->rows.data();
    }
    if (labels != nullptr) copied->labels.assign(labels, labels + rows.count);
    return TrainingSet({.rows = rows, .labels = copied->labels, .shape = shape_of(vectors)}, {}, copied);
}

/// Whether `load_training`, which keeps it uncompressed in the cache, reads this file; if it is there at all.
bool is_idx(const std::string& file, IdxKind kind) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(file, none)) return true;
    try {
        ByteSource source(file, kind.expected);
        read_idx_header(source, kind);
        return true;
    } catch (const DataError&) {
        return false;
    }
}

/// A file of vectors of any kind, with labels where it has some.
TrainingSet read_vectors(const DataLocation& location, std::int64_t first) {
    const auto read = std::make_shared<const Dataset>(
        load_data(location, {.first = {.train = first}, .labels_needed = false}));
    const LabeledImages& set = read->train;
    const std::size_t n_labels = set.labels.size() == 0 ? 0 : static_cast<std::size_t>(set.count);
    return TrainingSet(
        {.rows = set.images(), .labels = set.labels.span().first(n_labels), .shape = set.shape()}, {}, read);
}

std::shared_ptr<GrowingSet> opened_set(const knn_files* given) {
    const knn_files files = given == nullptr ? knn_files{} : read_struct(given, "files");
    require(files.first >= 0,
            "files: has first " + std::to_string(files.first) + "; expected 0 (all) or more");
    require_flag(files.no_cache, "files", "no_cache", files.reserved);
    for (const auto& [name, text] :
         {std::pair{"folder", files.folder}, {"images", files.images}, {"labels", files.labels}})
        require(text == nullptr || *text != '\0', std::string(name) + ": is empty; expected a name, or NULL");
    if (files.no_cache == 0) cache_limit();  // where the cache is written, no error ends the call
    DataOptions options;
    options.folder = text_of(files.folder);
    options.train_images = text_of(files.images);
    options.train_labels = text_of(files.labels);
    for (const std::string& file : {options.train_images, options.train_labels})
        if (std::error_code none;
            std::filesystem::exists(file, none) &&
            !std::filesystem::is_regular_file(file, none))  // a pipe may never be written to
            throw DataError(file + ": is no regular file; expected an IDX file or one of vectors");
    const bool lacks_labels = options.folder.empty() && options.train_labels.empty();
    if (!options.train_images.empty() && (lacks_labels || !is_idx(options.train_images, IdxKind::images) ||
                                          !is_idx(options.train_labels, IdxKind::labels))) {
        options.folder.clear();
        options.train = options.train_images;
        const DataLocation location = locate_training_data(options);
        return std::make_shared<GrowingSet>(read_vectors(location, files.first), location.inputs());
    }
    const DataLocation location = locate_training(options);
    const TrainingImages read = load_training(location, files.no_cache == 0, 0, files.first);
    const Rows rows = files.first == 0 ? read.images : read.images.first(files.first);
    if (rows.count == 0) throw DataError(read.source + ": has no image; expected at least one");
    const Training training{
        .rows = rows, .labels = read.labels.first(static_cast<std::size_t>(rows.count)), .shape = read.shape};
    return std::make_shared<GrowingSet>(TrainingSet(training, read.identity, read.owner), location.inputs());
}

}  // namespace

void require_comparable(const Rows& rows, const Method& method, const char* name,
                        const ProgressToken& token) {
    if (rows.are_bytes() || !method.transform.is_raw()) return;
    const Magnitude found = magnitude_of(rows, available_threads(), token);
    if (const auto why = refuse_elements(method.measure, found, rows.dim))
        throw std::invalid_argument(std::string(name) + ": " + *why);
}

Snapshot::Snapshot(const TrainingSet& base, const Rows& added, std::span<const std::uint8_t> labels,
                   std::shared_ptr<const void> owner)
    : base_(base), added_(added), labels_(labels), owner_(std::move(owner)) {}

TrainingSet Snapshot::rest(std::int64_t first) const {
    const std::int64_t begin = first - base_.size();
    Training rows{.rows = added_.slice(begin, added_.count - begin), .labels = {}, .shape = base_.shape()};
    if (has_labels()) rows.labels = labels_.subspan(static_cast<std::size_t>(first));
    return TrainingSet(rows, {}, owner_);
}

TrainingSet Snapshot::whole() const {
    if (added_.count == 0) return base_;
    const std::lock_guard lock(mutex_);
    if (whole_) return *whole_;
    const auto copied = std::make_shared<Copied>();
    const Rows& before = base_.images();
    copied->rows.reserve(static_cast<std::size_t>(size() * before.row_bytes()));
    for (const Rows& rows : {before, added_})
        copied->rows.insert(copied->rows.end(), rows.pixels, rows.pixels + rows.bytes());
    copied->labels.assign(labels_.begin(), labels_.end());
    whole_ = TrainingSet({.rows = {copied->rows.data(), size(), before.dim, before.type},
                          .labels = copied->labels,
                          .shape = base_.shape()},
                         {}, copied);
    return *whole_;
}

GrowingSet::GrowingSet(const TrainingSet& base, std::vector<std::filesystem::path> inputs)
    : inputs_(std::move(inputs)),
      now_(std::make_shared<const Snapshot>(base, base.images().first(0), base.labels(), nullptr)) {
    for (std::filesystem::path& input : inputs_)
        input = std::filesystem::absolute(input);
}

std::shared_ptr<const Snapshot> GrowingSet::now() const {
    const std::lock_guard lock(mutex_);
    return now_;
}

void GrowingSet::add_method(const std::shared_ptr<const Method>& method) {
    const std::lock_guard lock(mutex_);
    std::erase_if(methods_, [](const auto& one) { return one.expired(); });
    methods_.push_back(method);
}

void GrowingSet::Appended::reserve(std::size_t used, std::size_t size, std::size_t most) {
    if (size <= capacity) return;
    const std::size_t larger = std::max(size, most);
    auto moved = std::make_shared_for_overwrite<std::uint8_t[]>(larger);
    std::copy_n(bytes.get(), used, moved.get());
    bytes = std::move(moved);
    capacity = larger;
}

void GrowingSet::add(const Rows& rows, std::span<const std::uint8_t> labels) {
    const std::lock_guard lock(mutex_);
    const Rows& base = now_->base().images();
    require_same_form(rows, base, "vectors");
    for (const auto& one : methods_)
        if (const auto method = one.lock()) require_comparable(rows, *method, "vectors", {});
    if (rows.count == 0) return;
    require(labels.empty() != now_->has_labels(),
            std::string("labels: is ") + (labels.empty() ? "" : "not ") + "NULL; expected labels " +
                (now_->has_labels() ? "as the set has them" : "of a set that has them"));
    require(rows.count < max_rows - now_->size(),
            "vectors: has count " + std::to_string(rows.count) + "; expected less than 2^32 in a set");
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    const std::int64_t added = now_->added().count;
    const std::size_t added_bytes = at(added * rows.row_bytes()), n_labels = now_->labels().size();
    // Memory for all that a base takes; pages that are not used yet cost nothing.
    const std::int64_t most = base.count / rows_per_added + rows.count;
    rows_.reserve(added_bytes, at((added + rows.count) * rows.row_bytes()), at(most * rows.row_bytes()));
    std::copy_n(rows.pixels, at(rows.bytes()), rows_.bytes.get() + added_bytes);
    if (!labels.empty()) {
        const bool is_first = labels_.bytes == nullptr;
        labels_.reserve(is_first ? 0 : n_labels, n_labels + labels.size(), at(base.count + most));
        if (is_first) std::ranges::copy(now_->labels(), labels_.bytes.get());
        std::ranges::copy(labels, labels_.bytes.get() + n_labels);
    }
    auto next = std::make_shared<const Snapshot>(
        now_->base(), Rows{rows_.bytes.get(), added + rows.count, rows.dim, rows.type},
        std::span<const std::uint8_t>(labels_.bytes.get(), labels.empty() ? 0 : n_labels + labels.size()),
        std::make_shared<std::pair<Appended, Appended>>(rows_, labels_));
    if (next->added().count > base.count / rows_per_added) {
        const TrainingSet whole = next->whole();  // a set of n rows is copied log n times
        now_ = std::make_shared<const Snapshot>(whole, whole.images().first(0), whole.labels(), nullptr);
        rows_ = labels_ = {};
        return;
    }
    now_ = std::move(next);
}

}  // namespace knn::library

using namespace knn::library;

extern "C" {

knn_status knn_set_create(const knn_vectors* vectors, const uint8_t* labels, knn_set** set) {
    return call([&] {
        require_there(set, "set", "where the handle goes");
        *set = nullptr;
        *set = new knn_set{std::make_shared<GrowingSet>(copied_set(vectors, labels))};
    });
}

knn_status knn_set_open(const knn_files* files, knn_set** set) {
    return call([&] {
        require_there(set, "set", "where the handle goes");
        *set = nullptr;
        *set = new knn_set{opened_set(files)};
    });
}

knn_status knn_set_add(knn_set* set, const knn_vectors* vectors, const uint8_t* labels) {
    return call([&] {
        require_there(set, "set", "a set");
        std::vector<std::uint8_t> copy;
        const knn_vectors given = read_struct(vectors, "vectors");
        const knn::Rows rows = dense_rows(given, copy, "vectors");
        require_same_images(given, set->rows->now()->base().shape(), "vectors");
        set->rows->add(rows, {labels, labels == nullptr ? 0 : static_cast<std::size_t>(rows.count)});
    });
}

knn_status knn_set_get_info(const knn_set* set, knn_set_info* info) {
    return call([&] {
        require_there(set, "set", "a set");
        const auto now = set->rows->now();
        const knn::ImageShape shape = now->base().shape();
        const bool images = shape.rows > 1;
        write_struct({.struct_size = 0,
                      .count = now->size(),
                      .dim = now->base().images().dim,
                      .image_rows = images ? shape.rows : 0,
                      .image_cols = images ? shape.cols : 0,
                      .has_labels = now->has_labels() ? 1 : 0,
                      .type = static_cast<std::int32_t>(now->base().images().type)},
                     info, "info");
    });
}

knn_status knn_set_read(const knn_set* set, int64_t first, int64_t count, void* vectors, uint8_t* labels) {
    return call([&] {
        require_there(set, "set", "a set");
        const auto now = set->rows->now();
        require(first >= 0 && count >= 0 && first <= now->size() && count <= now->size() - first,
                "first " + std::to_string(first) + ", count " + std::to_string(count) +
                    ": not in the set of " + std::to_string(now->size()) + "; expected rows that it has");
        require(labels == nullptr || now->has_labels(), "labels: the set has none; expected NULL");
        const std::int64_t row_bytes = now->base().images().row_bytes();
        if (vectors != nullptr)
            for (std::int64_t i = 0; i < count; ++i)
                std::copy_n(now->row(first + i), row_bytes,
                            static_cast<std::uint8_t*>(vectors) + i * row_bytes);
        if (labels != nullptr) std::copy_n(now->labels().data() + first, count, labels);
    });
}

void knn_set_free(knn_set* set) {
    delete set;
}
}
