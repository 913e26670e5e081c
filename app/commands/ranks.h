#pragma once
/// This process among those that mpirun started.

#include <stdexcept>
#include <string>
#include <vector>

#include "app/cli/command_line.h"
#include "data/core/device_index.h"

namespace knn {

/// All ranks end, for a reason that all of them know: a difference between them, or the error of one of them.
struct RanksEnd : std::runtime_error {
    RanksEnd(const std::string& what, int code) : std::runtime_error(what), exit_code(code) {}
    int exit_code;
};

/// Joins the job if mpirun started several processes; `words` is the command line. Ranks other than 0 print nothing
/// from here on. Throws DataError if this build has no MPI.
void start_ranks(const std::vector<std::string>& words);

/// Before the command runs: it searches with all ranks (options.request.ranks, which reaches Index by Resolved::ranks), and
/// only the options of rank 0 keep the names of files to write. Returns whether this rank has anything to do: commands that do
/// not search run on rank 0 alone. Throws UsageError for those that cannot share.
bool prepare_rank(const Command& command, Options& options);

/// All ranks come here before they search. Throws RanksEnd unless they have the same version, options and data, or if one
/// of them failed before.
void agree_on(const Training& training, const Rows& queries = {});

/// The end of the process with success: waits for the other ranks. Returns the exit code: that of a rank that failed,
/// after printing its error.
int end_ranks(int exit_code);
/// The end with an error, which is printed once: before all have agreed, after asking all of them; later at once, with
/// the other ranks. Returns the exit code of the process.
int fail_ranks(const std::string& what, int exit_code);

}  // namespace knn
