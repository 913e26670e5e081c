#include "app/view/select.h"

#include <algorithm>
#include <tuple>

#include "data/core/errors.h"

namespace knn {

namespace {

std::uint8_t truth_of(const Evaluation& evaluation, std::int64_t image) {
    return evaluation.data->test.labels.data()[image];
}

const Vote& vote_of(const Evaluation& evaluation, std::int64_t image) {
    return evaluation.found.votes[static_cast<std::size_t>(image)];
}

bool admits(const std::vector<std::int64_t>& wanted, std::int64_t value) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

/// "0, 1, 2 or 9"; of many classes the first and the last.
std::string classes_text(const std::vector<std::uint8_t>& labels) {
    if (labels.size() > 12)
        return "one of the " + std::to_string(labels.size()) + " classes, " + std::to_string(labels.front()) +
               " to " + std::to_string(labels.back());
    std::string text;
    for (std::size_t i = 0; i < labels.size(); ++i)
        text += (i == 0 ? "" : i + 1 == labels.size() ? " or " : ", ") + std::to_string(labels[i]);
    return text;
}

void check_labels(const char* option, const std::vector<std::int64_t>& wanted,
                  const std::vector<std::uint8_t>& labels) {
    for (const std::int64_t label : wanted)
        if (std::find(labels.begin(), labels.end(), label) == labels.end())
            throw UsageError(std::string(option) + " " + std::to_string(label) +
                             ": no such label in this data set; expected " + classes_text(labels));
}

std::string listed(const std::vector<std::int64_t>& values) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i)
        text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + std::to_string(values[i]);
    return text;
}

std::string description_of(const ViewOptions& options) {
    std::string text;
    const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
    if (!options.all && options.indices.empty()) add("misclassified");
    if (!options.indices.empty()) add("index " + listed(options.indices));
    if (!options.true_labels.empty()) add("true label " + listed(options.true_labels));
    if (!options.predicted_labels.empty()) add("predicted " + listed(options.predicted_labels));
    return text.empty() ? "all" : text;
}

/// The heading of a page: "Misclassified digits: true label 4".
std::string title_of(const ViewOptions& options, const std::string& description) {
    if (description == "misclassified") return "Misclassified digits";
    if (description == "all") return "All test digits";
    const std::string rest =
        description.starts_with("misclassified, ") ? description.substr(15) : description;
    return (!options.all && options.indices.empty() ? "Misclassified digits: " : "Test digits: ") + rest;
}

}  // namespace

void sort_images(std::vector<std::int64_t>& images, const Evaluation& evaluation, Order order) {
    const auto key = [&](std::int64_t image) {
        const Vote& vote = vote_of(evaluation, image);
        const bool by_pair = order == Order::pair;
        return std::tuple(by_pair ? truth_of(evaluation, image) : 0, by_pair ? vote.label : 0,
                          order == Order::index ? 0 : -evaluation.confidence[static_cast<std::size_t>(image)],
                          image);
    };
    std::sort(images.begin(), images.end(), [&](std::int64_t a, std::int64_t b) { return key(a) < key(b); });
}

Selection select(const Evaluation& evaluation, const ViewOptions& options, std::int64_t limit) {
    check_labels("--true", options.true_labels, evaluation.data->labels);
    check_labels("--predicted", options.predicted_labels, evaluation.data->labels);
    for (const std::int64_t index : options.indices)
        if (index >= evaluation.n_test)
            throw UsageError("--index " + std::to_string(index) + ": out of range; expected 0 to " +
                             std::to_string(evaluation.n_test - 1));
    Selection selection;
    selection.description = description_of(options);
    Gallery& gallery = selection.gallery;
    gallery.title = title_of(options, selection.description);
    gallery.order = name(options.order);
    const bool right_too = options.all || !options.indices.empty();
    for (std::int64_t image = 0; image < evaluation.n_test; ++image) {
        const int truth = truth_of(evaluation, image), predicted = vote_of(evaluation, image).label;
        if ((right_too || truth != predicted) && admits(options.true_labels, truth) &&
            admits(options.predicted_labels, predicted) && admits(options.indices, image))
            gallery.images.push_back(image);
    }
    selection.found = std::ssize(gallery.images);
    sort_images(gallery.images, evaluation, options.order);
    if (limit > 0 && selection.found > limit) gallery.images.resize(static_cast<std::size_t>(limit));
    return selection;
}

}  // namespace knn
