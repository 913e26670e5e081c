#include "tests/cli/mpi.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <sstream>

#include "tests/support/build.h"
#include "tests/support/skip.h"

namespace fs = std::filesystem;

namespace knn::test {

namespace {

std::string mpirun_file() {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (::access((folder + "/mpirun").c_str(), X_OK) == 0) return folder + "/mpirun";
    return "";
}

}  // namespace

bool have_mpi() {
    if (!has_mpi)
        skip("this build has no MPI");
    else if (mpirun_file().empty())
        skip("mpirun was not found");
    else
        return true;
    return false;
}

RunOptions in_folder(const Folder& folder) {
    RunOptions options;
    options.folder = folder.path.string();
    options.environment["TMPDIR"] = folder.path.string();
    return options;
}

std::vector<std::string> mpirun_words() {
    std::vector<std::string> words = {mpirun_file(), "--oversubscribe"};
    if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
    return words;
}

RunResult mpirun(const std::vector<std::string>& words, RunOptions options) {
    std::vector<std::string> all = mpirun_words();
    all.insert(all.end(), words.begin(), words.end());
    return started(all, std::move(options));
}

RunResult ranks(int n, const std::vector<std::string>& words, const RunOptions& options) {
    std::vector<std::string> all = {"-n", std::to_string(n), program_file()};
    all.insert(all.end(), words.begin(), words.end());
    return mpirun(all, options);
}

std::vector<std::string> own_errors(const std::string& text) {
    std::vector<std::string> lines = lines_of(text);
    std::erase_if(lines, [](const std::string& line) { return !line.starts_with("mnist-knn: error: "); });
    return lines;
}

void check_one_error(const RunResult& result, const std::string& expected) {
    CAPTURE(result.err);
    const auto lines = own_errors(result.err);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find(expected) != std::string::npos);
    CHECK(is_one_error_line(lines[0] + '\n'));
}

void check_only(const Folder& folder, const std::vector<std::string>& names) {
    std::vector<std::string> left = folder.names();
    std::erase_if(left, [](const std::string& name) { return name.starts_with("ompi."); });
    const std::string shown =
        std::accumulate(left.begin(), left.end(), std::string(),
                        [](std::string all, const std::string& name) { return std::move(all) + ' ' + name; });
    CAPTURE(shown);
    CHECK(left == names);
}

void check_left_after_mpirun(const Folder& folder, const std::vector<std::string>& before) {
    CHECK(!fs::exists(folder / "graph.csv"));
    const RunResult next = program(
        {"graph", "--data", ".", "--limit-train", "50", "--csv", "graph.csv", "-q"}, in_folder(folder));
    REQUIRE(next.exit_code == 0);
    fs::remove(folder / "graph.csv");
    // mpirun ends ranks by SIGKILL, which may leave a file under its temporary name.
    for (const std::string& name : folder.names())
        if (name.starts_with(".mnist-knn-")) fs::remove(folder / name);
    check_only(folder, before);
}

}  // namespace knn::test
