#pragma once
/// The evaluation of a test set; reports opened again, for `view` and `compare`: the data set and the answers of an evaluation.

#include <functional>

#include "app/commands/loading.h"
#include "app/report/csv.h"
#include "app/report/report_file.h"
#include "classifier/evaluation.h"
#include "data/core/clock.h"

namespace knn {

/// The data set that the options name, or else the report: its files, or, if it does not name them, the folder. The pictures
/// of a report of `classify` are beside it. Throws DataError.
DataLocation location_of(const SavedReport& report, const Options& options);

/// The predictions.csv beside a report.
std::filesystem::path predictions_of(const SavedReport& report);

/// What it has; `score` becomes that of these answers. Throws DataError unless they give the report's confusion matrix.
Predictions predictions_beside(const SavedReport& report, Score& score);

/// A test set, classified and scored.
/// Called with the data and the number of test images before they are searched; may throw.
using DataCheck = std::function<void(const Dataset& data, std::int64_t n_test)>;

struct Evaluated {
    std::unique_ptr<LoadedSet> set;
    Evaluation evaluation;  ///< of the images of `set`
};

/// `start`: when the command began; with_confidence: fits confidences. Throws DataError, DeviceError, UsageError, Interrupted.
Evaluated evaluate_test_set(const Options& options, Clock::time_point start, bool with_confidence,
                            const DataCheck& check = {});

/// The evaluation that is shown: that of a report, or one made now. The votes of a report are those of the predictions.csv next to
/// it if the two agree, else those of a new search with the report's settings. Either way they must give the report's confusion
/// matrix, so that data of another data set is never shown.
class ShownEvaluation {
  public:
    /// No `report`: evaluates. Throws DataError, DeviceError, UsageError, Interrupted.
    ShownEvaluation(const Options& options, const std::optional<SavedReport>& report, Clock::time_point start,
                    const DataCheck& check = {});

    /// Votes of all images; neighbors of those passed to `complete`.
    const Evaluation& evaluation() const { return evaluation_; }
    const LoadedSet& set() const { return *set_; }

    /// Searches the neighbors of these test images, unless they are known. Throws DataError if the votes then
    /// differ from the report.
    void complete(const std::vector<std::int64_t>& images);

  private:
    void open(const SavedReport& report);
    Results search(const Rows& images);
    void check_data(const SavedReport& report) const;
    bool take_predictions(const SavedReport& report);
    void search_again(const SavedReport& report);

    Options options_;
    bool of_pictures_ = false;  ///< votes may be those of rows beside the training set, as classify has them
    std::unique_ptr<LoadedSet> set_;
    Resolved resolved_;
    std::unique_ptr<Index> index_;  ///< once something is searched
    Evaluation evaluation_;
    bool neighbors_known_ = false;
};

}  // namespace knn
