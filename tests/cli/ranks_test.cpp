/// The program started by mpirun, on the CPU: the same bytes as without, and what happens where a rank fails.

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>

#include "tests/cli/mpi.h"
#include "tests/cli/program.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

TEST_CASE("ranks: evaluate writes the same bytes with 1, 2, 3 and 5 ranks") {
    if (!have_mpi()) return;
    const Folder folder;
    SmallSet set;
    set.write(folder.path);
    const std::vector<std::string> words = {"evaluate", "--data", folder.path.string(), "--device", "cpu"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), words.begin(), words.end());
        return more;
    };
    for (const std::vector<std::string>& method :
         {std::vector<std::string>{"-k", "7"}, {"-k", "40", "--weights", "distance"}}) {
        std::vector<std::string> alone = with(method);
        alone.insert(alone.end(), {"--neighbors-csv", folder / "a.csv", "--predictions", folder / "p.csv"});
        REQUIRE(program(alone).exit_code == 0);
        for (const int n : {1, 2, 3, 5})
            for (const std::string spread : {"queries", "training", "auto"}) {
                std::vector<std::string> shared = with(method);
                shared.insert(shared.end(), {"--neighbors-csv", folder / "b.csv", "--predictions",
                                             folder / "q.csv", "--spread", spread, "-q"});
                const RunResult result = ranks(n, shared, in_folder(folder));
                CAPTURE(n);
                CAPTURE(spread);
                CAPTURE(result.err);
                REQUIRE(result.exit_code == 0);
                CHECK(lines_of(result.out).size() == 1);
                CHECK(own_errors(result.err).empty());
                CHECK(read_file(folder / "a.csv") == read_file(folder / "b.csv"));
                CHECK(read_file(folder / "p.csv") == read_file(folder / "q.csv"));
            }
    }
}

TEST_CASE("ranks: no escape codes go to a pipe") {
    if (!have_mpi()) return;
    const Folder folder;
    SmallSet set;
    set.write(folder.path);
    RunOptions options = in_folder(folder);
    options.environment["TERM"] = "xterm";
    const RunResult result = ranks(2, {"evaluate", "--data", folder.path.string()}, options);
    CHECK(contains(result.out, "accuracy"));
    CHECK_FALSE(contains(result.out, "\x1b"));
}

TEST_CASE("ranks: a graph is the same bytes, and the report says how it was shared") {
    if (!have_mpi()) return;
    const Folder folder;
    SmallSet set;
    set.train = 61;
    set.write(folder.path);
    REQUIRE(program({"graph", "--data", folder.path.string(), "-k", "9", "--npy", folder / "a", "--mtx",
                     folder / "a.mtx", "--device", "cpu"})
                .exit_code == 0);
    for (const std::string spread : {"queries", "training"}) {
        const RunResult result =
            ranks(3,
                  {"graph", "--data", folder.path.string(), "-k", "9", "--npy", folder / "b", "--mtx",
                   folder / "b.mtx", "--json", folder / "b.json", "--spread", spread, "--device", "cpu"},
                  in_folder(folder));
        CAPTURE(result.err);
        REQUIRE(result.exit_code == 0);
        for (const std::string name : {"-indices.npy", "-distances.npy", ".mtx"})
            CHECK(read_file(folder / ("a" + name)) == read_file(folder / ("b" + name)));
        CHECK(result.out.find(spread + " over 3 ranks") != std::string::npos);
        CHECK(result.out.find("imbalance") != std::string::npos);
        const auto json = nlohmann::json::parse(read_file(folder / "b.json"));
        CHECK(json["settings"]["ranks"] == 3);
        CHECK(json["settings"]["spread"] == spread);
        CHECK(json["timing"]["devices_ms"].size() == 3);
    }
}

TEST_CASE("ranks: tune, audit and condense write the same files") {
    if (!have_mpi()) return;
    const Folder folder;
    SmallSet set;
    set.train = 47;
    set.write(folder.path);
    const std::vector<std::vector<std::string>> commands = {
        {"tune", "-k", "1-6", "--csv", "f1", "--save", "f2"},
        {"audit", "--csv", "f1"},
        {"audit", "--of", "test", "--csv", "f1"},
        {"condense", "--out", "out"}};
    for (std::vector<std::string> words : commands) {
        words.insert(words.end(), {"--data", folder.path.string(), "--device", "cpu", "-q"});
        const auto files = [&] {
            std::vector<std::string> all;
            for (const char* name : {"f1", "f2", "out/train-images-idx3-ubyte", "out/kept.csv"})
                all.push_back(fs::exists(folder.path / name) ? read_file(folder / name) : "");
            for (const char* name : {"f1", "f2", "out"})
                fs::remove_all(folder.path / name);
            return all;
        };
        CAPTURE(words.front());
        REQUIRE(program(words, in_folder(folder)).exit_code == 0);
        const auto alone = files();
        for (const char* spread : {"queries", "training"}) {
            std::vector<std::string> shared = words;
            shared.insert(shared.end(), {"--spread", spread});
            const RunResult result = ranks(3, shared, in_folder(folder));
            CAPTURE(result.err);
            REQUIRE(result.exit_code == 0);
            CHECK(files() == alone);
        }
    }
}

TEST_CASE("ranks: bench measures both ways to share, and rank 0 writes") {
    if (!have_mpi()) return;
    const Folder folder;
    const std::vector<std::string> words = {"bench", "--dim",     "20",  "--n-train", "300", "--n-query",
                                            "70",    "--device",  "cpu", "--repeat",  "3",   "--only",
                                            "cpu",   "--seconds", "0.5", "-k",        "7"};
    std::vector<std::string> to_files = words;
    to_files.insert(to_files.end(), {"--json", "b.json", "--csv", "b.csv"});
    RunResult result = ranks(3, to_files, in_folder(folder));
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(own_errors(result.err).empty());
    const std::string title = "engines on 3 ranks, k = 7";
    CHECK(contains(result.out, title));
    CHECK(result.out.find(title) == result.out.rfind(title));
    CHECK(lines_of(read_file(folder / "b.csv")).size() >= 4);
    const auto report = nlohmann::json::parse(read_file(folder / "b.json"));
    CHECK(report["correct"] == true);
    int shared = 0;
    for (const auto& one : report["measurements"]) {
        CHECK(one["status"] == "measured");
        CHECK(one["runs"] == 3);
        CHECK(one["queries_measured"] == 70);
        shared += one["device"] == "3 ranks" ? 1 : 0;
    }
    CHECK(shared == 2);
    check_only(folder, {"b.csv", "b.json"});

    to_files = words;
    to_files.insert(to_files.end(), {"--json", "/dev/full"});
    result = ranks(2, to_files, in_folder(folder));
    CHECK(result.exit_code == 1);
    check_one_error(result, "rank 0: /dev/full");
}

TEST_CASE("ranks: a mistake is told once, with its exit code") {
    if (!have_mpi()) return;
    const Folder folder;
    RunResult result = ranks(3, {"evaluate", "--tie", "never"}, in_folder(folder));
    CHECK(result.exit_code == 2);
    check_one_error(result, "--tie never: unknown name");
    result = ranks(2, {"view"}, in_folder(folder));
    CHECK(result.exit_code == 2);
    check_one_error(result, "view: runs in one process");
    result = ranks(2, {"bench", "--case", "graph"}, in_folder(folder));
    CHECK(result.exit_code == 2);
    check_one_error(result, "--case graph: measures one process");
    result = ranks(2, {"bench", "--device", "gpu:0,1"}, in_folder(folder));
    CHECK(result.exit_code == 2);
    check_one_error(result, "each rank has one device");
    result = ranks(2, {"evaluate", "--data", folder.path.string()}, in_folder(folder));
    CHECK(result.exit_code == 1);
    check_one_error(result, folder.path.string());
    result = ranks(2, {"evaluate", "--device", "gpu:0,1"}, in_folder(folder));
    CHECK(result.exit_code == 2);
    check_one_error(result, "each rank has one device");
    result = ranks(2, {"--version"}, in_folder(folder));
    CHECK(result.exit_code == 0);
    CHECK(lines_of(result.out).size() == 1);
    check_only(folder, {});
}

TEST_CASE("ranks: other options or other data on a rank are refused, and one that cannot read is named") {
    if (!have_mpi()) return;
    const Folder folder;
    for (const char* name : {"a", "b", "c"})
        fs::create_directory(folder / name);
    SmallSet set, other;
    set.write(folder / "a");
    other.levels = 5;
    other.write(folder / "b");
    const auto pair = [&](const std::string& where, const std::string& k) {
        return mpirun({"-n",
                       "1",
                       "-wdir",
                       folder / "a",
                       program_file(),
                       "evaluate",
                       "--data",
                       ".",
                       "-k",
                       "5",
                       "--predictions",
                       folder / "p.csv",
                       ":",
                       "-n",
                       "2",
                       "-wdir",
                       folder / where,
                       program_file(),
                       "evaluate",
                       "--data",
                       ".",
                       "-k",
                       k,
                       "--predictions",
                       folder / "p.csv"},
                      in_folder(folder));
    };
    CHECK(pair("a", "5").exit_code == 0);
    fs::remove(folder / "p.csv");
    RunResult result = pair("a", "6");
    CHECK(result.exit_code == 1);
    check_one_error(result, "rank 1: has other options than rank 0");
    result = pair("b", "5");
    CHECK(result.exit_code == 1);
    check_one_error(result, "rank 1: has other images or labels than rank 0");
    result =
        mpirun({"-n", "1", program_file(), "info", ":", "-n", "1", program_file(), "evaluate", "--data", "a"},
               in_folder(folder));
    CHECK(result.exit_code == 1);
    check_one_error(result, "rank 1: has other options than rank 0");
    result = pair("c", "5");
    CHECK(result.exit_code == 1);
    check_one_error(result, "rank 1: ");
    check_only(folder, {"a", "b", "c"});
}

TEST_CASE("ranks: an error while searching or writing ends all ranks and names its own") {
    if (!have_mpi()) return;
    const Folder folder;
    SmallSet set;
    set.write(folder.path);
    const RunResult result =
        ranks(3, {"evaluate", "--data", folder.path.string(), "--predictions", "/dev/full", "-q"},
              in_folder(folder));
    CHECK(result.exit_code == 1);
    check_one_error(result, "rank 0: /dev/full");
    CHECK(result.seconds < 20);
}

TEST_CASE("ranks: a killed rank and Ctrl-C end all, and leave no output") {
    if (!have_mpi()) return;
    const Folder folder;
    SmallSet set;
    set.rows = set.cols = 40;
    set.train = 12'000;
    set.write(folder.path);
    const std::vector<std::string> before = folder.names();
    // The shell becomes the program: its number is the rank's.
    const std::string script =
        "[ \"$OMPI_COMM_WORLD_RANK$PMI_RANK\" != 1 ] || (sleep 1; kill -KILL $$) & exec " + program_file() +
        " graph --metric lp --p 0.3 --data . --device cpu --csv graph.csv";
    RunResult result = mpirun({"-n", "3", "/bin/sh", "-c", script}, in_folder(folder));
    CAPTURE(result.err);
    CHECK(result.exit_code == 128 + SIGKILL);  // mpirun's own, with a line that names the rank
    CHECK(result.err.find("rank 1") != std::string::npos);
    CHECK(result.seconds < 11);
    check_left_after_mpirun(folder, before);

    RunOptions options = in_folder(folder);
    options.signal = SIGINT;
    options.signal_after = 2000ms;
    result = ranks(
        2, {"graph", "--metric", "lp", "--p", "0.3", "--data", ".", "--device", "cpu", "--csv", "graph.csv"},
        options);
    CHECK((result.exit_code == 1 ||
           result.exit_code == 130));  // Open MPI's own is 1, whatever the ranks return
    CHECK(own_errors(result.err).empty());
    CHECK(result.seconds_after_signal < 10);
    check_left_after_mpirun(folder, before);
}

TEST_CASE("ranks: a build without MPI says so once") {
    if (has_mpi) return skip("this build has MPI");
    RunOptions options;
    options.environment = {{"OMPI_COMM_WORLD_SIZE", "3"}, {"OMPI_COMM_WORLD_RANK", "0"}};
    RunResult result = program({"evaluate"}, options);
    CHECK(result.exit_code == 1);
    CHECK(is_one_error_line(result.err));
    CHECK(result.err.find("mpirun started 3 processes, but this build has no MPI") != std::string::npos);
    options.environment["OMPI_COMM_WORLD_RANK"] = "2";
    result = program({"evaluate"}, options);
    CHECK(result.exit_code == 1);
    CHECK(result.err.empty());
}

TEST_CASE("spread: --memory searches part by part and finds the same") {
    const Folder folder;
    SmallSet set;
    set.write(folder.path);
    const auto csv = [&](const std::vector<std::string>& more, const std::string& name) {
        std::vector<std::string> words = {"evaluate", "--data",          folder.path.string(), "--device",
                                          "cpu",      "--neighbors-csv", folder / name,        "-q"};
        words.insert(words.end(), more.begin(), more.end());
        const RunResult result = program(words);
        CAPTURE(result.err);
        REQUIRE(result.exit_code == 0);
        return read_file(folder / name);
    };
    const std::string whole = csv({}, "whole.csv");
    for (const char* memory : {"1", "100", "1K", "1G"})
        CHECK(csv({"--memory", memory}, "parts.csv") == whole);
    CHECK(csv({"--memory", "90", "--transform", "pca:4"}, "p.csv") == csv({"--transform", "pca:4"}, "w.csv"));
    const RunResult shown = program({"evaluate", "--data", folder.path.string(), "--memory", "100"});
    CHECK(shown.out.find("at most 100 bytes of training images at once") != std::string::npos);
}

TEST_CASE("spread: wrong values are refused") {
    for (const std::string size : {"", "0", "-1", "1T", "M", "1.5G", "99999999999G"})
        check_usage_error({"evaluate", "--memory", size});
    check_usage_error({"evaluate", "--spread", "both"});
    for (const std::string device : {"gpu:0,", "gpu:0,0", "gpu:,1", "gpu:0,x", "gpu:all,1"})
        check_usage_error({"evaluate", "--device", device});
    for (const char* which : {"garrett", "graph", "rerank"})
        check_usage_error({"bench", "--case", which, "--device", "gpu:all"});
}
