/// The files are the same bytes however the work is divided: among threads, batches, instruction sets, parts of the
/// training set, ranks, and ranks on two hosts.

#include "tests/cli/mpi.h"

using namespace knn::test;

namespace {

/// The files of a run, by name, which begin with out/.
using Files = std::map<std::string, std::string>;

/// A data set, and the commands whose files are compared.
class Divided : public Work {
  public:
    explicit Divided(const SmallSet& of) : Work(of) { fs::create_directory(folder / "out"); }

    /// The files that a run wrote, which are removed; none where it refuses an instruction set.
    Files files_of(const RunResult& result) const {
        if (result.exit_code == 2 && contains(result.err, "no instruction set")) return {};
        REQUIRE(result.exit_code == 0);
        CHECK(own_errors(result.err).empty());
        Files files;
        for (const auto& entry : fs::recursive_directory_iterator(folder / "out"))
            if (entry.is_regular_file())
                files[fs::relative(entry.path(), folder.path())] = read_file(entry.path());
        for (const auto& entry : fs::directory_iterator(folder / "out"))
            fs::remove_all(entry.path());
        REQUIRE(!files.empty());
        return files;
    }
    Files files_of(const Words& words, const RunOptions& options = {}) const {
        return files_of(run(words + "-q", options));
    }
};

const std::string evaluate = "evaluate --neighbors-csv out/n --predictions out/p --weights distance";

/// Commands on images of few pixels, of which many are equally far.
std::vector<Words> commands_on_pixels() {
    std::vector<Words> all = {"tune -k 1-6 --csv out/t --save out/m",
                              "graph -k 9 --npy out/g --csv out/g.csv --mtx out/g.mtx",
                              "condense -k 3 --out out/c", "audit --method raw --csv out/a",
                              "audit --method raw --of test --csv out/a"};
    for (const std::string metric : {"l2", "l1", "lp --p 3", "lp --p 0.5", "cosine", "pearson"})
        all.emplace_back(evaluate + " --metric " + metric);
    return all;
}

std::vector<Words> commands_on_features() {
    std::vector<Words> all = {evaluate + " -k 4 --rerank spread:5:mean:times:-0.5",
                              "evaluate --neighbors-csv out/n --predictions out/p --method accurate",
                              "tune -k 1-6 --transform gradients --csv out/t"};
    for (const std::string text : {"gradients", "deskew,pca:20", "hog", "blur,normalize"})
        all.emplace_back(evaluate + " --transform " + text);
    return all;
}

void check_divided(const SmallSet& set, const std::vector<Words>& commands) {
    const Divided work(set);
    for (const Words& words : commands) {
        const Files first = work.files_of(words + "--threads 1");
        // Each has another instruction set; one that the processor lacks is left out.
        for (const auto& [isa, more] : {std::pair("amx", "--threads 2"),
                                        {"avx512vnni", "--threads 7"},
                                        {"avxvnni", "--batch 1 --threads 2"},
                                        {"avx2", "--batch 33 --threads 3"},
                                        {"plain", "--batch 100000"}}) {
            Files files = work.files_of(words + more, {.environment = {{"MNIST_KNN_ISA", isa}}});
            if (files.empty() && isa != std::string("plain")) files = work.files_of(words + more);
            CHECK(files == first);
        }
    }
}

/// With one process, and with ranks by both ways to share.
void check_ranks(const std::vector<int>& sizes, const std::vector<Words>& commands, On on) {
    const Divided work({.train = 61});
    for (const Words& words : commands) {
        const Files alone = work.files_of(words);
        for (const int n : sizes)
            for (const std::string spread : {"queries", "training"}) {
                Words shared = words + "-q --data . --device cpu --spread" + Words{spread};
                if (words[0] != "condense") shared += "--json report";
                CHECK(work.files_of(ranks(n, shared, in_folder(work.folder), on)) == alone);
                if (n == 1 || (words[0] != "evaluate" && words[0] != "graph")) continue;
                const nlohmann::json settings = work.json_of("report")["settings"];
                CHECK(settings["ranks"] == n);
                CHECK(settings["spread"] == spread);
                if (words[0] == "graph")
                    CHECK(work.json_of("report")["timing"]["devices_ms"].size() ==
                          static_cast<std::size_t>(n));
            }
    }
}

}  // namespace

TEST_CASE("the same bytes for any threads, batch and instruction set, by every command and metric") {
    check_divided({.train = 500, .test = 150, .levels = 3}, commands_on_pixels());
}

TEST_CASE("the same bytes for any number of threads, any batch and instruction set, by every transform") {
    check_divided({.rows = 13, .cols = 10, .train = 300, .test = 90, .levels = 5}, commands_on_features());
}

TEST_CASE("the same bytes from parts of the training set, as --memory makes them") {
    const Divided work({});
    for (const Words words :
         {"evaluate --neighbors-csv out/n", "evaluate --neighbors-csv out/n --transform pca:4"}) {
        const Files whole = work.files_of(words);
        for (const std::string memory : {"15", "90", "100", "1K", "1G"})
            CHECK(work.files_of(words + "--memory" + Words{memory}) == whole);
    }
}

TEST_CASE("ranks: the same bytes with 1, 2, 3 and 5 ranks") {
    if (!have_mpi()) return;
    check_ranks({1, 5}, {evaluate + " -k 7"}, On::this_machine);
    std::vector<Words> others = commands_on_pixels();
    others.resize(5);
    others.emplace_back(evaluate + " -k 61");
    check_ranks({3}, others, On::this_machine);
    const Divided work({.train = 61});
    const Files alone = work.files_of("graph -k 9 --npy out/g");
    const RunResult chosen =
        ranks(2, "graph -k 9 --npy out/g --data . --device cpu --spread auto", in_folder(work.folder));
    CHECK(work.files_of(chosen) == alone);
    check_contains(chosen.out, {" over 2 ranks", "imbalance"});
    CHECK(!contains(chosen.out, "\x1b"));  // no escape codes go to a pipe
}

TEST_CASE("hosts: the same bytes on two hosts as in one process") {
    if (!have_hosts()) return;
    check_ranks({2, 3}, {evaluate + " -k 7", "graph -k 9 --npy out/g --mtx out/g.mtx"}, On::two_hosts);
}
