#pragma once
/// The answers of an evaluation, made now or read from a report, and the files that they are written to.

#include "app/commands/loading.h"
#include "app/console/terminal.h"
#include "app/report/csv.h"
#include "app/report/report_file.h"

namespace knn {

/// Writes the files of --report, all or none. Throws DataError, Interrupted.
void write_report(const Evaluation& evaluation, const OutputOptions& output);

/// The data set that the options name, or else the report: its files, or, if it does not name them, the folder. The pictures
/// of a report of `classify` are beside it. Throws DataError.
DataLocation location_of(const SavedReport& report, const Options& options);

/// The predictions.csv beside a report.
std::filesystem::path predictions_of(const SavedReport& report);

/// The score of predictions; none if they have a label that is not one of these.
std::optional<Score> score_of(const Predictions& predictions, const std::vector<std::uint8_t>& labels);

/// Throws UsageError if --from is combined with an option that the report determines (-k, --weights ...).
void check_source(const Options& options);

/// The answers that `evaluate` writes and `view` shows, and their data set.
///
/// For a report, the votes come from the predictions.csv next to it if the two agree, else from a new search
/// with the report's settings. Either way they must give the report's confusion matrix, so that data of
/// another data set is never shown.
class Source {
  public:
    /// `report`: what --from names; none: evaluates now, and fits confidences if asked to. Throws DataError, DeviceError,
    /// UsageError.
    Source(const Options& options, const std::optional<SavedReport>& report, Clock::time_point start,
           bool with_confidence = true);
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    /// Votes of all images; neighbors of those passed to `complete`.
    const Evaluation& evaluation() const { return evaluation_; }

    /// All files that were read.
    const std::vector<std::filesystem::path>& inputs() const { return set_->files(); }

    /// Searches the neighbors of these test images, unless they are known. Throws DataError if the votes then
    /// differ from the report.
    void complete(const std::vector<std::int64_t>& images);

  private:
    void open(std::optional<DataLocation> location, const std::vector<std::filesystem::path>& also_read);
    const Index& index();
    Results search(const Rows& images);
    void from_report(const SavedReport& report);
    void check_data(const SavedReport& report) const;
    bool take_predictions(const SavedReport& report);
    void search_again(const SavedReport& report);

    Options options_;
    std::unique_ptr<LoadedSet> set_;
    Resolved resolved_;
    std::unique_ptr<Index> index_;  ///< once something is searched
    Evaluation evaluation_;
    bool neighbors_known_ = true;
};

}  // namespace knn
