#include "data/vectors/sets.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "data/core/errors.h"
#include "data/core/format.h"

namespace knn {

namespace fs = std::filesystem;

namespace {

/// The named file of labels, or the one beside the vectors, if there is one.
fs::path labels_of(const std::string& vectors, const std::string& named) {
    std::error_code none;
    if (!named.empty()) return named;
    for (const fs::path& beside : label_names(vectors))
        if (fs::is_regular_file(beside, none)) return beside;
    return {};
}

DataLocation locate_vectors(const DataOptions& options, bool both) {
    if (options.train.empty())
        throw UsageError("§test " + options.test + ": has no training set; expected §train FILE with it");
    if (both && options.test.empty())
        throw UsageError("§train " + options.train + ": has no test set; expected §test FILE with it");
    DataLocation location;
    location.vectors = true;
    location.label_column = options.label_column;
    location.source = options.train;
    location.files = {options.train, labels_of(options.train, options.train_labels)};
    location.train_labels_named = !options.train_labels.empty();
    location.training_only = !both;
    if (!both) return location;
    location.source += ", " + options.test;
    location.files.emplace_back(options.test);
    location.files.push_back(labels_of(options.test, options.test_labels));
    location.test_labels_named = !options.test_labels.empty();
    return location;
}

bool names_vectors(const DataOptions& options) {
    return !options.train.empty() || !options.test.empty();
}

/// Vectors with their labels. `labels`: the file of the labels, which becomes empty where the vectors have their own. `option` names what is
/// missing.
VectorSet read_set(const fs::path& file, fs::path& labels, bool named, const char* option,
                   const std::string& label_column, std::int64_t first, const LoadOptions& options) {
    VectorSet set =
        load_vectors(file, {label_column, first, options.threads, options.free_bytes, options.memory});
    if (!named && set.has_labels()) labels.clear();
    if (!labels.empty()) {
        // One more than there are rows says that there are too many: the others would only take memory.
        set.labels = load_labels(labels, first > 0 ? first : set.count + 1);
        const auto n = static_cast<std::int64_t>(set.labels.numbers.size());
        if (n != set.count)
            throw DataError(labels.string() + ": has " + (n > set.count ? "more than " : "") +
                            counted(std::min(n, set.count), "label") + " for the " +
                            counted(set.count, "row") + " of " + file.string() +
                            "; expected one label for each row");
    }
    if (options.labels_needed && !set.has_labels())
        throw DataError(file.string() + ": has no labels; expected " + option +
                        " FILE, §label-column of a CSV, or " + labels_beside(file).string());
    return set;
}

LabeledImages with_shape(VectorSet& set, bool images, ElementType type, std::pmr::memory_resource* memory) {
    if (set.type != type) set.elements = converted(set.rows(), type, memory);
    const ImageShape shape = images ? set.shape : ImageShape{1, static_cast<int>(set.dim)};
    return {set.count, shape.rows,      shape.cols, std::move(set.elements), std::move(set.labels.numbers),
            type,      set.are_images()};
}

Dataset load_vector_sets(const DataLocation& location, const LoadOptions& options) {
    std::vector<fs::path> files = location.files;
    VectorSet train = read_set(files[0], files[1], location.train_labels_named, "§train-labels",
                               location.label_column, options.first.train, options);
    Dataset data;
    data.name = train.name;
    data.source = location.source;
    data.named_vectors = true;
    data.label_column = location.label_column;
    std::optional<VectorSet> test;
    if (!location.training_only) {
        LoadOptions rest = options;
        if (rest.free_bytes >= 0)
            rest.free_bytes = std::max<std::int64_t>(0, rest.free_bytes - train.rows().bytes());
        test = read_set(files[2], files[3], location.test_labels_named, "§test-labels", location.label_column,
                        options.first.test, rest);
    }
    data.files = std::move(files);
    check_label_column(location.label_column, train, test ? &*test : nullptr);
    if (test) check_same_columns(train, *test);
    if (test) unify_classes(train.labels, test->labels, location.source);
    const ElementType type = test ? common_type(train.type, test->type) : train.type;
    const bool images = train.are_images() && (!test || test->are_images());
    data.train = with_shape(train, images, type, options.memory);
    if (test) data.test = with_shape(*test, images, type, options.memory);
    data.classes = std::move(train.labels.classes);
    data.labels = occurring_labels(data);
    return data;
}

}  // namespace

DataLocation locate_data(const DataOptions& options) {
    return names_vectors(options) ? locate_vectors(options, true) : locate(options);
}

DataLocation locate_training_data(const DataOptions& options) {
    return names_vectors(options) ? locate_vectors(options, false) : locate_training(options);
}

Dataset load_data(const DataLocation& location, const LoadOptions& options) {
    return location.vectors ? load_vector_sets(location, options)
                            : load(location, options.memory, options.first);
}

std::string not_images(const std::string& file, std::int64_t rows, std::int64_t columns) {
    return file + ": " + counted(rows, "row") + " of " + counted(columns, "column") +
           ", not images; expected images";
}

std::string not_images(const Dataset& data) {
    const bool is_test = data.train.are_images && !data.test.are_images;
    return not_images(data.files.empty() ? data.source : data.files[is_test ? 2 : 0].string(),
                      (is_test ? data.test : data.train).count, data.train.dim());
}

}  // namespace knn
