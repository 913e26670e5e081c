#pragma once
/// The program started by mpirun, on this machine or on two hosts that it plays (two_hosts.sh).

#include "tests/cli/program.h"

namespace knn::test {

/// Whether this build and this machine have MPI, and can play two hosts; skips the test case if not.
bool have_mpi();
bool have_hosts();

/// Temporary files go into this folder too, which is the working folder.
RunOptions in_folder(const Folder& folder);

/// Where mpirun starts processes. On two hosts rank 0 is on the first, rank 1 on the second one, and so on in turn; that no
/// process is left there is checked by the script, which exits with 99 then.
enum class On { this_machine, two_hosts };

/// `words` begin with mpirun's own options.
RunResult mpirun(const Words& words, RunOptions options, On on = On::this_machine);

/// `n` ranks of the program.
RunResult ranks(int n, const Words& words, const RunOptions& options, On on = On::this_machine);

/// Our errors; mpirun adds lines of its own where a process does not end with 0.
std::vector<std::string> own_errors(const std::string& text);
void check_one_error(const RunResult& result, int exit_code, const std::string& expected);

/// No file but those of the data set, and none begun. Open MPI's session folder is not ours.
void check_only(const Folder& folder, const std::vector<std::string>& names);

}  // namespace knn::test
