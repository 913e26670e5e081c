/// Data sets and names at the limits, as a user meets them.

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/cli/pictures.h"
#include "tests/cli/program.h"
#include "tests/faults/job.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;
namespace fs = std::filesystem;

namespace {

std::string big_endian(std::uint64_t size) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes += static_cast<char>(size >> shift & 0xff);
    return bytes;
}

/// An IDX file of zeros, which takes no space on the disk.
void write_sparse(const std::string& name, const std::string& header, std::uint64_t bytes) {
    write(name, header);
    fs::resize_file(name, header.size() + bytes);
}

void write_sparse_images(const std::string& name, std::uint64_t count, std::uint64_t side) {
    write_sparse(name, big_endian(0x803) + big_endian(count) + big_endian(side) + big_endian(side),
                 count * side * side);
}

void write_sparse_labels(const std::string& name, std::uint64_t count) {
    write_sparse(name, big_endian(0x801) + big_endian(count), count);
}

std::string quoted(const std::string& word) {
    return " '" + word + "'";
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

bool has_controls(const std::string& text) {
    return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' && c != '\n'; });
}

}  // namespace

TEST_CASE("sizes: a sparse file of 100 GB is refused at once") {
    const Folder folder;
    SmallSet().write(folder.path);
    const std::string large = folder / "large";
    constexpr std::uint64_t count = (std::uint64_t{1} << 31) - 1, side = 7;
    try {
        write_sparse_images(large, count, side);
    } catch (const fs::filesystem_error&) {
        return skip("this file system has no files of 100 GB");
    }
    for (const std::string option : {"--train-images", "--test-images"}) {
        // 16 GB of addresses (KiB): far fewer than the file needs, and enough for OpenBLAS, which LAPACK may be:
        // its threads ask for memory until they get it, and the end of the process waits for them.
        const std::string command = "ulimit -v 16000000; exec '" MNIST_KNN_BINARY
                                    "' evaluate --device cpu --data" +
                                    quoted(folder / "") + " " + option + quoted(large);
        const RunResult result = run({"/bin/sh", "-c", command});
        CAPTURE(result.err);
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
        CHECK(result.err.find("needs 105226698703 bytes of memory") != std::string::npos);
    }
    struct rusage usage = {};
    REQUIRE(::getrusage(RUSAGE_CHILDREN, &usage) == 0);
    CHECK(usage.ru_maxrss < 1 << 20);  // KiB
}

TEST_CASE("sizes: more than 2^31 pixels in all") {
    if (!try_all()) return skip("takes 5 GB of memory: set MNIST_KNN_FAULTS=all");
    const Folder folder;
    constexpr std::uint64_t side = 7, count = (std::uint64_t{1} << 31) / (side * side) + 1;
    const std::string images = folder / "train-images-idx3-ubyte",
                      labels = folder / "train-labels-idx1-ubyte";
    write_sparse_images(images, count, side);
    write_sparse_labels(labels, count);
    {
        std::fstream(images, std::ios::in | std::ios::out | std::ios::binary)
            .seekp(-1, std::ios::end)
            .put('\xff');
        std::fstream(labels, std::ios::in | std::ios::out | std::ios::binary).seekp(-1, std::ios::end).put(9);
    }
    const std::string last = std::string(side * side - 1, '\0') + '\xff';
    write(folder / "t10k-images-idx3-ubyte", big_endian(0x803) + big_endian(2) + big_endian(side) +
                                                 big_endian(side) + std::string(side * side, '\0') + last);
    write(folder / "t10k-labels-idx1-ubyte", big_endian(0x801) + big_endian(2) + std::string("\0\x09", 2));
    RunOptions options;
    options.timeout = std::chrono::seconds(600);
    const RunResult result = program({"evaluate", "-q", "-k", "2", "--device", "cpu", "--data", folder / "",
                                      "--no-cache", "--neighbors-csv", folder / "n.csv"},
                                     options);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const auto rows = csv_rows(read_file(folder / "n.csv"));
    REQUIRE(rows.size() == 5);
    CHECK(rows[1] == std::vector<std::string>{"0", "1", "0", "0", "0"});
    CHECK(rows[2] == std::vector<std::string>{"0", "2", "1", "0", "0"});
    CHECK(rows[3] == std::vector<std::string>{"1", "1", std::to_string(count - 1), "9", "0"});
    CHECK(rows[4] == std::vector<std::string>{"1", "2", "0", "0", "65025"});
}

TEST_CASE("sizes: images of one pixel, and as many neighbors as images") {
    const Folder folder;
    SmallSet set;
    set.rows = set.cols = 1;
    set.train = 6;
    set.test = 4;
    set.write(folder.path);
    const std::vector<std::string> data = {"--data", folder / "", "--device", "cpu"};
    for (std::vector<std::string> words :
         {std::vector<std::string>{"evaluate", "-q", "-k", "6"},
          {"evaluate", "-q", "-k", "6", "--method", "accurate", "--rerank", "none"},
          {"tune", "-k", "1-5"},
          {"graph", "-k", "5", "--csv", folder / "g"},
          {"condense", "-k", "5", "--out", folder / "c"},
          {"audit", "-k", "5", "--csv", folder / "a"}}) {
        CAPTURE(words);
        words.insert(words.end(), data.begin(), data.end());
        const RunResult result = program(words);
        CAPTURE(result.err);
        // Classes of which every image is removed, and transforms of images without sides, are errors of one line.
        CHECK((result.exit_code == 0 ||
               (result.exit_code <= 2 && result.err.starts_with("mnist-knn: error: "))));
    }
    const RunResult neighbors = program(
        {"evaluate", "-q", "-k", "6", "--neighbors-csv", "-", "--data", folder / "", "--device", "cpu"});
    CHECK(csv_rows(neighbors.out).size() == 1 + 4 * 6);
    CHECK(program({"evaluate", "-k", "7", "--data", folder / "", "--device", "cpu"}).exit_code == 2);
}

TEST_CASE("sizes: a data set on pipes is the data set") {
    const Folder folder;
    SmallSet().write(folder.path);
    const std::string options = " -q --device cpu --predictions -",
                      names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                 "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    const RunResult files =
        program({"evaluate", "-q", "--device", "cpu", "--predictions", "-", "--data", folder / ""});
    REQUIRE(files.exit_code == 0);
    for (const std::string pipe : {"cat", "gzip -c"}) {
        std::string command = "exec '" MNIST_KNN_BINARY "' evaluate" + options;
        const char* const each[] = {" --train-images", " --train-labels", " --test-images", " --test-labels"};
        for (int i = 0; i < 4; ++i)
            command += std::string(each[i]) + " <(" + pipe + quoted(folder / names[i]) + ")";
        RunOptions none;
        none.environment = {{"XDG_CACHE_HOME", folder / "cache"}};
        const RunResult result = run({"/bin/bash", "-c", command}, none);
        CAPTURE(result.err);
        CHECK(result.exit_code == 0);
        CHECK(result.out == files.out);
    }
}

TEST_CASE("names: no folder's name breaks out of a page's script or reaches a terminal raw") {
    const Folder folder;
    const std::string plain = folder / "plain", evil = folder / "a\n\x1b[31m<!--<script>\xff' \"&{{data}}";
    for (const std::string& name : {plain, evil + "<"}) {
        fs::create_directory(name);
        SmallSet().write(name);
    }
    const auto pages = [&](const std::string& data) {
        const std::vector<std::string> common = {"--data", data, "--device", "cpu"};
        std::string all;
        for (std::vector<std::string> words : {std::vector<std::string>{"evaluate", "--report", folder / "r"},
                                               {"audit", "--html", folder / "r/audit.html"},
                                               {"tune", "-k", "1-2", "--plot", folder / "r/t.svg"}}) {
            words.insert(words.end(), common.begin(), common.end());
            const RunResult result = program(words);
            CAPTURE(result.err);
            CHECK(result.exit_code == 0);
            CHECK(!has_controls(result.out));
            CHECK(!has_controls(result.err));
        }
        for (const char* file : {"r/index.html", "r/audit.html", "r/t.svg"})
            all += read_file(folder / file);
        CHECK(nlohmann::json::accept(read_file(folder / "r/report.json")));
        return all;
    };
    const std::string with_plain = pages(plain), with_evil = pages(evil + "<");
    for (const char* part : {"<script", "</script", "<!--", "-->", "\x1b", "\xff"}) {
        CAPTURE(part);
        CHECK(count_of(with_evil, part) == count_of(with_plain, part));
    }
}

TEST_CASE("names: of pictures, with any bytes") {
    if (!has_opencv) return skip(no_opencv);
    const Workplace place(job("classify"));
    const std::string folder = place.path() + "/pictures";
    fs::create_directory(folder);
    const std::string file = folder + "/\n\x1b[2J<script>\xff.pgm", broken = folder + "/\n\x1b[2J\xfe.png";
    fs::copy_file(place.path() + "/data/0.pgm", file);
    write(broken, "no picture");
    const RunResult result = program({"classify", "--no-cache", "--data", place.path() + "/data", "--device",
                                      "cpu", "--json", folder + "/j", file, broken});
    CAPTURE(result.err);
    CHECK(result.exit_code == 3);
    CHECK(!has_controls(result.out));
    CHECK(!has_controls(result.err));
    CHECK(count_of(result.err, "\n") == 1);
    CHECK(nlohmann::json::accept(read_file(folder + "/j")));
}
