#include "tests/cli/mpi.h"

#include <unistd.h>

namespace knn::test {

namespace {

/// Empty: there is none.
std::string mpirun_file() {
    const auto lines = lines_of(run({"/bin/sh", "-c", "command -v mpirun"}).out);
    return lines.empty() ? "" : lines[0];
}

RunResult on_two_hosts(const Words& words, RunOptions options) {
    options.timeout = std::chrono::seconds(60);
    return started(Words{MNIST_KNN_TWO_HOSTS} + words, std::move(options));
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

bool have_hosts() {
    if (!have_mpi()) return false;
    const Folder folder;
    const RunResult result = on_two_hosts("true", in_folder(folder));
    if (result.exit_code == 0) return true;
    const auto lines = lines_of(result.err);
    skip("this machine cannot play two hosts: " +
         (lines.empty() ? "exit " + std::to_string(result.exit_code) : lines.back()));
    return false;
}

RunOptions in_folder(const Folder& folder) {
    return {.environment = {{"TMPDIR", folder.path().string()}}, .folder = folder.path().string()};
}

RunResult mpirun(const Words& words, RunOptions options, On on) {
    Words all = {mpirun_file(), "--oversubscribe"};
    if (::geteuid() == 0) all += "--allow-run-as-root";
    if (on == On::this_machine) return started(all + words, std::move(options));
    return on_two_hosts(all + "--host 10.99.0.1:2,10.99.0.2:2 --map-by node --bind-to none" + words,
                        std::move(options));
}

RunResult ranks(int n, const Words& words, const RunOptions& options, On on) {
    return mpirun(Words{"-n", std::to_string(n), program_file()} + words, options, on);
}

std::vector<std::string> own_errors(const std::string& text) {
    std::vector<std::string> lines = lines_of(text);
    std::erase_if(lines, [](const std::string& line) { return !line.starts_with("mnist-knn: error: "); });
    return lines;
}

void check_one_error(const RunResult& result, int exit_code, const std::string& expected) {
    CHECK(result.exit_code == exit_code);
    const auto lines = own_errors(result.err);
    REQUIRE(lines.size() == 1);
    CHECK(contains(lines[0], expected));
    CHECK(is_one_error_line(lines[0] + '\n'));
}

void check_only(const Folder& folder, const std::vector<std::string>& names) {
    Words left;
    for (const std::string& name : folder.names())
        if (!name.starts_with("ompi.")) left.push_back(name);
    CHECK(std::ranges::equal(left, names));
}

}  // namespace knn::test
