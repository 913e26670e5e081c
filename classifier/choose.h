#pragma once
/// Which engine and device a search gets, from what the user asked for and what this machine has.

#include <future>
#include <span>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "classifier/engines.h"

namespace knn {

/// The engine that will run, and what to tell the user about it (empty: nothing).
struct Choice {
    const Engine* engine = nullptr;
    int device = 0;  ///< the GPU's number
    std::string notice;
};

/// The engine for a machine that has this GPU, from a table of them. An engine that the user did not name,
/// with a kernel that the user did not name either, makes way where it cannot answer the problem: for other
/// engines of the GPU, then for the CPU unless a GPU was asked for. Throws UsageError where none is left.
Choice choose_on_gpu(const SearchOptions& options, int gpu, const SearchRequest& request,
                     std::span<const Engine> table);

/// Looks for GPUs on another thread, so that files can be read meanwhile.
class Chooser {
  public:
    /// Throws UsageError where the options contradict each other.
    explicit Chooser(const SearchOptions& options);

    /// The engine whose host memory the data set should be read into: the one that runs if all goes well.
    const Engine& likely() const { return *likely_; }

    /// Waits for the list of GPUs. Throws DeviceError where a GPU was asked for and is not there, UsageError
    /// where no engine that may run accepts the problem.
    Choice choose(const SearchRequest& request);

  private:
    struct Found {
        std::vector<Device> gpus;
        std::string why_none;
    };
    Choice without_gpu(const std::string& why) const;
    Choice on_gpu(const std::vector<Device>& gpus, const SearchRequest& request) const;

    SearchOptions options_;
    const Engine* likely_ = nullptr;
    std::future<Found> found_;  ///< invalid where no GPU is wanted
};

}  // namespace knn
