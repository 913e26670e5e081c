#pragma once
/// The images of a command: where they are, in memory, and with what is fitted to them.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "app/console/console.h"
#include "app/report/text.h"
#include "classifier/confidence.h"
#include "classifier/extra_rows.h"
#include "classifier/index.h"
#include "classifier/picture_answers.h"
#include "classifier/plan.h"
#include "data/core/dataset.h"
#include "data/set/locate.h"

namespace knn {

/// What a command reads: both sets, the training set alone, or that or the images of --images, which have no labels.
enum class Needed { both, training, points };

/// What every command that searches begins with: finds its images, checks the files that it will write against those that
/// it reads, and reads these, into pinned memory for a GPU, while GPUs are looked for.
class LoadedSet {
  public:
    /// `location`: of the data set, if it is known; `also_read`: files beside it. Throws UsageError, DataError, Interrupted.
    LoadedSet(const Options& options, Needed needed, std::optional<DataLocation> location = {},
              const std::vector<std::filesystem::path>& also_read = {});

    /// The files of the images, if they come from a folder of pictures.
    const std::vector<std::string>& pictures() const { return pictures_; }
    /// All files that were read.
    const std::vector<std::filesystem::path>& files() const { return files_; }
    /// What was read: images as far as the options want them; without a test set if none was needed.
    const Dataset& data() const { return data_; }
    /// The first images of each set, limited by the options.
    const TrainingSet& training() const { return *training_; }
    const Rows& queries() const { return queries_; }
    double load_ms() const { return load_ms_; }
    /// The method with the measure of what it compares: real distances unless that is uint8.
    Method method(Method method) const {
        method.measure = measure_of(method.measure, method.compared_type(data_.train.type));
        return method;
    }

    /// The plan of a search of this many queries; prints notes, each once, on synthetic digits, and where it is another plan
    /// than the options say. Throws DeviceError, UsageError.
    Resolved resolve(const Method& method, std::int64_t n_query);

  private:
    void read(const Options& options);
    Dataset read_images(const Options& options) const;

    Needed needed_;
    OutputOptions output_;
    Planner planner_;
    DataLocation location_;              ///< of a data set; of --images its source alone
    std::vector<std::string> pictures_;  ///< of a folder, in the order of the images
    std::vector<std::filesystem::path> files_;
    std::unique_ptr<HostMemory> memory_;
    Dataset data_;
    std::unique_ptr<const TrainingSet> training_;
    Rows queries_;
    std::string data_notice_;      ///< until the first `resolve`
    std::set<std::string> noted_;  ///< of plans
    int threads_;
    double load_ms_ = 0;
};

/// Throws DataError with file, row and column where an element is larger than the method takes, Interrupted.
void check_elements(const std::string& file, const Rows& rows, const Method& method, int threads);

/// What reports say of a search of the training set with itself.
struct SelfSearch {
    explicit SelfSearch(const LoadedSet& loaded) : set(loaded) {}

    const LoadedSet& set;
    Plan plan = {};
    Timeline timeline = {};
    double search_ms = 0, wall_ms = 0;  ///< search_ms includes opening, not the writing

    const std::string& source() const { return set.data().source; }
    const Training& training() const { return set.training().view(); }
    std::int64_t images() const { return training().rows.count; }
};

/// An index, with a progress bar if something has to be fitted. Throws as Index.
std::unique_ptr<Index> open_index(const TrainingSet& training, const Method& method, const Resolved& resolved,
                                  const OutputOptions& output);

/// The files of a training set or a test set in a folder, named as those of MNIST; `images` must outlive them.
std::vector<OutputFile> idx_files(const std::filesystem::path& folder, const LabeledImages& images,
                                  bool test = false);

/// Vectors, or images, as train.npy, with train-labels.npy, or train-labels.csv where the classes have names, beside it.
std::vector<OutputFile> npy_files(const std::filesystem::path& folder, const LabeledImages& set,
                                  const std::vector<std::string>& classes);

/// -k, else 10, or all `others` if these are fewer: the neighbors of each point where no vote decides.
int given_k(const Options& options, std::int64_t others);

std::vector<std::uint8_t> first_labels(const LabeledImages& images, std::int64_t count);

/// The first `n` images and their labels; 0: all.
Training first_images(const Rows& images, std::span<const std::uint8_t> labels, ImageShape shape,
                      std::int64_t n);

// Digits in pictures, answered by a training set and what is fitted to it: for `classify`, `draw` and `serve`.

/// The training set, and what its own digits look like to one another.
struct LoadedTraining {
    TrainingSet set;                         ///< the first images, as many as the options want
    std::string source;                      ///< the file of the images, or what else it is
    Training all;                            ///< whatever the options want
    std::optional<TrainingSet> drawn = {};   ///< forms that vote beside MNIST (classifier/extra_rows.h)
    std::optional<TrainingSet> taught = {};  ///< with the user's own pictures of no digit
    LeaveOneOut sample = {};                 ///< once it is fitted
};

/// Reads the training set, from the cache where that is faster. Throws DataError, UsageError, Interrupted.
LoadedTraining load_for_digits(const DataLocation& location, const Options& options);

/// Throws UsageError, DeviceError where no such search is possible.
void check_for_digits(const LoadedTraining& training, const Options& options);

/// Searches for digits in a training set, says how sure the answers are, and rejects what is no digit.
class DigitSearch {
  public:
    /// For `n_query` rows at a time: on the CPU if they are few and the user asks for no device. What is fitted to `training`, which
    /// must outlive this, comes from the cache, or is fitted on the CPU, which may take seconds, and kept there. Throws UsageError,
    /// DataError, DeviceError, Interrupted.
    DigitSearch(LoadedTraining& training, const Options& options, std::int64_t n_query);

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
