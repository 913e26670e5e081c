#pragma once
/// The source of the answers that `view` shows: a report, or a new evaluation.

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "app/cli/options.h"
#include "app/commands/loading.h"
#include "app/console/destinations.h"
#include "app/report/report_file.h"
#include "classifier/evaluation.h"

namespace knn {

/// Throws UsageError if --from is combined with an option that the report determines (-k, --weights ...).
void check_source(const Options& options);

/// The data set that a report names: its four files, or, if it does not name them, the folder. Throws DataError.
DataLocation location_of(const SavedReport& report);

/// The predictions.csv beside a report.
std::filesystem::path predictions_of(const SavedReport& report);

/// The answers and their data set.
///
/// For a report, the votes come from the predictions.csv next to it if the two agree, else from a new search
/// with the report's settings. Either way they must give the report's confusion matrix, so that data of
/// another data set is never shown.
class Source {
  public:
    /// `report`: what --from names. Checks `outputs` against the inputs before the search. Throws DataError,
    /// DeviceError, UsageError.
    Source(const Options& options, std::optional<SavedReport> report, const Destinations& outputs,
           std::chrono::steady_clock::time_point start);
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    /// Votes of all images; neighbors of those passed to `complete`.
    const Evaluation& evaluation() const { return evaluation_; }

    /// All files that were read.
    const std::vector<std::filesystem::path>& inputs() const { return inputs_; }

    /// Searches the neighbors of these test images, unless they are known. Throws DataError if the votes then
    /// differ from the report.
    void complete(const std::vector<std::int64_t>& images);

  private:
    /// Throws DeviceError, DataError, Interrupted.
    Results search(const Rows& images);
    void from_report(const SavedReport& report, const Destinations& outputs);
    void check_data(const SavedReport& report) const;
    bool take_predictions(const SavedReport& report);
    void search_again(const SavedReport& report);

    void open(Planner& planner, const DataLocation& location);

    Options options_;
    std::vector<std::filesystem::path> inputs_;
    std::unique_ptr<LoadedSet> set_;
    Resolved resolved_;
    std::unique_ptr<Index> index_;  ///< once something is searched
    Evaluation evaluation_;
    bool neighbors_known_ = true;
};

}  // namespace knn
