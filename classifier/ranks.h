#pragma once
/// Processes that search together, started by mpirun: the ranks of one job. All of them run the same program on the
/// same data and call the functions of this file in the same order.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/core/timeline.h"

namespace knn {

/// Bytes to or from each rank.
using Outgoing = std::vector<std::span<const std::byte>>;
using Incoming = std::vector<std::span<std::byte>>;

/// One process of a job, and among those of its host.
struct Job {
    int rank = 0, size = 1;
    int local_rank = 0, local_size = 1;
};
/// What mpirun says in the environment, without the host; one process if it did not start this one.
Job started_job();

class Ranks {
  public:
    explicit Ranks(const Job& job) : job_(job) {}
    virtual ~Ranks() = default;

    int rank() const { return job_.rank; }
    int size() const { return job_.size; }
    int local_rank() const { return job_.local_rank; }
    int local_size() const { return job_.local_size; }

    /// Sends send[r] to rank r and fills receive[r] with what rank r sends; both ends know the sizes. `stop` may be
    /// null. Throws Interrupted.
    virtual void exchange(const Outgoing& send, const Incoming& receive, const std::atomic<bool>* stop) = 0;

    /// All ranks call it before they end with success.
    virtual void finish() = 0;
    /// Ends this process and the whole job.
    [[noreturn]] virtual void abort(int exit_code) = 0;

  private:
    Job job_;
};

/// Every rank gets the bytes of all ranks, of any size.
std::vector<std::vector<std::uint8_t>> gather_all(Ranks& ranks, std::span<const std::uint8_t> mine,
                                                  const std::atomic<bool>* stop);

/// The timeline of all ranks from that of each: the slowest of each stage, and the time of each rank.
Timeline gather_timeline(Ranks& ranks, const Timeline& mine, double ms, const std::atomic<bool>* stop);

/// Joins the job. Throws DataError if this build has no MPI or its library cannot be loaded.
std::unique_ptr<Ranks> join_ranks();

/// The version of the MPI library; throws DataError as `join_ranks`.
std::string mpi_version();

/// What the module mnist-knn-mpi exports, as `extern "C" const MpiModule mnist_knn_mpi`. The program loads it only where
/// mpirun started it: the MPI library takes time to load, and the same program runs where there is none. Errors of MPI
/// itself end the job, as MPI does by default.
struct MpiModule {
    const char* (*version)();  ///< one line
    Job (*start)();
    /// As Ranks::exchange; false if it was stopped.
    bool (*exchange)(const Outgoing& send, const Incoming& receive, const std::atomic<bool>* stop);
    void (*finish)();
    void (*abort)(int exit_code);
};

}  // namespace knn
