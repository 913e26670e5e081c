/// \file
/// C++20 over mnist_knn/knn.h, which says what each function does: handles that free themselves, spans, exceptions.
///
///     mnist_knn::set set(mnist_knn::images(pixels, 28, 28), labels);
///     mnist_knn::index index(set, {.method = "accurate"});
///     mnist_knn::answers answers = index.classify(mnist_knn::images(queries, 28, 28));
///
#ifndef MNIST_KNN_KNN_HPP
#define MNIST_KNN_KNN_HPP

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "mnist_knn/knn.h"

#ifndef __cpp_lib_span
#error "knn.hpp needs C++20: -std=c++20, or set(CMAKE_CXX_STANDARD 20)"
#endif

/// The wrapper.
namespace mnist_knn {

/// What a function of knn.h reports.
class error : public std::runtime_error {
  public:
    /// By default of the call that failed last in this thread.
    explicit error(knn_status status, const std::string& what = knn_last_error())
        : std::runtime_error(what), status_(status) {}
    /// What was returned.
    knn_status status() const noexcept { return status_; }

  private:
    knn_status status_;
};

/// Throws what is not KNN_OK.
inline void check(knn_status status) {
    if (status != KNN_OK) throw error(status);
}

/// The name of a file for a call. Throws error if it has a byte of 0, which would end it.
inline const char* c_name(const std::string& file) {
    if (file.find('\0') != std::string::npos)
        throw error(KNN_INVALID, "file: its name has a byte of 0; expected one without");
    return file.c_str();
}

/// With struct_size.
template <class Struct>
Struct sized(Struct value = {}) {
    value.struct_size = sizeof value;
    return value;
}

/// Vectors of `dim` bytes, one behind the other. Does not own them.
inline knn_vectors vectors(std::span<const std::uint8_t> elements, std::int64_t dim) {
    const auto size = static_cast<std::int64_t>(elements.size());
    if (dim < 1 || size % dim != 0) throw std::invalid_argument("elements: expected a multiple of dim");
    knn_vectors all = sized<knn_vectors>();
    all.data = elements.data();
    all.count = size / dim;
    all.dim = dim;
    return all;
}

/// Images of rows * cols pixels, 0 = background.
inline knn_vectors images(std::span<const std::uint8_t> pixels, std::int32_t rows, std::int32_t cols) {
    knn_vectors all = vectors(pixels, std::int64_t{rows} * cols);
    all.image_rows = rows;
    all.image_cols = cols;
    return all;
}

/// Labels for `vectors`, or none.
inline const std::uint8_t* labels_for(const knn_vectors& vectors, std::span<const std::uint8_t> labels) {
    if (labels.empty()) return nullptr;
    if (static_cast<std::int64_t>(labels.size()) != vectors.count)
        throw std::invalid_argument("labels: expected as many as vectors, or none");
    return labels.data();
}

/// Frees a handle.
template <auto free>
struct Free {
    /// `handle`: not null.
    void operator()(auto* handle) const noexcept { free(handle); }
};

/// knn_files.
struct files {
    /// As there.
    ///@{
    const char *folder = nullptr, *images = nullptr, *labels = nullptr;
    std::int64_t first = 0;
    bool no_cache = false;
    ///@}
};

/// A training set.
class set {
  public:
    /// `labels`: one for each vector, or none.
    explicit set(const knn_vectors& vectors, std::span<const std::uint8_t> labels = {}) {
        knn_set* made = nullptr;
        check(knn_set_create(&vectors, labels_for(vectors, labels), &made));
        handle_.reset(made);
    }
    /// Read from files.
    explicit set(const files& from) {
        knn_files known = sized<knn_files>();
        known.folder = from.folder;
        known.images = from.images;
        known.labels = from.labels;
        known.first = from.first;
        known.no_cache = from.no_cache ? 1 : 0;
        knn_set* made = nullptr;
        check(knn_set_open(&known, &made));
        handle_.reset(made);
    }

    /// Appends copies; `labels` if the set has labels.
    void add(const knn_vectors& vectors, std::span<const std::uint8_t> labels = {}) {
        check(knn_set_add(get(), &vectors, labels_for(vectors, labels)));
    }
    /// What it is.
    knn_set_info info() const {
        knn_set_info info = sized<knn_set_info>();
        check(knn_set_get_info(get(), &info));
        return info;
    }
    /// How many vectors it has.
    std::int64_t count() const { return info().count; }
    /// Vectors first .. first + count - 1 of a set of bytes: count * dim. Throws std::invalid_argument for one of other elements.
    std::vector<std::uint8_t> read(std::int64_t first, std::int64_t count) const {
        if (info().type != KNN_UINT8) throw std::invalid_argument("set: expected one of KNN_UINT8");
        check(knn_set_read(get(), first, count, nullptr, nullptr));  // before so much memory is taken
        std::vector<std::uint8_t> elements(static_cast<std::size_t>(count * info().dim));
        check(knn_set_read(get(), first, count, elements.data(), nullptr));
        return elements;
    }
    /// Their labels.
    std::vector<std::uint8_t> read_labels(std::int64_t first, std::int64_t count) const {
        check(knn_set_read(get(), first, count, nullptr, nullptr));
        std::vector<std::uint8_t> labels(static_cast<std::size_t>(count));
        check(knn_set_read(get(), first, count, nullptr, labels.data()));
        return labels;
    }
    /// Its handle, for functions of knn.h.
    knn_set* get() const noexcept { return handle_.get(); }

  private:
    std::unique_ptr<knn_set, Free<knn_set_free>> handle_;
};

/// Called now and then; true stops the call, which then throws an error with KNN_STOPPED. What it throws, the call throws.
using progress = std::function<bool(std::int64_t done, std::int64_t total)>;

/// A progress function as a callback in C.
class callback {
  public:
    /// `function` outlives it.
    explicit callback(const progress& function) : function_(function) {}

    /// Sets the two fields of options or settings.
    void put_in(auto& fields) {
        if (!function_) return;
        fields.progress = [](void* self, std::int64_t done, std::int64_t total) noexcept {
            return static_cast<callback*>(self)->call(done, total);
        };
        fields.data = this;
    }
    /// Throws what the function threw, or what is not KNN_OK.
    void check(knn_status status) const {
        if (thrown_) std::rethrow_exception(thrown_);
        mnist_knn::check(status);
    }

  private:
    int call(std::int64_t done, std::int64_t total) noexcept {
        try {
            return function_(done, total) ? 1 : 0;
        } catch (...) {
            thrown_ = std::current_exception();
            return 1;
        }
    }

    const progress& function_;
    std::exception_ptr thrown_;
};

/// Row i of an array of rows of `k`.
template <class T>
std::span<const T> row_of(const std::vector<T>& all, std::int64_t i, std::int64_t k) {
    return std::span(all).subspan(static_cast<std::size_t>(i * k), static_cast<std::size_t>(k));
}

/// count * k, row by row.
struct neighbors {
    std::int32_t k = 0;                  ///< neighbors of each query
    std::vector<std::uint32_t> indices;  ///< in the set
    std::vector<double> distances;       ///< as knn_neighbors::distances

    /// k of one query.
    std::span<const std::uint32_t> indices_of(std::int64_t query) const { return row_of(indices, query, k); }
    /// k of one query.
    std::span<const double> distances_of(std::int64_t query) const { return row_of(distances, query, k); }
};

/// What classify() is to fill in beside labels and shares.
struct wanted {
    bool probabilities = false;  ///< that the label is right
    double reject = 0;           ///< as knn_options::reject
};

/// One for each query; empty where not wanted.
struct answers {
    std::vector<std::uint8_t> labels;    ///< the class that won
    std::vector<double> vote_shares;     ///< the winner's share of the votes
    std::vector<double> probabilities;   ///< that the label is right
    std::vector<std::uint8_t> rejected;  ///< 1: rejected
};

/// The digits of a picture, in reading order.
class digits {
  public:
    /// Takes the handle over.
    explicit digits(knn_digits* made) : handle_(made) {}
    /// How many there are.
    std::int64_t size() const {
        std::int64_t count = 0;
        check(knn_digits_get_count(handle_.get(), &count));
        return count;
    }
    /// Digit `i`; its pointers are valid as long as this object.
    knn_digit operator[](std::int64_t i) const {
        knn_digit digit = sized<knn_digit>();
        check(knn_digits_get(handle_.get(), i, &digit));
        return digit;
    }

  private:
    std::unique_ptr<knn_digits, Free<knn_digits_free>> handle_;
};

/// knn_settings.
struct settings {
    /// As there.
    ///@{
    const char *method = nullptr, *metric = nullptr;
    double p = 0;
    const char *weights = nullptr, *tie = nullptr, *device = nullptr, *engine = nullptr;
    std::int64_t memory = 0;
    std::int32_t k = 0, threads = 0;
    ///@}
};

/// An open training set, which several threads may search.
class index {
  public:
    /// As knn_index_create.
    explicit index(const set& set, const settings& chosen = {}, const progress& on_progress = {}) {
        open(chosen, on_progress, [&](const knn_settings& settings, knn_index** made) {
            return knn_index_create(set.get(), &settings, made);
        });
    }
    /// As saved in a file.
    static index saved(const set& set, const std::string& file, const settings& chosen = {},
                       const progress& on_progress = {}) {
        index opened;
        opened.open(chosen, on_progress, [&](const knn_settings& settings, knn_index** made) {
            return knn_index_open(set.get(), c_name(file), &settings, made);
        });
        return opened;
    }

    /// As knn_index_save.
    void save(const std::string& file) const { check(knn_index_save(get(), c_name(file))); }
    /// What it is.
    knn_index_info info() const {
        knn_index_info info = sized<knn_index_info>();
        check(knn_index_get_info(get(), &info));
        return info;
    }

    /// The k nearest vectors of each query.
    neighbors search(const knn_vectors& queries, std::int32_t k, const progress& on_progress = {}) const {
        return find(queries.count, k, on_progress, [&](const knn_options& options, knn_neighbors& out) {
            return knn_search(get(), &queries, &options, &out);
        });
    }
    /// Of vectors of the set.
    neighbors search_rows(std::span<const std::uint32_t> rows, std::int32_t k,
                          const progress& on_progress = {}) const {
        const auto count = static_cast<std::int64_t>(rows.size());
        return find(count, k, on_progress, [&](const knn_options& options, knn_neighbors& out) {
            return knn_search_rows(get(), rows.data(), count, &options, &out);
        });
    }
    /// Of the first `count` of the set.
    neighbors search_first(std::int64_t count, std::int32_t k, const progress& on_progress = {}) const {
        return find(count, k, on_progress, [&](const knn_options& options, knn_neighbors& out) {
            return knn_search_rows(get(), nullptr, count, &options, &out);
        });
    }

    /// Labels by the votes of the neighbors.
    answers classify(const knn_vectors& queries, const wanted& want = {},
                     const progress& on_progress = {}) const {
        return answer(queries.count, want, on_progress, [&](const knn_options& options, knn_answers& out) {
            return knn_classify(get(), &queries, &options, &out);
        });
    }
    /// Of vectors of the set, each by all others.
    answers classify_rows(std::span<const std::uint32_t> rows, const wanted& want = {},
                          const progress& on_progress = {}) const {
        const auto count = static_cast<std::int64_t>(rows.size());
        return answer(count, want, on_progress, [&](const knn_options& options, knn_answers& out) {
            return knn_classify_rows(get(), rows.data(), count, &options, &out);
        });
    }

    /// `encoded`: a picture file's bytes. `many`: any number of digits.
    digits read_digits(std::span<const std::uint8_t> encoded, bool many = false, double reject = 0,
                       const progress& on_progress = {}) const {
        if (encoded.empty())
            throw std::invalid_argument("picture: is empty; expected a picture file's bytes");
        knn_picture picture = sized<knn_picture>();
        picture.data = encoded.data();
        picture.size = static_cast<std::int64_t>(encoded.size());
        picture.many = many ? 1 : 0;
        return read_digits(picture, reject, on_progress);
    }
    /// Of a picture of pixels, or encoded; struct_size is set here.
    digits read_digits(knn_picture picture, double reject = 0, const progress& on_progress = {}) const {
        picture = sized(picture);
        knn_options options = sized<knn_options>();
        options.reject = reject;
        callback own(on_progress);
        own.put_in(options);
        knn_digits* made = nullptr;
        own.check(knn_digits_read(get(), &picture, &options, &made));
        return digits(made);
    }
    /// Its handle, for functions of knn.h.
    knn_index* get() const noexcept { return handle_.get(); }

  private:
    index() = default;
    void open(const settings& chosen, const progress& on_progress, const auto& call) {
        knn_settings known = {
            sizeof(knn_settings), chosen.method, chosen.metric, chosen.p,      chosen.weights,
            chosen.tie,           chosen.device, chosen.engine, chosen.memory, chosen.k,
            chosen.threads,       nullptr,       nullptr};
        callback own(on_progress);
        own.put_in(known);
        knn_index* made = nullptr;
        own.check(call(known, &made));
        handle_.reset(made);
    }
    static neighbors find(std::int64_t count, std::int32_t k, const progress& on_progress, const auto& call) {
        knn_options options = sized<knn_options>();
        callback own(on_progress);
        own.put_in(options);
        knn_neighbors out = KNN_NEIGHBORS(count, k);
        neighbors found{k, {}, {}};
        constexpr std::int64_t many = 1 << 24;
        if (k > 0 && count > many / k)
            own.check(call(options, out));  // before so much memory is taken: whether the set has as many
        if (count > 0 && k > 0) {           // else an error, or nothing
            found.indices.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(k));
            found.distances.resize(found.indices.size());
        }
        out.indices = found.indices.data();
        out.distances = found.distances.data();
        own.check(call(options, out));
        return found;
    }
    static answers answer(std::int64_t count, const wanted& want, const progress& on_progress,
                          const auto& call) {
        knn_options options = sized<knn_options>();
        options.reject = want.reject;
        callback own(on_progress);
        own.put_in(options);
        const auto n = static_cast<std::size_t>(count > 0 ? count : 0);
        knn_answers out = KNN_ANSWERS(count);
        answers all;
        all.labels.resize(n);
        all.vote_shares.resize(n);
        out.labels = all.labels.data();
        out.vote_shares = all.vote_shares.data();
        if (want.probabilities) {
            all.probabilities.resize(n);
            out.probabilities = all.probabilities.data();
        }
        if (want.reject > 0) {
            all.rejected.resize(n);
            out.rejected = all.rejected.data();
        }
        own.check(call(options, out));
        return all;
    }

    std::unique_ptr<knn_index, Free<knn_index_free>> handle_;
};

}  // namespace mnist_knn

#endif
