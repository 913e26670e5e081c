/// Data sets and names at the limits, as a user meets them.

#include <sys/resource.h>

#include "tests/cli/pictures.h"
#include "tests/cli/program.h"
#include "tests/faults/job.h"
#include "tests/support/idx_bytes.h"

using namespace knn::test;
namespace fs = std::filesystem;

namespace {

/// An IDX file of zeros, which takes no space on the disk.
void write_sparse(const std::string& name, const std::string& header, std::uint64_t bytes) {
    write(name, header);
    fs::resize_file(name, header.size() + bytes);
}

void write_sparse_images(const std::string& name, std::uint32_t count, std::uint32_t side) {
    write_sparse(name, idx_header(8, {count, side, side}), std::uint64_t{count} * side * side);
}

void write_sparse_labels(const std::string& name, std::uint32_t count) {
    write_sparse(name, idx_header(8, {count}), count);
}

bool has_controls(const std::string& text) {
    return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' && c != '\n'; });
}

}  // namespace

TEST_CASE_FIXTURE(Work, "sizes: a sparse file of 100 GB is refused at once") {
    constexpr std::uint32_t count = (1U << 31) - 1, side = 7;
    try {
        write_sparse_images(folder / "large", count, side);
    } catch (const fs::filesystem_error&) {
        return skip("this file system has no files of 100 GB");
    }
    const RunOptions here{.folder = folder.path().string()};
    for (const std::string option : {"--train-images", "--test-images"})
        // By its header. 16 GB of addresses (KiB): far fewer than the file needs, and enough for OpenBLAS, which LAPACK may be:
        // its threads ask for memory until they get it, and the end of the process waits for them.
        check_error(
            started({"/bin/sh", "-c",
                     "ulimit -v 16000000; exec \"$0\" evaluate --device cpu --data . " + option + " large",
                     program_file()},
                    here),
            1, "labels for the 2,147,483,647 images of large; expected one label for each image");
    struct rusage usage = {};
    REQUIRE(::getrusage(RUSAGE_CHILDREN, &usage) == 0);
    CHECK(usage.ru_maxrss < 1 << 20);  // KiB
}

TEST_CASE("sizes: more than 2^31 pixels in all") {
    if (!try_all()) return skip("takes 5 GB of memory: set MNIST_KNN_FAULTS=all");
    const Folder folder;
    constexpr std::uint32_t side = 7, count = (1U << 31) / (side * side) + 1;
    const std::string images = folder / "train-images-idx3-ubyte",
                      labels = folder / "train-labels-idx1-ubyte";
    write_sparse_images(images, count, side);
    write_sparse_labels(labels, count);
    overwrite(images, fs::file_size(images) - 1, "\xff");
    overwrite(labels, fs::file_size(labels) - 1, "\x09");
    const std::string last = std::string(side * side - 1, '\0') + '\xff';
    write(folder / "t10k-images-idx3-ubyte",
          idx_header(8, {2, side, side}) + std::string(side * side, '\0') + last);
    write(folder / "t10k-labels-idx1-ubyte", idx_header(8, {2}) + std::string("\0\x09", 2));
    const RunOptions options{.timeout = std::chrono::seconds(600)};
    CHECK(output_of(program(
              "evaluate -q -k 2 --device cpu --no-cache --neighbors-csv - --data " + folder.path().string(),
              options)) == "query,rank,index,label,distance\n0,1,0,0,0\n0,2,1,0,0\n1,1," +
                               std::to_string(count - 1) + ",9,0\n1,2,0,0,65025\n");
}

TEST_CASE("sizes: images of one pixel, and as many neighbors as images") {
    const Work work({.rows = 1, .cols = 1, .train = 6, .test = 4});
    for (const Words words :
         {"evaluate -q -k 6", "evaluate -q -k 6 --method accurate --rerank none", "tune -k 1-5",
          "graph -k 5 --csv g", "condense -k 5 --out c", "audit --method raw -k 5 --csv a"}) {
        const RunResult result = work.run(words);
        // Classes of which every image is removed, and transforms of images without sides, are errors of one line.
        CHECK((result.exit_code == 0 ||
               (result.exit_code <= 2 && result.err.starts_with("mnist-knn: error: "))));
    }
    CHECK(csv_rows(work.output("evaluate -q -k 6 --neighbors-csv -")).size() == 1 + 4 * 6);
    check_error(work.run("evaluate -k 7"), 2);
}

TEST_CASE_FIXTURE(Work, "sizes: a data set on pipes is the data set") {
    const RunOptions here{.environment = {{"XDG_CACHE_HOME", folder / "cache"}},
                          .folder = folder.path().string()};
    const std::string files = output("evaluate -q --predictions -");
    for (const std::string pipe : {"cat", "gzip -c"}) {
        std::string command = "exec \"$0\" evaluate -q --device cpu --predictions -";
        for (const auto& [option, file] : {std::pair("train-images", "train-images-idx3"),
                                           {"train-labels", "train-labels-idx1"},
                                           {"test-images", "t10k-images-idx3"},
                                           {"test-labels", "t10k-labels-idx1"}})
            command += std::string(" --") + option + " <(" + pipe + ' ' + file + "-ubyte)";
        CHECK(output_of(started({"/bin/bash", "-c", command, program_file()}, here)) == files);
    }
}

TEST_CASE("names: no folder's name breaks out of a page's script or reaches a terminal raw") {
    const Folder folder;
    const auto pages = [&](const std::string& name) {
        const std::string data = folder / name;
        SmallSet().write(data);
        for (const Words words :
             {"evaluate --device cpu --report " + (folder / "r"),
              "audit --method raw --device cpu --html " + (folder / "r/audit.html"),
              "tune --device cpu -k 1-2 --plot " + (folder / "r/t.svg"), std::string("info")}) {
            const RunResult result = program(words + Words{"--data", data});
            CHECK(!has_controls(output_of(result)));
            CHECK(!has_controls(result.err));
        }
        CHECK(nlohmann::json::accept(read_file(folder / "r/report.json")));
        return read_file(folder / "r/index.html") + read_file(folder / "r/audit.html") +
               read_file(folder / "r/t.svg");
    };
    const std::string plain = pages("plain"), evil = pages("a\n\x1b[31m<!--<script>\xff' \"&{{data}}<");
    for (const char* part : {"<script", "</script", "<!--", "-->", "\x1b", "\xff"}) {
        CAPTURE(part);
        CHECK(count_of(evil, part) == count_of(plain, part));
    }
}

TEST_CASE("names: of pictures, with any bytes") {
    if (!has_opencv) return skip(no_opencv);
    const Digits digits;
    const std::string folder = digits.folder / "pictures";
    const std::string file = folder + "/\n\x1b[2J<script>\xff.pgm", broken = folder + "/\n\x1b[2J\xfe.png";
    write(broken, "no picture");
    write(file, photo(digits, 0));
    const RunResult result =
        digits.classify("--method raw --limit-train 500 --no-cache --device cpu --json " + folder + "/j" +
                        Words{file, broken});
    CHECK(result.exit_code == 3);
    CHECK(!has_controls(result.out));
    CHECK(!has_controls(result.err));
    CHECK(count_of(result.err, "\n") == 2);  // of the broken picture, and of the file that was written
    CHECK(nlohmann::json::accept(read_file(folder + "/j")));
}
