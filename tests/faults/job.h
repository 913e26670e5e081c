#pragma once
/// Commands that write files, run with and without a fault on a small data set of their own.

#include "tests/cli/commands.h"
#include "tests/faults/report.h"

namespace knn::test {

/// Files by name, without what differs from run to run: times are taken out of JSON, and of a page only the end is kept.
using Contents = std::map<std::string, std::string>;

/// A folder with a data set (training files as gzip) and two pictures, for one command.
class Workplace {
  public:
    explicit Workplace(const std::string& command);  ///< its name in cli/commands.h

    /// Runs the job here.
    RunResult run(RunOptions options = {}) const;
    /// Several processes that do the same at the same time; false if one of them failed.
    bool run_at_once(int processes) const;
    Contents outputs() const;

    /// CHECKs that the job succeeds and writes what it should, from whatever cache there is.
    void check_next_run() const;
    /// CHECKs that each output is what it should be, or absent.
    void check_whole_or_absent() const;
    /// Removes what a killed run left.
    void remove_unfinished() const;
    /// CHECKs that no unfinished file is left.
    void check_nothing_unfinished() const;

    /// No outputs, and a cache as if nothing had ever run, or as a run left it that nothing befell.
    void forget() const;
    void remember() const;
    std::vector<std::filesystem::path> cache_files() const;

    const Contents& expected() const { return expected_; }
    double seconds() const { return seconds_; }  ///< of a run without a cache
    std::string path() const { return folder_.path().string(); }

  private:
    RunOptions here() const;

    const Command& job_;
    Words words_;
    Folder folder_;
    double seconds_ = 0;
    Contents expected_;
};

/// Whether everything is tried, which takes long, and not some of it: MNIST_KNN_FAULTS=all, or I/N.
bool try_all();

/// MNIST_KNN_FAULTS=I/N: of all places the I-th of each N, so that N processes share them. Else all: 1/1.
struct FaultShare {
    unsigned long long first = 1, of = 1;
};
FaultShare fault_share();

}  // namespace knn::test
