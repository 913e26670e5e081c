/// The program started by mpirun: what happens where a rank, a host or the cable between two hosts fails.

#include <sys/stat.h>

#include "tests/cli/mpi.h"

using namespace knn::test;
using namespace std::literals;

namespace {

/// Takes some seconds on two cores.
const std::string long_graph = "graph --metric lp --p 0.3 --data . --device cpu --csv graph.csv";

SmallSet large_set() {
    return {.rows = 40, .cols = 40, .train = 12'000};
}

/// The shell becomes the program: its number is the rank's. `event` is run on rank 1 after a second.
Words with_event(const std::string& event) {
    return {"/bin/sh", "-c",
            "[ \"$OMPI_COMM_WORLD_RANK$PMI_RANK\" != 1 ] || (sleep 1; " + event + ") & exec " +
                program_file() + ' ' + long_graph};
}

/// No output graph.csv. Open MPI kills ranks that have not ended after a second; the next run removes what such a rank
/// has begun.
void check_left_after_mpirun(const Work& work) {
    CHECK(!fs::exists(work.folder / "graph.csv"));
    work.output("graph --limit-train 50 --csv graph.csv -q");
    fs::remove(work.folder / "graph.csv");
    // mpirun ends ranks by SIGKILL, which may leave a file under its temporary name.
    for (const std::string& name : work.folder.names())
        if (name.starts_with(".mnist-knn-")) fs::remove(work.folder / name);
    check_only(work.folder, Work().folder.names());
}

}  // namespace

TEST_CASE("ranks: bench measures both ways to share, and rank 0 writes") {
    if (!have_mpi()) return;
    const Folder folder;
    const Words words =
        "bench --dim 20 --n-train 300 --n-query 70 --device cpu --repeat 3 --only cpu --seconds 0.5 -k 7";
    const RunResult result = ranks(3, words + "--json b.json --csv b.csv", in_folder(folder));
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
    // Rows that rank 0 measures alone.
    const Words alone =
        "bench --dim 20 --n-train 300 --n-query 70 --device cpu --repeat 1 --only serial --csv b.csv";
    const RunResult one = ranks(2, alone, in_folder(folder));
    CHECK(one.exit_code == 0);
    CHECK(own_errors(one.err).empty());
    CHECK(lines_of(read_file(folder / "b.csv")).size() == 3);
    check_only(folder, {"b.csv", "b.json"});
}

TEST_CASE("ranks: a mistake or an error is told once, with its rank and its exit code") {
    if (!have_mpi()) return;
    const Work work;
    REQUIRE(::mkfifo((work.folder / "pipe").c_str(), 0600) == 0);
    SmallSet{.classes = {7}}.write(work.folder / "one");
    write(work.folder / "train.csv", "x,label\n1e-9,a\n2e-9,b\n3e-9,a\n4e-9,b\n");
    write(work.folder / "test.csv", "x,label\n1e-9,a\n2e-9,b\n3e-9,a\n1e145,b\n");
    const auto before = work.folder.names();
    struct Mistake {
        Words words;
        int exit_code;
        std::string part;
    };
    for (const Mistake& one : std::vector<Mistake>{
             {"evaluate --tie never", 2, "--tie never: unknown name"},
             {"view", 2, "view: runs in one process"},
             {"bench --case graph", 2, "--case graph: measures one process"},
             {"bench --device gpu:0,1", 2, "each rank has one device"},
             {"evaluate --device gpu:0,1", 2, "each rank has one device"},
             {"evaluate --data /nonexistent", 1, "/nonexistent"},
             {"audit --data one", 1, "error: one: has one class"},
             {"condense --train train.csv -k 1 --out out", 1, "editing: leaves 0 of 4"},
             {"evaluate --train train.csv --test test.csv --transform zscore -k 1 --spread queries", 1,
              "rank 1: queries by --transform zscore, counted from 1: row 4, column 1"},
             {"evaluate --data . --test-images pipe", 2, "--test-images pipe: is a pipe"},
             {"evaluate --data . --method ./pipe", 2, "--method ./pipe: is a pipe"},
             {"evaluate --data . --predictions /dev/full -q", 1, "rank 0: /dev/full"}}) {
        const RunResult result = ranks(2, one.words, in_folder(work.folder));
        check_one_error(result, one.exit_code, one.part);
        CHECK(result.seconds < 20);
    }
    const RunResult version = ranks(2, "--version", in_folder(work.folder));
    CHECK(version.exit_code == 0);
    CHECK(lines_of(version.out).size() == 1);
    check_only(work.folder, before);
}

TEST_CASE("ranks: other options, data or version on a rank are refused, one that cannot read is named") {
    if (!have_mpi()) return;
    const Folder folder;
    SmallSet().write(folder / "a");
    SmallSet{.levels = 5}.write(folder / "b");
    SmallSet{.rows = 3, .cols = 5}.write(folder / "other-shape");  // of the same bytes
    fs::create_directory(folder / "c");
    const auto pair = [&](const std::string& where, const std::string& k,
                          const std::string& program = program_file()) {
        const auto rank = [&](const std::string& in, const std::string& file, const std::string& neighbors) {
            return "-wdir " + (folder / in) + ' ' + file + " evaluate --data . --predictions " +
                   (folder / "p.csv") + " -k " + neighbors;
        };
        return mpirun("-n 1 " + rank("a", program_file(), "5") + " : -n 2 " + rank(where, program, k),
                      in_folder(folder));
    };
    CHECK(pair("a", "5").exit_code == 0);
    fs::remove(folder / "p.csv");
    check_one_error(pair("a", "6"), 1, "rank 1: has other options than rank 0");
    for (const char* other : {"b", "other-shape"})
        check_one_error(pair(other, "5"), 1, "rank 1: has other images or labels than rank 0");
    check_one_error(pair("c", "5"), 1, "rank 1: ");
    check_one_error(pair("a", "5", MNIST_KNN_OTHER_VERSION), 1,
                    "rank 1: is version 0.0.0-other, but rank 0 is ");
    check_one_error(mpirun("-n 1 " + program_file() + " info : -n 1 " + program_file() + " evaluate --data a",
                           in_folder(folder)),
                    1, "rank 1: has other options than rank 0");
    const auto both = [&](const Words& words) {
        const auto rank = [&](const std::string& in) {
            return Words("-n 1 -wdir " + (folder / in) + ' ' + program_file()) + words;
        };
        return mpirun(rank("a") + ":" + rank("c"), in_folder(folder));
    };
    const std::string method =
        "mnist-knn method 1\ntransform raw\nrerank none\ncandidates 96\nvote majority\n"
        "k 5\nweights uniform\ntie smallest\nmetric ";
    const std::string of_type(2, 0), rows = {2, 0, 0, 0, 2, 0, 0, 0, 1, 100, -100};
    for (const auto& [in, metric, type] : {std::tuple("a", "l1\n", 8), {"c", "l2\n", 9}}) {
        write(folder / (in + "/method"s), method + metric);
        write(folder / (in + "/rows"s), of_type + static_cast<char>(type) + rows);
    }
    const std::string data = "--data " + (folder / "a");
    for (const char* command : {"evaluate", "tune"})
        check_one_error(both(command + (" --method ./method " + data)), 1,
                        "rank 1: has other options than rank 0");
    check_one_error(both("neighbors --train rows -k 1"), 1, "rank 1: has other images or labels than rank 0");
    check_only(folder, {"a", "b", "c", "other-shape"});
}

TEST_CASE("ranks: a killed rank and Ctrl-C end all, and leave no output") {
    if (!have_mpi()) return;
    const Work work(large_set());
    RunOptions options = in_folder(work.folder);
    const RunResult killed = mpirun(Words("-n 3") + with_event("kill -KILL $$"), options);
    CHECK(killed.exit_code == 128 + SIGKILL);  // mpirun's own, with a line that names the rank
    CHECK(contains(killed.err, "rank 1"));
    CHECK(killed.seconds < 11);
    check_left_after_mpirun(work);

    options.signal = SIGINT;
    options.signal_after = 2000ms;
    const RunResult result = ranks(2, long_graph, options);
    CHECK((result.exit_code == 1 ||
           result.exit_code == 130));  // Open MPI's own is 1, whatever the ranks return
    CHECK(own_errors(result.err).empty());
    CHECK(result.seconds_after_signal < 10);
    check_left_after_mpirun(work);
}

TEST_CASE("hosts: a rank killed on the second host, or a cable that is cut, ends all") {
    if (!have_hosts()) return;
    const Work work(large_set());
    RunResult killed;
    for (int tries = 0; tries < 3 && !contains(killed.err, "rank 1");
         ++tries)  // mpirun itself may crash before it says so
        killed = mpirun(Words("-n 3") + with_event("kill -KILL $$"), in_folder(work.folder), On::two_hosts);
    CHECK(killed.exit_code == 128 + SIGKILL);
    check_contains(killed.err, {"rank 1", "on node 10.99.0.2"});
    CHECK(killed.seconds < 11);
    check_left_after_mpirun(work);

    // As soon as mpirun is told to look.
    const Words keepalive =
        "--mca oob_tcp_keepalive_time 1 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 2";
    const RunResult cut = mpirun(keepalive + "-n 3" + with_event("ip link set knn0 down"),
                                 in_folder(work.folder), On::two_hosts);
    CHECK(cut.exit_code != 0);
    CHECK(cut.exit_code != 99);  // a process was left
    // Whichever mpirun notices first: the connection to its daemon, or the shell in which that one ended.
    CHECK(
        (contains(cut.err, "lost communication") || contains(cut.err, "reliably start one or more daemons")));
    CHECK(cut.seconds < 20);
    check_left_after_mpirun(work);
}

TEST_CASE("ranks: a build without MPI says so once") {
    if (has_mpi) return skip("this build has MPI");
    RunOptions options{.environment = {{"OMPI_COMM_WORLD_SIZE", "3"}, {"OMPI_COMM_WORLD_RANK", "0"}}};
    check_error(program("evaluate", options), 1, "mpirun started 3 processes, but this build has no MPI");
    options.environment["OMPI_COMM_WORLD_RANK"] = "2";
    const RunResult result = program("evaluate", options);
    CHECK(result.exit_code == 1);
    CHECK(result.err.empty());
}
