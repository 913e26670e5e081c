#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <tuple>

#include "app/cli/command_line.h"
#include "app/cli/option_table.h"
#include "app/cli/values.h"
#include "app/commands/pictures.h"
#include "app/commands/saved_evaluation.h"
#include "app/console/console.h"
#include "app/report/page.h"
#include "app/report/text.h"
#include "app/view/shown_window.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/vectors/sets.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

/// The test images that the options select, in their order.
struct Selection {
    Gallery gallery;          ///< at most --limit images
    std::int64_t found = 0;   ///< images that pass the filters
    std::string description;  ///< "misclassified, true label 4, predicted 9"
};

using Numbers = std::vector<std::int64_t>;

bool admits(const Numbers& wanted, std::int64_t value) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

/// "0, 1, 2 or 9"
template <class Value, class Text>
std::string listed(const std::vector<Value>& values, const Text& text) {
    std::vector<std::string> names;
    std::ranges::transform(values, std::back_inserter(names), text);
    return one_of(names);
}

/// As they are to be given; of many classes the first and the last.
std::string classes_text(const Dataset& data) {
    const auto text = [&](std::uint8_t label) { return harmless(data.class_name(label)); };
    const std::vector<std::uint8_t>& labels = data.labels;
    if (labels.size() <= 12) return listed(labels, text);
    return "one of the " + std::to_string(labels.size()) + " classes, " + text(labels.front()) + " to " +
           text(labels.back());
}

/// The labels of classes by their names. Throws UsageError if one is not there.
Numbers labels_of(const char* option, const std::vector<std::string>& names, const Dataset& data) {
    Numbers labels;
    for (const std::string& name : names) {
        const auto found =
            std::ranges::find(data.labels, name, [&](int label) { return data.class_name(label); });
        if (found == data.labels.end())
            throw UsageError(as_given(option, name) + ": no such label in this data set; expected " +
                             classes_text(data));
        labels.push_back(*found);
    }
    return labels;
}

std::pair<Numbers, Numbers> chosen_labels(const Dataset& data, const ViewOptions& options) {
    return {labels_of("--true", options.true_labels, data),
            labels_of("--predicted", options.predicted_labels, data)};
}

std::string description_of(const ViewOptions& options) {
    std::string text;
    const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
    const auto shown = [](const std::string& name) { return class_text(name); };
    if (!options.all && options.indices.empty()) add("misclassified");
    if (!options.indices.empty())
        add("index " + listed(options.indices, [](std::int64_t n) { return std::to_string(n); }));
    if (!options.true_labels.empty()) add("true label " + listed(options.true_labels, shown));
    if (!options.predicted_labels.empty()) add("predicted " + listed(options.predicted_labels, shown));
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

void sort_images(std::vector<std::int64_t>& images, const Evaluation& evaluation, Order order) {
    const auto key = [&](std::int64_t image) {
        const bool by_pair = order == Order::pair;
        return std::tuple(by_pair ? evaluation.truth(image) : 0, by_pair ? evaluation.predicted(image) : 0,
                          order == Order::index ? 0 : -evaluation.confidence[static_cast<std::size_t>(image)],
                          image);
    };
    std::sort(images.begin(), images.end(), [&](std::int64_t a, std::int64_t b) { return key(a) < key(b); });
}

/// Throws UsageError if a label is not one of the classes or an index is beyond the last test image, DataError if there are no images.
void check_selection(const Dataset& data, std::int64_t n_test, const ViewOptions& options) {
    if (!data.are_images()) throw DataError(not_images(data));
    chosen_labels(data, options);
    for (const std::int64_t index : options.indices)
        if (index >= n_test)
            throw UsageError("--index " + std::to_string(index) + ": out of range; expected 0 to " +
                             std::to_string(n_test - 1));
}

Selection select(const Evaluation& evaluation, const ViewOptions& options) {
    Selection selection;
    selection.description = description_of(options);
    Gallery& gallery = selection.gallery;
    gallery.title = title_of(options, selection.description);
    gallery.order = name(options.order);
    const bool right_too = options.all || !options.indices.empty();
    const auto [true_labels, predicted_labels] = chosen_labels(*evaluation.data, options);
    for (std::int64_t image = 0; image < evaluation.n_test; ++image) {
        const int truth = evaluation.truth(image), predicted = evaluation.predicted(image);
        if ((right_too || truth != predicted) && admits(true_labels, truth) &&
            admits(predicted_labels, predicted) && admits(options.indices, image))
            gallery.images.push_back(image);
    }
    selection.found = gallery.found = std::ssize(gallery.images);
    sort_images(gallery.images, evaluation, options.order);
    if (options.limit > 0 && selection.found > options.limit)
        gallery.images.resize(static_cast<std::size_t>(options.limit));
    return selection;
}

constexpr std::int64_t text_limit = 10;  // default number of digits in a terminal

bool wants_window(const ViewOptions& view) {
    return view.sheet.empty() && view.html.empty() && !view.text;
}

bool html_is_printed(const ViewOptions& view) {
    return !view.html.empty() && is_standard_output(view.html);
}

/// Finds out before the search what would fail after it.
void check_forms(const ViewOptions& view) {
    if (!view.sheet.empty() && is_standard_output(view.sheet))
        throw UsageError("--sheet " + view.sheet +
                         ": a sheet may have several pages; expected the name of a file");
    if (html_is_printed(view) && view.text)
        throw UsageError("--html " + view.html +
                         " and --text: both go to standard output; expected one of them");
    if (!view.sheet.empty() && !pictures_available())
        throw DataError(
            "--sheet " + view.sheet +
            ": this build cannot draw pictures; expected a build with OpenCV, or --html or --text");
}

/// OUT.png, or OUT-2.png if there are several pages. A device or a pipe gets one after the other.
std::string page_name(const std::string& file, std::int64_t page, std::int64_t pages) {
    if (pages == 1 || is_no_file(file)) return file;
    const std::size_t stem = file.size() - std::string_view(".png").size();
    return file.substr(0, stem) + '-' + std::to_string(page + 1) + file.substr(stem);
}

/// Text chunks, of the pages of a sheet of several and of a sheet of one, and where: behind the signature and IHDR.
constexpr std::string_view page_mark("\0\0\0\x1ftEXtSoftware\0mnist-knn view --sheet\xca\xa7\xd3\x6e", 43),
    single_mark("\0\0\0\x1ftEXtSoftware\0mnist-knn single sheet\xb3\x6c\xe2\x9a", 43);
constexpr std::ptrdiff_t mark_place = 33;

/// Whether it is such a file: the user's own pictures stay.
bool has_mark(const std::string& file, std::string_view mark) {
    std::error_code none;
    if (!fs::is_regular_file(fs::symlink_status(file, none))) return false;
    std::string begin(mark_place + mark.size(), '\0');
    std::ifstream(file, std::ios::binary).read(begin.data(), std::ssize(begin));
    return begin.ends_with(mark);
}

/// Checks the names of the sheet's pages, whose number depends on the selection.
void check_pages(const ViewOptions& view, const Gallery& gallery, const std::vector<fs::path>& inputs) {
    const std::int64_t pages = sheet_pages(std::ssize(gallery.images));
    if (view.sheet.empty() || page_name(view.sheet, 0, pages) == view.sheet) return;
    std::vector<OutputPlace> outputs;
    if (!view.html.empty()) outputs.push_back({"--html", view.html});
    for (std::int64_t page = 0; page < pages; ++page)
        outputs.push_back(
            {"--sheet", page_name(view.sheet, page, pages), false, false,
             [file = page_name(view.sheet, page, pages)] { return has_mark(file, page_mark); }});
    check_distinct(outputs);
    check_outputs(outputs, inputs);
}

/// Removes what an earlier sheet of this name had more, pages or its only one. Returns a sentence about it.
std::string remove_old_pages(const std::string& file, std::int64_t pages) {
    if (is_no_file(file)) return "";
    std::vector<std::string> old;
    if (pages > 1 && has_mark(file, single_mark)) old.push_back(file);
    std::int64_t page = pages == 1 ? 0 : pages;
    for (std::string name; has_mark(name = page_name(file, page, page + 2), page_mark); ++page)
        old.push_back(name);
    for (const std::string& name : old) {
        std::error_code error;
        if (!fs::remove(name, error))
            throw DataError(name + ": " + error.message() +
                            "; expected to remove this page of an earlier sheet");
    }
    if (old.empty()) return "";
    return "removed " + counted(std::ssize(old), "page") + " of an earlier sheet, from " +
           harmless(old.front()) + " on\n";
}

std::vector<OutputFile> files_of(const ViewOptions& view, const Evaluation& evaluation,
                                 const Gallery& gallery) {
    std::vector<OutputFile> files;
    if (!view.sheet.empty()) {
        const std::int64_t pages = sheet_pages(std::ssize(gallery.images));
        for (std::int64_t page = 0; page < pages; ++page)
            files.push_back({page_name(view.sheet, page, pages),
                             [&evaluation, &gallery, page, several = pages > 1](std::ostream& out) {
                                 std::vector<std::uint8_t> png =
                                     sheet_png(sheet_of(evaluation, gallery, page));
                                 const std::string_view mark = several ? page_mark : single_mark;
                                 png.insert(png.begin() + mark_place, mark.begin(), mark.end());
                                 put(out, png);
                             }});
    }
    if (!view.html.empty())
        files.push_back({view.html, [&](std::ostream& out) { out << html_page(evaluation, gallery); }});
    return files;
}

/// "24 digits selected (misclassified, true label 4)".
std::string found_text(const Selection& selection) {
    const bool none = selection.found == 0;
    const std::int64_t shown = std::ssize(selection.gallery.images);
    return (none ? "nothing to show" : counted(selection.found, "digit") + " selected") + " (" +
           selection.description + ")" +
           (shown == selection.found ? ""
            : shown == 1             ? ", the first one shown"
                                     : ", the first " + with_commas(shown) + " shown") +
           (none && selection.description.starts_with("misclassified")
                ? "; --all shows digits that are right too"
                : "");
}

/// "312 of 10,000 test images are misclassified; 24 digits selected (misclassified, true label 4)".
std::string summary(const Evaluation& evaluation, const Selection& selection) {
    const Score& score = evaluation.score;
    const std::int64_t wrong = score.total - score.correct;
    return with_commas(wrong) + " of " + with_commas(score.total) + " test " + noun(score.total, "image") +
           ' ' + (wrong == 1 || score.total == 1 ? "is" : "are") + " misclassified; " +
           found_text(selection) + '\n';
}

std::string shown_text(const Evaluation& evaluation, const Selection& selection,
                       const OutputOptions& output) {
    const Gallery& gallery = selection.gallery;
    std::string text = block_text(evaluation, gallery, selection.found, use_color(output.color));
    if (std::ssize(gallery.images) < selection.found && !output.quiet)
        text += '\n' + with_commas(std::ssize(gallery.images)) + " of " + counted(selection.found, "digit") +
                " shown; --limit " + std::to_string(selection.found) + " shows all\n";
    return text;
}

}  // namespace

int view(const Options& options, Clock::time_point start) {
    const ViewOptions& view = options.view;
    const OutputOptions& output = options.output;
    check_forms(view);
    std::optional<SavedReport> report;
    if (!view.from.empty()) report = read_image_report(view.from);
    if (wants_window(view)) check_window(view_without_window);
    ShownEvaluation shown(options, report, start, [&](const Dataset& data, std::int64_t n_test) {
        check_selection(data, n_test, view);
    });
    const Evaluation& evaluation = shown.evaluation();
    const Selection selection = select(evaluation, view);
    check_pages(view, selection.gallery, shown.set().files());
    Selection in_text = selection;  // a terminal gets fewer
    if (view.limit == 0 && std::ssize(in_text.gallery.images) > text_limit)
        in_text.gallery.images.resize(text_limit);
    const bool text_alone = view.text && view.html.empty();
    if (view.text || !view.html.empty() || wants_window(view))  // a sheet has no neighbors
        shown.complete((text_alone ? in_text : selection).gallery.images);

    const bool quiet = output.quiet || html_is_printed(view);
    if (html_is_printed(view) && selection.found == 0) note(found_text(selection), output);
    std::string told = summary(evaluation, selection);
    const std::vector<OutputFile> files = files_of(view, evaluation, selection.gallery);
    if (quiet) told.clear();
    if (view.text && selection.found > 0)
        told += std::string(told.empty() ? "" : "\n") + shown_text(evaluation, in_text, output);
    write_outputs_together(files);
    if (!view.sheet.empty()) {
        const std::string removed =
            remove_old_pages(view.sheet, sheet_pages(std::ssize(selection.gallery.images)));
        if (!quiet) told += removed;
    }
    if (!told.empty()) print(told);
    if (wants_window(view) && selection.found > 0) show_window(evaluation, selection.gallery.images);
    return 0;
}

}  // namespace knn
