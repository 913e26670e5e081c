#include "classifier/statistics.h"

#include <algorithm>
#include <array>
#include <optional>
#include <ostream>

#include "app/cli/command.h"
#include "app/console/destinations.h"
#include "app/console/notes.h"
#include "app/console/output.h"
#include "app/report/compare_report.h"
#include "app/report/csv.h"
#include "app/report/json.h"
#include "app/view/source.h"
#include "data/core/errors.h"
#include "data/core/format.h"

namespace knn {

namespace {

/// A report with its answers.
struct Side {
    SavedReport report;
    Predictions predictions;

    explicit Side(const std::string& file) : report(read_report(file)) {
        if (report.file == "standard input")
            throw UsageError("-: has no predictions.csv beside it; expected the name of a report");
        Evaluation& evaluation = report.evaluation;
        const std::string csv = predictions_of(report).string();
        predictions = read_predictions(csv, evaluation.n_test);
        const std::vector<std::uint8_t>& labels = evaluation.score.labels;
        const auto known = [&](std::uint8_t label) {
            return std::binary_search(labels.begin(), labels.end(), label);
        };
        bool fits = std::all_of(predictions.truth.begin(), predictions.truth.end(), known) &&
                    std::all_of(predictions.votes.begin(), predictions.votes.end(),
                                [&](const Vote& vote) { return known(vote.label); });
        if (fits) {
            const Score counted = score(predictions.votes, predictions.truth, labels);
            fits = counted.confusion == evaluation.score.confusion;
            evaluation.score = counted;
        }
        if (!fits)
            throw DataError(csv +
                            ": is not of the report beside it; expected the one that 'mnist-knn evaluate "
                            "--report' wrote with it");
    }
};

/// Throws DataError unless both are of one test set.
void check_same_test_set(const Side& a, const Side& b, const OutputOptions& output) {
    const auto refuse = [&](const std::string& what) {
        const bool pictures = a.report.of_pictures && b.report.of_pictures;
        throw DataError(
            a.report.file + ": is of another test set than " + b.report.file + " (" + what +
            (pictures ? ": of the same pictures, each method answers others, in another size" : "") +
            "); expected two reports of one test set");
    };
    const auto counts = [](const Side& side) {
        return with_commas(side.report.evaluation.n_test) + " images";
    };
    if (a.predictions.truth.size() != b.predictions.truth.size()) refuse(counts(a) + " and " + counts(b));
    if (a.report.rows != b.report.rows || a.report.cols != b.report.cols) refuse("images of another size");
    if (a.predictions.truth != b.predictions.truth) refuse("other labels");
    const std::string &sum_a = a.report.test_checksum, &sum_b = b.report.test_checksum;
    if (!sum_a.empty() && !sum_b.empty() && sum_a != sum_b) refuse("other images");
    if (sum_a.empty() || sum_b.empty())
        note((sum_a.empty() ? a : b).report.file +
                 ": an older version wrote it, without a checksum of the test set: compared by labels alone",
             output);
}

/// The data set of the reports, if it is found, with the same test set.
class Pictures {
  public:
    Pictures(const Side& a, const Side& b, const Options& options) {
        const bool named = names_data(options);
        const Side& with_sum = a.report.test_checksum.empty() ? b : a;
        try {
            location_ = named ? locate(options.data) : location_of(with_sum.report);
            data_ = load(location_);
        } catch (const DataError& error) {
            if (named) throw;
            note(std::string("a page without pictures: ") + error.what(), options.output);
            return;
        }
        const std::string& sum = with_sum.report.test_checksum;
        const std::int64_t n = with_sum.report.evaluation.n_test;
        const auto labels = data_.test.labels.span();
        const bool same =
            n <= data_.test.count &&
            std::equal(a.predictions.truth.begin(), a.predictions.truth.end(), labels.begin()) &&
            (sum.empty() || sum == test_checksum(data_.test, n));
        if (same)
            found_ = true;
        else
            note("a page without pictures: " + data_.source + " is not the reports' data set",
                 options.output);
    }
    const LabeledImages* test() const { return found_ ? &data_.test : nullptr; }
    std::vector<std::filesystem::path> files() const { return location_.files(); }

  private:
    DataLocation location_;
    Dataset data_;
    bool found_ = false;
};

}  // namespace

int compare(const Options& options, Clock::time_point) {
    const CompareOptions& given = options.compare;
    const Destinations outputs(options);
    const Side a(given.a), b(given.b);
    std::vector<std::filesystem::path> inputs = {a.report.file, b.report.file, predictions_of(a.report),
                                                 predictions_of(b.report)};
    outputs.check(inputs);
    check_same_test_set(a, b, options.output);
    const Comparison result = compare(a.predictions.votes, b.predictions.votes, a.predictions.truth);
    const ComparedReports compared{a.report, b.report, given.a, given.b, result};
    std::optional<Pictures> pictures;
    if (!given.html.empty()) {
        pictures.emplace(a, b, options);
        outputs.check(pictures->files());
    }
    const LabeledImages* test = pictures ? pictures->test() : nullptr;
    write_results({{given.csv, [&](std::ostream& out) { out << compare_csv(compared.result); }},
                   {given.html, [&](std::ostream& out) { out << compare_page(compared, test); }},
                   {options.output.json, [&](std::ostream& out) { out << compare_json(compared); }}},
                  options.output.quiet ? compare_sentence(compared) + '\n' : compare_text(compared));
    return 0;
}

}  // namespace knn
