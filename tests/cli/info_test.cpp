#include <doctest/doctest.h>

#include <fstream>

#include "tests/cli/program.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;

TEST_CASE("info tells of the build, the devices, the engines and the data set") {
    const RunResult result = program({"info"});
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
    for (const char* part : {"compiler", "CUDA", "OpenCV", "  cpu", "  classic", "built-in synthetic digits",
                             "tools/fetch_mnist.sh", "data/mnist", "mnist-knn/mnist"})
        CHECK(result.out.find(part) != std::string::npos);
    CHECK(contains(result.out, ", made by earlier runs; may be deleted"));
}

TEST_CASE("info for machines") {
    const RunResult result = program({"info", "--json", "-"});
    CHECK(result.exit_code == 0);
    const json report = json::parse(result.out);
    CHECK(report["schema"] == "mnist-knn/info/1");
    CHECK(report["dataset"]["synthetic"] == true);
    CHECK(report["dataset"]["mnist"] == false);
    CHECK(report["build"].contains("cuda") == has_cuda);
    CHECK(report["build"].contains("opencv") == has_opencv);
    CHECK(report["engines"].size() >= 2);
    CHECK(report["devices"].back()["kind"] == "cpu");
}

TEST_CASE("info hashes the files and knows that they are not MNIST's") {
    const Folder folder;
    SmallSet().write(folder.path);
    const RunResult result = program({"info", "--data", folder / ""});
    CHECK(result.exit_code == 0);
    CHECK(result.out.find("train-images-idx3-ubyte") != std::string::npos);
    CHECK(result.out.find("not MNIST's") != std::string::npos);

    // A name may be any bytes; the JSON says them as that of evaluate does.
    const std::string name = folder / "caf\xe9%";
    std::filesystem::create_directory(name);
    SmallSet().write(name);
    const json machine = json::parse(program({"info", "--data", name, "--json", "-"}).out);
    const auto file = machine["dataset"]["files"][0]["file"].get<std::string>();
    CHECK(contains(file, "/caf%E9%25/train-images-idx3-ubyte"));
}

TEST_CASE("info on data that is not there tells all else and exits 1") {
    const RunResult result = program({"info", "--data", "/nonexistent"});
    CHECK(result.exit_code == 1);
    CHECK(result.out.find("engines (--engine)") != std::string::npos);
    CHECK(is_one_error_line(result.err));
}

TEST_CASE("info on data that cannot be loaded tells all else and exits 1") {
    const Folder folder;
    SmallSet().write(folder.path);
    std::ofstream(folder / "t10k-images-idx3-ubyte", std::ios::app) << "more";
    const RunResult result = program({"info", "--data", folder / ""});
    CHECK(result.exit_code == 1);
    CHECK(result.out.find("engines (--engine)") != std::string::npos);
    CHECK(result.out.find("not MNIST's") != std::string::npos);
    CHECK(is_one_error_line(result.err));
    CHECK(result.err.find("trailing bytes") != std::string::npos);
    const RunResult machine = program({"info", "--data", folder / "", "--json", "-"});
    CHECK(machine.exit_code == 1);
    CHECK(json::parse(machine.out)["dataset"].contains("problem"));
}

TEST_CASE("the synthetic digits as files give what they give from memory") {
    const Folder folder;
    const std::string digits = folder / "a/digits";
    const RunResult written = program({"info", "--write-synthetic", digits});
    CHECK(written.exit_code == 0);
    CHECK(written.out.find("6000 training and 1000 test images") != std::string::npos);
    const std::vector<std::string> words = {"evaluate", "-q", "--device", "cpu", "--predictions", "-"};
    std::vector<std::string> from_files = words;
    from_files.insert(from_files.end(), {"--data", digits});
    const RunResult a = program(words), b = program(from_files);
    CHECK(a.exit_code == 0);
    CHECK(b.exit_code == 0);
    CHECK(a.out == b.out);
}

TEST_CASE("info recognizes MNIST") {
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    const RunResult result = program({"info", "--data", mnist_folder(), "--json", "-"});
    CHECK(json::parse(result.out)["dataset"]["mnist"] == true);
}

TEST_CASE("info of an installed program names the script that is installed beside it") {
    const Folder folder;
    RunOptions nothing_found;
    nothing_found.folder = folder.path.string();
    for (const char* name : {"MNIST_KNN_DATA", "HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS"})
        nothing_found.environment[name] = name == std::string("MNIST_KNN_DATA") ? "" : folder / "none";
    namespace fs = std::filesystem;
    fs::create_directories(folder.path / "bin");
    fs::create_directories(folder.path / "share/mnist-knn");
    fs::copy_file(MNIST_KNN_BINARY, folder / "bin/mnist-knn");
    CHECK(run({folder / "bin/mnist-knn", "info"}, nothing_found).out.find("MNIST: tools/fetch_mnist.sh") !=
          std::string::npos);
    std::ofstream(folder / "share/mnist-knn/fetch_mnist.sh") << "#!/bin/sh\n";
    const std::string script = fs::canonical(folder / "share/mnist-knn/fetch_mnist.sh").string();
    CHECK(run({folder / "bin/mnist-knn", "info"}, nothing_found)
              .out.find("MNIST: " + script + " downloads it") != std::string::npos);
}
