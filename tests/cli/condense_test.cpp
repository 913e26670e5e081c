/// `condense` as a user runs it: what it writes, read back by `evaluate`.

#include <regex>

#include "tests/cli/program.h"
#include "tests/support/idx_bytes.h"

using namespace knn::test;

namespace {

/// Images of two pixels.
SmallSet pairs(std::vector<int> classes = {0, 7, 255}, int train = 120) {
    return {.rows = 1, .cols = 2, .classes = std::move(classes), .train = train, .test = 30, .levels = 8};
}

/// The predictions for the training images as a test set.
std::vector<std::string> answers(const Work& work, const Words& more) {
    std::vector<std::string> labels;
    for (const auto& row : csv_rows(work.output("evaluate --test-images train-images-idx3-ubyte "
                                                "--test-labels train-labels-idx1-ubyte --predictions -" +
                                                more)))
        labels.push_back(row[2]);
    return labels;
}

}  // namespace

TEST_CASE("condense: evaluate reads what is written, and all answers are as before") {
    for (const Words method : {"-k 1", "-k 5 --weights distance", "--metric cosine"}) {
        const Work work(pairs());
        const std::string text = silent_output(work.run("condense --rule condense --out small" + method));
        CHECK(contains(text, "they classify all as before"));
        CHECK(
            answers(work, method) ==
            answers(
                work,
                "--train-images small/train-images-idx3-ubyte --train-labels small/train-labels-idx1-ubyte" +
                    method));

        const auto kept = csv_rows(work.file("small/kept.csv"));
        REQUIRE(kept.size() > 1);
        CHECK(kept[0] == std::vector<std::string>{"index"});
        const std::size_t n = kept.size() - 1;
        CHECK(n < 120);
        CHECK(contains(text, "kept       " + std::to_string(n) + " images"));
        std::string images = work.file("small/train-images-idx3-ubyte").substr(16), expected;
        std::string labels = work.file("small/train-labels-idx1-ubyte").substr(8), expected_labels;
        for (std::size_t i = 1; i <= n; ++i) {
            const auto from = std::stoul(kept[i][0]);
            expected_labels += static_cast<char>(work.set.train_labels[from]);
            expected += work.set.train_pixels(from);
        }
        CHECK(labels == expected_labels);
        CHECK(images == expected);
    }
}

TEST_CASE("condense: a class of which editing leaves nothing is named") {
    const Work work(pairs());
    write(work.folder / "rows.csv", "x,label\n0,a\n1,a\n2,b\n3,b\n9,b\n");
    const std::string condense = "condense --train rows.csv -k 1 --device cpu --out ";
    CHECK(contains(work.plain(condense + "new").err, "note: editing removes all of 1 class: b\n"));
    write(work.folder / "equal.csv", "x,label\n0,a\n0,b\n9,a\n");
    CHECK(contains(work.plain("condense --train equal.csv -k 1 --rule condense --out equal").err,
                   "note: nothing is kept of 1 class: b\n"));
    CHECK(!contains(work.plain(condense + "all --rule condense").err, "editing"));
    CHECK(work.plain(condense + "quiet -q").err.empty());
}

TEST_CASE("condense: labels of an earlier run, with names or without, are not read instead") {
    const Work work(pairs());
    std::string named = "x,y,label\n", numbered = named;
    for (int i = 0; i < 40; ++i) {
        const std::string row = std::to_string(i) + ".5," + std::to_string(i * i % 7) + ',';
        named += row + (i < 20 ? "low\n" : "high\n");
        numbered += row + (i < 20 ? "0\n" : "1\n");
    }
    write(work.folder / "named.csv", named);
    write(work.folder / "numbered.csv", numbered);
    const Words condense = "condense -q -k 1 --device cpu --out ";
    output_of(work.plain(condense + "a --train numbered.csv"));
    output_of(work.plain(condense + "b --train named.csv"));
    for (const char* set : {"a/train.npy", "b/train.npy"})
        CHECK(std::regex_search(work.file(set).substr(0, 128), std::regex(R"(\(\d+, 2\))")));
    check_error(work.plain(condense + "a --train named.csv"), 1,
                "a/train-labels.npy: would stay beside train.npy and train-labels.csv");
    check_error(work.plain(condense + "b --train numbered.csv"), 1,
                "b/train-labels.csv: would stay beside train.npy and train-labels.npy");
    output_of(work.plain(condense + "a --train numbered.csv"));
    output_of(work.plain(condense + "b --train named.csv"));
    check_error(work.run("condense -q --out a"), 1, "a/train.npy: would stay beside train-images-idx3-ubyte");
    work.output("condense -q --out images");
    check_error(work.plain(condense + "images --train numbered.csv"), 1,
                "images/train-images-idx3-ubyte: would stay beside train.npy");
}

TEST_CASE("condense: images whose classes have names stay images, and keep the names") {
    const Work work(pairs());
    std::string labels;
    for (const std::uint8_t label : work.set.train_labels)
        labels += label == 0 ? "none\n" : label == 7 ? "some\n" : "all\n";
    write(work.folder / "labels.txt", labels);
    const Words set = "--train train-images-idx3-ubyte --train-labels labels.txt";
    output_of(work.plain("condense -q -k 1 --rule condense --device cpu --out small" + set));
    const auto predicted = [&](const Words& train) {
        std::vector<std::string> classes;
        for (const auto& row :
             csv_rows(output_of(work.plain("evaluate -k 1 --device cpu --predictions - --test "
                                           "train-images-idx3-ubyte --test-labels labels.txt" +
                                           train))))
            classes.push_back(row[2]);
        return classes;
    };
    const std::vector<std::string> classes = predicted("--train small/train.npy");
    CHECK(std::ranges::count(classes, "some") > 0);
    CHECK(classes == predicted(set));
    CHECK(contains(work.file("small/train.npy").substr(0, 128), ", 1, 2)"));
    check_error(work.run("condense -q -k 1 --out small"), 1,
                "small/train.npy: would stay beside train-images-idx3-ubyte");
}

TEST_CASE("condense: editing and both rules") {
    const Work work(pairs());
    work.output("condense -k 3 --rule edit --out edited");
    work.output("condense -k 3 --out c");
    const auto edited = lines_of(work.file("edited/kept.csv")), both = lines_of(work.file("c/kept.csv"));
    CHECK(both.size() < edited.size());
    for (const std::string& index : both)
        CHECK(std::find(edited.begin(), edited.end(), index) != edited.end());
    // The edited set is read by every command, without a test set.
    output_of(work.plain("graph --data edited -k 2 --device cpu"));
    CHECK(work.output("condense -k 3 --out c -q").empty());  // over the old files
}

TEST_CASE("condense: more neighbors than fit into the free memory are refused at once") {
    const std::string free = read_file("/proc/meminfo"), name = "MemAvailable:";
    const std::int64_t kilobytes = std::stoll(free.substr(free.find(name) + name.size()));
    const auto n = static_cast<std::uint32_t>(
        kilobytes / 200);  // 16,384 neighbors take 128 kB, and lists of them as much
    const Folder folder;
    std::string rows(8 + std::size_t{n}, '\0'), labels = idx_header(8, {n}) + std::string(n, '\0');
    for (int i = 0; i < 4; ++i)
        rows[static_cast<std::size_t>(i)] = static_cast<char>(n >> 8 * i & 255);
    rows[4] = 1;
    labels.back() = 1;
    write(folder / "rows.u8bin", rows);
    write(folder / "labels", labels);
    for (const std::string rule : {"edit", "condense"})
        check_error(program("condense -q -k 16384 --device cpu --train " + (folder / "rows.u8bin") +
                            " --train-labels " + (folder / "labels") + " --out " + (folder / "small") +
                            " --rule " + rule),
                    1, "memory: the neighbors of ");
    CHECK(folder.names() == std::vector<std::string>{"labels", "rows.u8bin"});
}
