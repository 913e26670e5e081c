/// `condense` as a user runs it: what it writes, read back by `evaluate`.

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/cli/program.h"
#include "tests/support/skip.h"

using namespace knn::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

struct Work {
    Folder folder;
    SmallSet set;

    explicit Work(std::vector<int> classes = {0, 7, 255}, int train = 120, int levels = 8) {
        set.rows = 1;
        set.cols = 2;
        set.train = train;
        set.test = 30;
        set.levels = levels;
        set.classes = std::move(classes);
        set.write(folder.path);
    }
    RunResult run(std::vector<std::string> words, RunOptions options = {}) const {
        words.insert(words.begin() + 1, {"--device", "cpu", "--data", "."});
        options.folder = folder.path.string();
        return program(words, options);
    }
    /// Column `column` of the predictions for the training images as a test set.
    std::vector<std::string> answers(std::vector<std::string> extra) const {
        extra.insert(extra.begin(), {"evaluate", "--test-images", "train-images-idx3-ubyte", "--test-labels",
                                     "train-labels-idx1-ubyte", "--predictions", "-"});
        const RunResult result = run(extra);
        CAPTURE(result.err);
        REQUIRE(result.exit_code == 0);
        std::vector<std::string> labels;
        for (const auto& row : csv_rows(result.out))
            labels.push_back(row[2]);
        return labels;
    }
};

const std::vector<std::string> from_small = {"--train-images", "small/train-images-idx3-ubyte",
                                             "--train-labels", "small/train-labels-idx1-ubyte"};

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

TEST_CASE("condense: evaluate reads what is written, and all answers are as before") {
    for (const std::vector<std::string>& method : {std::vector<std::string>{"-k", "1"},
                                                   {"-k", "5", "--weights", "distance"},
                                                   {"--metric", "cosine"}}) {
        const Work work;
        const RunResult result =
            work.run(joined({"condense", "--rule", "condense", "--out", "small"}, method));
        CAPTURE(result.err);
        REQUIRE(result.exit_code == 0);
        CHECK(result.err.empty());
        CHECK(result.out.find("they classify all as before") != std::string::npos);
        CHECK(work.answers(method) == work.answers(joined(from_small, method)));

        const auto kept = csv_rows(read_file(work.folder / "small/kept.csv"));
        REQUIRE(kept.size() > 1);
        CHECK(kept[0] == std::vector<std::string>{"index"});
        CHECK(kept.size() - 1 < 120);
        std::string said = "kept       ";
        said.append(std::to_string(kept.size() - 1)).append(" images");
        CHECK(result.out.find(said) != std::string::npos);
        const std::string images = read_file(work.folder / "small/train-images-idx3-ubyte");
        const std::string labels = read_file(work.folder / "small/train-labels-idx1-ubyte");
        REQUIRE(images.size() == 16 + 2 * (kept.size() - 1));
        REQUIRE(labels.size() == 8 + kept.size() - 1);
        for (std::size_t i = 1; i < kept.size(); ++i) {
            const auto from = static_cast<std::size_t>(std::stoi(kept[i][0]));
            CHECK(static_cast<unsigned char>(labels[7 + i]) == work.set.train_labels[from]);
            for (std::size_t p = 0; p < 2; ++p)
                CHECK(static_cast<unsigned char>(images[16 + 2 * (i - 1) + p]) ==
                      work.set.train_images[from][p]);
        }
    }
}

TEST_CASE("condense: editing and both rules, the same bytes for any number of threads") {
    const Work work;
    REQUIRE(work.run({"condense", "-k", "3", "--rule", "edit", "--out", "edited"}).exit_code == 0);
    REQUIRE(work.run({"condense", "-k", "3", "--out", "a/b", "--threads", "1"}).exit_code == 0);
    REQUIRE(work.run({"condense", "-k", "3", "--out", "c", "--threads", "3", "--batch", "7"}).exit_code == 0);
    for (const std::string name : {"kept.csv", "train-images-idx3-ubyte", "train-labels-idx1-ubyte"})
        CHECK(read_file(work.folder.path / "a/b" / name) == read_file(work.folder.path / "c" / name));
    const auto edited = lines_of(read_file(work.folder / "edited/kept.csv"));
    const auto both = lines_of(read_file(work.folder / "c/kept.csv"));
    CHECK(both.size() < edited.size());
    for (const std::string& index : both)
        CHECK(std::find(edited.begin(), edited.end(), index) != edited.end());
    // The edited set is read by every command, without a test set.
    RunOptions here;
    here.folder = work.folder.path.string();
    CHECK(program({"graph", "--data", "edited", "-k", "2", "--device", "cpu"}, here).exit_code == 0);
    CHECK(work.run({"condense", "-k", "3", "--out", "c", "-q"}).out.empty());  // over the old files
}

TEST_CASE("condense: unusual sets") {
    const Work one({200});
    CHECK(one.run({"condense", "-k", "1", "--out", "small"}).exit_code == 0);
    CHECK(lines_of(read_file(one.folder / "small/kept.csv")).size() == 2);
    const Work equal({0, 9}, 40);
    std::ofstream same(equal.folder / "train-images-idx3-ubyte", std::ios::binary | std::ios::in);
    same.seekp(16);
    same << std::string(40 * 2, '\x05');
    same.close();
    CHECK(equal.run({"condense", "-k", "1", "--rule", "condense", "--out", "small"}).exit_code == 0);

    const Work two({3, 4}, 2);
    const RunResult none = two.run({"condense", "-k", "1", "--out", "small", "--limit-train", "2"});
    if (two.set.train_labels[0] != two.set.train_labels[1]) {
        CHECK(none.exit_code == 1);
        CHECK(is_one_error_line(none.err));
    }
    CHECK(is_usage_error(two.run({"condense", "-k", "2", "--out", "small"}).err));
    CHECK(two.run({"condense", "-k", "2", "--out", "small"}).err.find("expected at most 1") !=
          std::string::npos);
    CHECK(two.run({"condense", "-k", "2", "--rule", "condense", "--out", "other"}).exit_code == 0);
}

TEST_CASE("condense: wrong command lines and outputs leave no file, and neither does Ctrl-C") {
    const Work work;
    const auto before = work.folder.names();
    check_usage_error({"condense"});
    check_usage_error({"condense", "--out", "-"});
    check_usage_error({"condense", "--out", "x", "--rule", "hart"});
    const RunResult itself = work.run({"condense", "--out", "."});
    CHECK(itself.exit_code == 1);
    CHECK(itself.err.find("is read by this command") != std::string::npos);
    std::ofstream(work.folder / "file") << "x";
    CHECK(work.run({"condense", "--out", "file"}).exit_code == 1);
    fs::remove(work.folder / "file");
    CHECK(work.folder.names() == before);

    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    const Folder folder;
    RunOptions options;
    options.signal = SIGINT;
    options.signal_after = 700ms;
    CHECK(program({"condense", "--data", mnist_folder(), "--device", "cpu", "--threads", "1", "--out",
                   folder / "small"},
                  options)
              .exit_code == 130);
    CHECK(folder.names().empty());
}

TEST_CASE("condense: a training set under other names in the folder is not hidden") {
    for (const char* name : {"train-images.idx3-ubyte", "train-labels.idx1-ubyte"}) {
        const Work work;
        std::string dashed = name;
        dashed[dashed.find('.')] = '-';
        fs::rename(work.folder / dashed, work.folder / name);
        const auto before = work.folder.names();
        const RunResult result = work.run({"condense", "--out", "."});
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
        CHECK(work.folder.names() == before);
        fs::create_directory(work.folder / "other");
        std::ofstream(work.folder / ("other/" + dashed + ".gz")) << "mine";
        CHECK(contains(work.run({"condense", "--out", "other"}).err, "would be hidden"));
        CHECK(fs::directory_iterator(work.folder / "other") != fs::directory_iterator());
        CHECK(work.run({"condense", "--out", "new"}).exit_code == 0);
        CHECK(work.run({"condense", "--out", "new"}).exit_code == 0);  // its own files are replaced
    }
}
