/// Ranks on two hosts, which are two network namespaces of this machine (two_hosts.sh): the same bytes as one process, and
/// what happens where the second host or the cable fails. That no process is left is checked by the script.

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>

#include "tests/cli/mpi.h"
#include "tests/support/skip.h"

using namespace knn::test;
namespace fs = std::filesystem;

namespace {

RunResult on_two_hosts(const std::vector<std::string>& words, RunOptions options) {
    std::vector<std::string> all = {MNIST_KNN_TWO_HOSTS};
    all.insert(all.end(), words.begin(), words.end());
    options.timeout = std::chrono::seconds(60);
    return started(all, std::move(options));
}

bool have_hosts() {
    if (!have_mpi()) return false;
    const Folder folder;
    const RunResult result = on_two_hosts({"true"}, in_folder(folder));
    if (result.exit_code == 0) return true;
    const auto lines = lines_of(result.err);
    skip("this machine cannot play two hosts: " +
         (lines.empty() ? "exit " + std::to_string(result.exit_code) : lines.back()));
    return false;
}

/// Rank 0 on the first host, rank 1 on the second one, and so on in turn. `words` begin with more of mpirun's options.
RunResult mpirun_on_hosts(int n, const std::vector<std::string>& words, const RunOptions& options) {
    std::vector<std::string> all = mpirun_words();
    all.insert(all.end(), {"--host", "10.99.0.1:2,10.99.0.2:2", "--map-by", "node", "--bind-to", "none", "-n",
                           std::to_string(n)});
    all.insert(all.end(), words.begin(), words.end());
    return on_two_hosts(all, options);
}

RunResult ranks_on_hosts(int n, std::vector<std::string> words, const RunOptions& options) {
    words.insert(words.begin(), program_file());
    return mpirun_on_hosts(n, words, options);
}

/// Takes some seconds on two cores.
std::string long_graph() {
    return program_file() + " graph --metric lp --p 0.3 --data . --device cpu --csv graph.csv";
}

SmallSet large_set() {
    SmallSet set;
    set.rows = set.cols = 40;
    set.train = 12'000;
    return set;
}

/// The shell becomes the program: its number is the rank's. `event` is run on the second host after a second.
std::vector<std::string> with_event(const std::string& event) {
    return {"/bin/sh", "-c",
            "[ \"$OMPI_COMM_WORLD_RANK\" != 1 ] || (sleep 1; " + event + ") & exec " + long_graph()};
}

}  // namespace

TEST_CASE("hosts: evaluate and graph write the same bytes on two hosts as in one process") {
    if (!have_hosts()) return;
    const Folder folder;
    SmallSet set;
    set.train = 61;
    set.write(folder.path);
    const RunOptions options = in_folder(folder);
    const auto evaluate = [](const std::string& name) {
        return std::vector<std::string>{"evaluate",
                                        "--data",
                                        ".",
                                        "-k",
                                        "7",
                                        "--device",
                                        "cpu",
                                        "-q",
                                        "--json",
                                        name + ".json",
                                        "--predictions",
                                        name + "-p.csv",
                                        "--neighbors-csv",
                                        name + "-n.csv"};
    };
    const auto graph = [](const std::string& name) {
        return std::vector<std::string>{"graph", "--data", ".",     "-k", "9",     "--device",
                                        "cpu",   "-q",     "--npy", name, "--mtx", name + ".mtx"};
    };
    REQUIRE(program(evaluate("a"), options).exit_code == 0);
    REQUIRE(program(graph("a"), options).exit_code == 0);
    for (const int n : {2, 3})
        for (const std::string spread : {"queries", "training"}) {
            CAPTURE(n);
            CAPTURE(spread);
            for (std::vector<std::string> words : {evaluate("b"), graph("b")}) {
                words.insert(words.end(), {"--spread", spread});
                const RunResult result = ranks_on_hosts(n, words, options);
                CAPTURE(result.err);
                REQUIRE(result.exit_code == 0);
                CHECK(own_errors(result.err).empty());
            }
            for (const std::string name : {"-p.csv", "-n.csv", "-indices.npy", "-distances.npy", ".mtx"}) {
                CHECK(read_file(folder / ("a" + name)) == read_file(folder / ("b" + name)));
                fs::remove(folder / ("b" + name));
            }
            const auto json = nlohmann::json::parse(read_file(folder / "b.json"));
            CHECK(json["settings"]["ranks"] == n);
            CHECK(json["settings"]["spread"] == spread);
        }
}

TEST_CASE("hosts: other data or another version on the second host is refused") {
    if (!have_hosts()) return;
    const Folder folder;
    for (const char* name : {"knn-a", "other"})
        fs::create_directory(folder / name);
    SmallSet set, other;
    set.write(folder / "knn-a");
    other.levels = 5;
    other.write(folder / "other");
    const auto set_of_b = [&](const std::string& from) {
        fs::remove_all(folder / "knn-b");
        fs::copy(folder / from, folder / "knn-b");
    };
    const auto run_with = [&](const std::string& program_on_b) {
        const std::string script = "cd $(hostname); program=" + program_file() +
                                   "; [ $(hostname) = knn-a ] || program=" + program_on_b +
                                   "; exec $program evaluate --data . --device cpu --predictions " +
                                   folder / "p.csv";
        return mpirun_on_hosts(2, {"/bin/sh", "-c", script}, in_folder(folder));
    };
    set_of_b("knn-a");
    RunResult result = run_with(program_file());
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    fs::remove(folder / "p.csv");
    result = run_with(MNIST_KNN_OTHER_VERSION);
    CHECK(result.exit_code == 1);
    check_one_error(result, "rank 1: is version 0.0.0-other, but rank 0 is ");
    set_of_b("other");
    result = run_with(program_file());
    CHECK(result.exit_code == 1);
    check_one_error(result, "rank 1: has other images or labels than rank 0");
    check_only(folder, {"knn-a", "knn-b", "other"});
}

TEST_CASE("hosts: a rank killed on the second host ends all") {
    if (!have_hosts()) return;
    const Folder folder;
    large_set().write(folder.path);
    const std::vector<std::string> before = folder.names();
    const RunResult result = mpirun_on_hosts(3, with_event("kill -KILL $$"), in_folder(folder));
    CAPTURE(result.err);
    CHECK(result.exit_code == 128 + SIGKILL);
    CHECK(contains(result.err, "rank 1"));
    CHECK(contains(result.err, "on node 10.99.0.2"));
    CHECK(result.seconds < 11);
    check_left_after_mpirun(folder, before);
}

TEST_CASE("hosts: a cable that is cut ends all, as soon as mpirun is told to look") {
    if (!have_hosts()) return;
    const Folder folder;
    large_set().write(folder.path);
    const std::vector<std::string> before = folder.names();
    std::vector<std::string> words = {"--mca", "oob_tcp_keepalive_time",   "1",
                                      "--mca", "oob_tcp_keepalive_intvl",  "1",
                                      "--mca", "oob_tcp_keepalive_probes", "2"};
    for (const std::string& word : with_event("ip link set knn0 down"))
        words.push_back(word);
    const RunResult result = mpirun_on_hosts(3, words, in_folder(folder));
    CAPTURE(result.err);
    CHECK(result.exit_code != 0);
    CHECK(result.exit_code != 99);  // a process was left
    CHECK(contains(result.err, "lost communication"));
    CHECK(result.seconds < 20);
    check_left_after_mpirun(folder, before);
}
