#pragma once
/// Digits in pictures, answered by a training set and what is fitted to it: for `classify` and `draw`.

#include <memory>
#include <optional>

#include "app/cli/options.h"
#include "app/commands/loading.h"
#include "classifier/confidence.h"
#include "classifier/extra_rows.h"
#include "classifier/index.h"
#include "classifier/picture_answers.h"
#include "data/set/locate.h"

namespace knn {

/// The training set, and what its own digits look like to one another.
struct LoadedTraining {
    TrainingSet set;                         ///< the first images, as many as the options want
    std::string source;                      ///< the file of the images, or what else it is
    Training all;                            ///< whatever the options want
    std::optional<TrainingSet> drawn = {};   ///< forms that vote beside MNIST (classifier/extra_rows.h)
    std::optional<TrainingSet> taught = {};  ///< with the user's own pictures of no digit
    LeaveOneOut sample = {};                 ///< by fit_for_digits
};

/// Reads the training set, from the cache where that is faster. Throws DataError, UsageError, Interrupted.
LoadedTraining load_for_digits(const DataLocation& location, const Options& options, int threads);

/// What is fitted to it comes from the cache too, or is fitted on the CPU, which may take seconds, and kept there. Before
/// the first search. Throws the same.
void fit_for_digits(LoadedTraining& training, const Options& options, int threads);

/// Throws UsageError, DeviceError where no such search is possible.
void check_for_digits(const LoadedTraining& training, const Options& options);

/// Searches for digits in a training set, says how sure the answers are, and rejects what is no digit.
class DigitSearch {
  public:
    /// For `n_query` rows at a time: on the CPU if they are few and the user asks for no device. `training` must outlive this.
    /// Throws UsageError, DeviceError.
    DigitSearch(const LoadedTraining& training, const Options& options, std::int64_t n_query);

    /// Searches for all digits at once and writes the answers into them. Throws as Index::search.
    Results answer(std::span<Answer* const> digits, const ProgressToken& token) const;
    /// Then, of all digits of the pictures: choose_answers (classifier/picture_answers.h). Throws the same.
    void choose(std::span<PictureAnswer> pictures, const ProgressToken& token) const;

    /// Makes at once what pays for so many digits, which will come in small numbers. Throws Interrupted.
    void expect(std::int64_t digits, const ProgressToken& token) const { index_.expect(digits, token); }

  private:
    Index index_;
    std::unique_ptr<ExtraRows> extra_;  ///< null: none
    const LeaveOneOut& sample_;         ///< of the training set given
    AnswerScorer scorer_;
    std::optional<double> loss_;  ///< the share of digits that may be rejected; none: nothing is
};

}  // namespace knn
