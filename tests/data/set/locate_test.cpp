#include "data/set/locate.h"

#include "data/core/errors.h"
#include "tests/support/idx_bytes.h"
#include "tests/support/surroundings.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using namespace knn::test;
using knn::DataError;
using knn::DataLocation;
using knn::DataOptions;

namespace {

/// An environment without a data set in any default folder.
struct Nowhere {
    TempFolder folder;
    Surroundings surroundings{folder.path()};
    Nowhere() {
        surroundings.set("MNIST_KNN_DATA", std::nullopt);
        surroundings.set("HOME", (folder / "home").string());
        surroundings.set("XDG_DATA_HOME", std::nullopt);
        surroundings.set("XDG_DATA_DIRS",
                         (folder / "shared1").string() + ":" + (folder / "shared2").string());
    }
};

DataOptions in(const std::string& folder) {
    DataOptions options;
    options.folder = folder;
    return options;
}

std::string locate_error(const DataOptions& options) {
    return knn::test::error_of<DataError>([&] { knn::locate(options); });
}

}  // namespace

TEST_CASE_FIXTURE(Nowhere, "locate: both spellings, plain and .gz, mixed in one folder") {
    folder.write("d/train-images-idx3-ubyte", "1");
    folder.write("d/train-labels.idx1-ubyte", "2");
    folder.write("d/t10k-images-idx3-ubyte.gz", "3");
    folder.write("d/t10k-labels.idx1-ubyte.gz", "4");
    const DataLocation found = knn::locate(in("d"));
    CHECK(found.files == std::vector<fs::path>{"d/train-images-idx3-ubyte", "d/train-labels.idx1-ubyte",
                                               "d/t10k-images-idx3-ubyte.gz", "d/t10k-labels.idx1-ubyte.gz"});
    CHECK(found.source == "d");
    CHECK_FALSE(found.synthetic);
    CHECK(found.looked_in == std::vector<std::string>{"d"});

    folder.write("d/t10k-images-idx3-ubyte", "plain beside .gz: the faster one");
    CHECK(knn::locate(in("d")).files[2] == "d/t10k-images-idx3-ubyte");
}

TEST_CASE_FIXTURE(Nowhere, "locate: --data, variable, data/mnist, XDG folders, built-in digits") {
    DataLocation found = knn::locate({});
    CHECK(found.synthetic);
    CHECK(found.source == "built-in synthetic digits");
    CHECK(found.files.empty());
    const auto place = [&](const char* name) { return (folder / name / "mnist-knn/mnist").string(); };
    CHECK(found.looked_in == std::vector<std::string>{"data/mnist", place("home/.local/share"),
                                                      place("shared1"), place("shared2")});

    // Each folder of higher priority hides the previous ones.
    for (const char* name : {"shared2", "shared1", "home/.local/share"}) {
        write_small_dataset(folder, std::string(name) + "/mnist-knn/mnist");
        CHECK(knn::locate({}).source == place(name));
    }
    surroundings.set("XDG_DATA_HOME", (folder / "xdg").string());
    CHECK(knn::locate({}).source == place("shared1"));
    write_small_dataset(folder, "xdg/mnist-knn/mnist");
    CHECK(knn::locate({}).source == place("xdg"));
    write_small_dataset(folder, "data/mnist");
    CHECK(knn::locate({}).source == "data/mnist");
    write_small_dataset(folder, "variable");
    surroundings.set("MNIST_KNN_DATA", "variable");
    CHECK(knn::locate({}).source == "variable");
    write_small_dataset(folder, "option");
    CHECK(knn::locate(in("option")).source == "option");
    CHECK(knn::locate(in("option/")).files[0] == "option/train-images-idx3-ubyte");
}

TEST_CASE_FIXTURE(Nowhere, "locate: relative and empty XDG folders and empty variables are passed over") {
    surroundings.set("XDG_DATA_HOME", "relative");
    surroundings.set("XDG_DATA_DIRS", "also/relative::");
    surroundings.set("MNIST_KNN_DATA", "");
    write_small_dataset(folder, "relative/mnist-knn/mnist");
    const DataLocation found = knn::locate({});
    CHECK(found.synthetic);
    CHECK(found.looked_in == std::vector<std::string>{"data/mnist"});
}

TEST_CASE_FIXTURE(Nowhere, "locate: a usual place that lacks a file is passed over") {
    write_small_dataset(folder, "data/mnist");
    fs::remove("data/mnist/t10k-labels-idx1-ubyte");
    const DataLocation found = knn::locate({});
    CHECK(found.synthetic);
    CHECK(found.files.empty());
    CHECK(found.incomplete == std::vector<std::string>{"data/mnist: lacks t10k-labels-idx1-ubyte"});

    // A complete folder after it is used, and the incomplete one is still listed.
    write_small_dataset(folder, "shared2/mnist-knn/mnist");
    const DataLocation other = knn::locate({});
    CHECK(other.source == (folder / "shared2/mnist-knn/mnist").string());
    CHECK(other.files.size() == 4);
    CHECK(other.incomplete == found.incomplete);

    // Files with other names do not count as part of a data set.
    for (const fs::path& file : knn::dataset_files("data/mnist"))
        fs::remove(file);
    folder.write("data/mnist/README", "");
    CHECK(knn::locate({}).incomplete.empty());
}

TEST_CASE_FIXTURE(Nowhere, "locate: a folder without permission does not lack files") {
    write_small_dataset(folder, "data/mnist");
    fs::permissions("data/mnist", fs::perms::owner_read | fs::perms::owner_write);
    fs::permissions(folder.path(), fs::perms::all);
    {
        const Unprivileged user;
        if (!user.is_ordinary()) return skip("root cannot become another user here");
        CHECK(locate_error(in("data/mnist")) ==
              "data/mnist: may not be read: permission denied; expected a folder with MNIST's four IDX "
              "files, each plain or .gz");
        const DataLocation found = knn::locate({});
        CHECK(found.synthetic);
        CHECK(found.incomplete == std::vector<std::string>{"data/mnist: may not be read: permission denied"});
    }
    fs::permissions("data/mnist", fs::perms::owner_all);
}

TEST_CASE_FIXTURE(Nowhere, "dataset_files: any spelling, plain or .gz, and links that lead nowhere") {
    CHECK(knn::dataset_files("none").empty());
    folder.write("d/other", "");
    CHECK(knn::dataset_files("d").empty());
    for (const char* name : {"d/train-labels.idx1-ubyte", "d/t10k-images-idx3-ubyte.gz"})
        folder.write(name, "");
    fs::create_symlink("nowhere", "d/t10k-labels.idx1-ubyte.gz");
    CHECK(knn::dataset_files("d") == std::vector<fs::path>{"d/train-labels.idx1-ubyte",
                                                           "d/t10k-images-idx3-ubyte.gz",
                                                           "d/t10k-labels.idx1-ubyte.gz"});
}

TEST_CASE_FIXTURE(Nowhere, "locate: a named folder that is missing, a file, or lacks files is an error") {
    const std::string expected = "; expected a folder with MNIST's four IDX files, each plain or .gz";
    write_small_dataset(folder, "data/mnist");  // must not be used instead
    CHECK(locate_error(in("none")) == "none: no such folder" + expected);
    folder.write("file", "");
    CHECK(locate_error(in("file")) == "file: is not a folder" + expected);
    folder.write("part/train-images.idx3-ubyte.gz", "");
    folder.write("part/t10k-images-idx3-ubyte", "");
    fs::create_directories("part/train-labels-idx1-ubyte");  // no file
    const std::string lacks = "part: lacks train-labels-idx1-ubyte, t10k-labels-idx1-ubyte" + expected;
    CHECK(locate_error(in("part")) == lacks);
    surroundings.set("MNIST_KNN_DATA", "part");
    CHECK(locate_error({}) == lacks + ", in $MNIST_KNN_DATA");
    CHECK_THROWS_WITH_AS(
        knn::locate_training(in("none")),
        "none: no such folder; expected a folder with MNIST's two training files, each plain or .gz",
        DataError);
}

TEST_CASE_FIXTURE(Nowhere, "locate: single files replace the folder's, and four of them need no folder") {
    write_small_dataset(folder, "d");
    DataOptions options = in("d");
    options.test_images = "mine";
    const DataLocation found = knn::locate(options);
    CHECK(found.files[2] == "mine");
    CHECK(found.files[3] == "d/t10k-labels-idx1-ubyte");
    CHECK(found.source == "mine, rest from d");
    fs::remove("d/t10k-images-idx3-ubyte");  // not needed
    CHECK(locate_error(options) == "");
    fs::remove("d/train-labels-idx1-ubyte");
    CHECK(locate_error(options).find("d: lacks train-labels-idx1-ubyte;") == 0);
    surroundings.set("MNIST_KNN_DATA", "none");
    const DataLocation four = knn::locate({"", "a", "b", "c", "d", "", "", "", ""});
    CHECK(four.files == std::vector<fs::path>{"a", "b", "c", "d"});
    CHECK(four.source == "a, b, c, d");
    CHECK(four.looked_in.empty());
    CHECK_FALSE(four.synthetic);
}

TEST_CASE_FIXTURE(
    Nowhere, "locate: some single files take the rest from the usual places, or name the missing options") {
    const DataOptions options = {"", "a", "b", "", "", "", "", "", ""};
    CHECK(locate_error(options).find(
              "§test-images, §test-labels (not given): no data set was found in data/mnist, ") == 0);
    CHECK(contains(locate_error(options), "; expected all four files, or §data"));
    folder.write("data/mnist/t10k-images-idx3-ubyte", "");
    CHECK(contains(locate_error(options),
                   " (data/mnist: lacks t10k-labels-idx1-ubyte); expected all four files"));
    folder.write("data/mnist/t10k-labels-idx1-ubyte", "");
    const DataLocation found = knn::locate(options);
    CHECK(found.files[1] == "b");
    CHECK(found.files[3] == "data/mnist/t10k-labels-idx1-ubyte");
    CHECK(found.source == "a, b, rest from data/mnist");
}

TEST_CASE_FIXTURE(Nowhere, "locate: the training set alone may lie where no test set is") {
    folder.write("d/train-images-idx3-ubyte", "1");
    folder.write("d/train-labels.idx1-ubyte.gz", "2");
    folder.write("e/train-images-idx3-ubyte", "1");
    const DataLocation found = knn::locate_training(in("d"));
    CHECK(found.source == "d");
    CHECK(found.files == std::vector<fs::path>{"d/train-images-idx3-ubyte", "d/train-labels.idx1-ubyte.gz"});
    CHECK(contains(locate_error(in("d")), "lacks t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte"));
    CHECK_THROWS_AS(knn::locate_training(in("e")), DataError);
    DataOptions named;
    named.train_images = "a";
    CHECK_THROWS_AS(knn::locate_training(named), DataError);
    named.train_labels = "b";
    named.test_images = "c";  // not read
    CHECK(knn::locate_training(named).files == std::vector<fs::path>{"a", "b"});
    CHECK(knn::locate_training({}).synthetic);
}
