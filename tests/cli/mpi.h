#pragma once
/// The program started by mpirun.

#include <string>
#include <vector>

#include "tests/cli/program.h"

namespace knn::test {

/// Whether this build and this machine have MPI; skips the test case if not.
bool have_mpi();

/// Temporary files go into this folder too, which is the working folder.
RunOptions in_folder(const Folder& folder);

/// What every command line of mpirun begins with.
std::vector<std::string> mpirun_words();

/// `words` begin with mpirun's own options.
RunResult mpirun(const std::vector<std::string>& words, RunOptions options);

/// `n` ranks of the program.
RunResult ranks(int n, const std::vector<std::string>& words, const RunOptions& options);

/// Our errors; mpirun adds lines of its own where a process does not end with 0.
std::vector<std::string> own_errors(const std::string& text);
void check_one_error(const RunResult& result, const std::string& expected);

/// No file but those of the data set, and none begun. Open MPI's session folder is not ours.
void check_only(const Folder& folder, const std::vector<std::string>& names);

/// No output graph.csv. Open MPI kills ranks that have not ended after a second; the next run removes what such a rank has
/// begun.
void check_left_after_mpirun(const Folder& folder, const std::vector<std::string>& before);

}  // namespace knn::test
