#include <unistd.h>

#include "tests/cli/program.h"
#include "tests/support/idx_bytes.h"

using namespace knn::test;

TEST_CASE("info tells of the build, the devices, the engines and the data set") {
    check_contains(silent_output(program("info")),
                   {"compiler", "CUDA", "OpenCV", "  cpu", "  classic", "built-in synthetic digits",
                    "tools/fetch_mnist.sh", "data/mnist", "mnist-knn/mnist", "  cache      none"});
    const json report = json::parse(output_of(program("info --json -")));
    CHECK(report["schema"] == "mnist-knn/info/1");
    CHECK(report["dataset"]["synthetic"] == true);
    CHECK(report["dataset"]["mnist"] == false);
    CHECK(report["build"].contains("cuda") == has_cuda);
    CHECK(report["build"].contains("opencv") == has_opencv);
    CHECK(report["engines"].size() >= 2);
    CHECK(report["devices"].back()["kind"] == "cpu");
    if (mnist_folder().empty()) return skip(no_mnist);
    CHECK(json::parse(
              program(Words{"info", "--data", mnist_folder(), "--json", "-"}).out)["dataset"]["mnist"] ==
          true);
}

TEST_CASE_FIXTURE(Work, "info hashes the files and knows that they are not MNIST's") {
    check_contains(output_of(plain("info --data .")), {"train-images-idx3-ubyte", "not MNIST's"});

    // A name may be any bytes; the JSON says them as that of evaluate does.
    const std::string name = folder / "caf\xe9%";
    SmallSet().write(name);
    const json machine = json::parse(program(Words{"info", "--data", name, "--json", "-"}).out);
    const auto file = machine["dataset"]["files"][0]["file"].get<std::string>();
    CHECK(contains(file, "/caf%E9%25/train-images-idx3-ubyte"));
    CHECK(machine["dataset"]["source"].get<std::string>().ends_with("/caf%E9%25"));
    CHECK(machine["dataset"]["looked_in"][0] == machine["dataset"]["source"]);
}

TEST_CASE_FIXTURE(Work, "info hashes nothing large of a data set that cannot be read") {
    // A few hundred kilobytes, and far more unpacked than MNIST has.
    constexpr std::uint32_t n = 130'000, side = 28;
    write(folder / "train-images-idx3-ubyte.gz",
          gzip(idx_header(8, {n, side, side}) + std::string(std::size_t{n} * side * side, '\0'), 1));
    std::filesystem::remove(folder / "train-images-idx3-ubyte");
    const RunResult result = plain("info --data .");
    CHECK(result.exit_code == 1);
    CHECK(contains(result.err, "has 40 labels for the 130,000 images"));
    CHECK(count_of(result.out, "too large to hash") == 1);
    CHECK(count_of(result.out, "sha256 ") == 3);
    CHECK(count_of(result.out, "not MNIST's") == 4);
    // What cannot be read twice is not loaded; it may be endless.
    CHECK(count_of(plain("info --test-labels /dev/zero --data .").out, "too large to hash") == 2);
}

TEST_CASE_FIXTURE(Work, "info on data that is not there or cannot be loaded tells all else and exits 1") {
    overwrite(folder / "t10k-images-idx3-ubyte", file("t10k-images-idx3-ubyte").size(), "more");
    for (const std::string data : {"/nonexistent", "."}) {
        const RunResult result = plain("info --data " + data);
        CHECK(result.exit_code == 1);
        CHECK(contains(result.out, "engines (--engine)"));
        CHECK(contains(result.out, "not MNIST's") == (data == "."));
        CHECK(is_one_error_line(result.err));
        CHECK(contains(result.err, "trailing bytes") == (data == "."));
    }
    const RunResult machine = plain("info --data . --json -");
    CHECK(machine.exit_code == 1);
    CHECK(json::parse(machine.out)["dataset"].contains("problem"));
}

TEST_CASE("the synthetic digits as files give what they give from memory") {
    const Folder folder;
    const std::string digits = folder / "a/digits";
    check_contains(output_of(program("info --write-synthetic " + digits)),
                   {"6,000 training and 1,000 test images"});
    const Words words = "evaluate -q --device cpu --predictions -";
    CHECK(output_of(program(words)) == output_of(program(words + "--data" + Words{digits})));
}

TEST_CASE("info says how large the cache is and may be, and empties it") {
    const Folder folder;
    RunOptions own{
        .environment = {{"XDG_CACHE_HOME", folder.path().string()}, {"MNIST_KNN_CACHE_MB", "100"}}};
    const auto info = [&](const Words& words = {}) { return program("info" + words, own); };
    const auto bytes = [&] { return json::parse(output_of(info("--json -")))["cache"]["bytes"].get<int>(); };
    CHECK(bytes() == 0);
    CHECK(contains(output_of(info()), "/mnist-knn, which is not there yet\n"));
    CHECK(output_of(info("--clear-cache")) == "there is no cache folder\n");
    write(folder / "mnist-knn", "no folder");
    CHECK(contains(output_of(info()), "/mnist-knn, which cannot be read: Not a directory\n"));
    CHECK(!json::parse(output_of(info("--json -")))["cache"].contains("bytes"));
    std::filesystem::remove(folder / "mnist-knn");
    output_of(program("evaluate -q --device cpu --transform hog", own));
    CHECK(bytes() > 1'000'000);
    CHECK(contains(output_of(info()), " of at most 100 MB, made by earlier runs; may be deleted\n"));
    own.environment["MNIST_KNN_CACHE_MB"] = "1";
    CHECK(contains(output_of(info()),
                   " of at most 1 MB, made by earlier runs; may be deleted: what is too much "));
    write(folder / "mnist-knn/notes", "mine");
    check_contains(output_of(info("--clear-cache")), {"removed ", " MB from "});
    CHECK(bytes() == 0);
    CHECK(std::distance(std::filesystem::directory_iterator(folder / "mnist-knn"), {}) == 1);
    if (::geteuid() == 0 && ::chown((folder / "mnist-knn").c_str(), 1, 1) == 0)
        CHECK(contains(output_of(info()), "/mnist-knn, which belongs to another user and is not used\n"));
    check_error(info("--clear-cache --json -"), 2, "--clear-cache: ");
    own.environment["MNIST_KNN_CACHE_MB"] = "much";
    check_error(info(), 2, "MNIST_KNN_CACHE_MB: 'much'");
    check_error(program("evaluate -q --device cpu", own), 2, "MNIST_KNN_CACHE_MB: 'much'");
    output_of(program("evaluate -q --device cpu --no-cache", own));
}

TEST_CASE("info of an installed program names the script that is installed beside it") {
    const Folder folder;
    const RunOptions here{.folder = folder.path().string()};
    fs::create_directories(folder.path() / "bin");
    fs::create_directories(folder.path() / "share/mnist-knn");
    fs::copy_file(MNIST_KNN_BINARY, folder / "bin/mnist-knn");
    const auto info = [&] { return output_of(started({folder / "bin/mnist-knn", "info"}, here)); };
    CHECK(contains(info(), "MNIST: tools/fetch_mnist.sh"));
    write(folder / "share/mnist-knn/fetch_mnist.sh", "#!/bin/sh\n");
    CHECK(contains(info(), "MNIST: " + fs::canonical(folder / "share/mnist-knn/fetch_mnist.sh").string() +
                               " downloads it"));
}
