/// Where `classify` reads from: files, folders, pipes and its cache, good and bad.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/cli/pictures.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

RunOptions with_cache(const std::string& folder) {
    RunOptions options;
    options.environment["XDG_CACHE_HOME"] = folder;
    return options;
}

}  // namespace

TEST_CASE("files, folders and standard input at once, in the order given") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    const Folder folder;
    const std::vector<int> chosen = one_of_each(digits);
    fs::create_directories(folder.path / "in" / "deeper");
    write(folder / "in/b.pgm", photo(digits, chosen[3]));
    write(folder / "in/a.PGM", photo(digits, chosen[2]));
    write(folder / "in/no ending", photo(digits, chosen[4]));
    write(folder / "in/notes.txt", "no picture");
    write(folder / "in/.hidden.pgm", "no picture");
    write(folder / "in/deeper/c.pgm", photo(digits, chosen[5]));
    write(folder / "7.pgm", photo(digits, chosen[7]));
    const RunResult result = run({"/bin/sh", "-c",
                                  "\"$0\" classify --data \"$1\" -q --reject off \"$2/7.pgm\" \"$2/in\" - < "
                                  "\"$2/in/deeper/c.pgm\"",
                                  MNIST_KNN_BINARY, digits.folder / "", folder.path.string()},
                                 with_cache("/dev/null"));
    CHECK(result.out == "7\n2\n3\n4\n5\n");
    CHECK(result.err.empty());
    CHECK(result.exit_code == 0);

    const RunResult text = digits.classify({folder / "7.pgm", folder / "in", "--reject", "off"});
    CHECK(lines_of(text.out).size() == 16);
    CHECK(text.out.starts_with((folder / "7.pgm") + ": 7  (confidence "));
    const json list = digits.answers({folder / "in", folder / "7.pgm"});
    CHECK(list[0]["file"] == folder / "in/a.PGM");
    CHECK(list[3]["file"] == folder / "7.pgm");
}

TEST_CASE("bad files are told one by one and the others answered") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    const Folder folder;
    write(folder / "good.pgm", photo(digits, one_of_each(digits)[6]));
    write(folder / "empty.png", "");
    write(folder / "text.png", "this is no picture at all");
    write(folder / "huge.pgm", "P5\n100000 100000\n255\n");
    write(folder / "short.pgm", photo(digits, 0).substr(0, 500));
    fs::create_directory(folder.path / "none");
    const std::vector<std::string> bad = {
        folder / "empty.png", folder / "text.png",    folder / "huge.pgm",   folder / "short.pgm",
        folder / "none",      folder / "missing.png", folder / "two\nlines", ""};
    std::vector<std::string> all = bad;
    all.insert(all.begin() + 3, folder / "good.pgm");
    all.emplace_back("-q");
    const RunResult some = digits.classify(all);
    CAPTURE(some.err);
    CHECK(some.exit_code == 3);
    CHECK(some.out == "6\n");
    CHECK(lines_of(some.err).size() == bad.size());
    for (const std::string& line : lines_of(some.err))
        CHECK(is_one_error_line(line + '\n'));

    const json list = digits.answers(all);
    REQUIRE(list.size() == bad.size() + 1);
    for (std::size_t i = 0; i < list.size(); ++i) {
        CHECK(list[i].contains("error") == (i != 3));
        CHECK(list[i].contains("digit") == (i == 3));
        if (i != 3) CHECK(list[i].size() == 2);
    }
    CHECK(lines_of(some.err).back().find(": error: '': ") != std::string::npos);  // the name that is empty
    for (const std::string& file : bad) {
        const RunResult one = digits.classify({file});
        CAPTURE(file);
        CHECK(one.exit_code == 1);
        CHECK(one.out.empty());
        CHECK(is_one_error_line(one.err));
    }
}

TEST_CASE("good and damaged JPEGs have the answers of one thread with four, and each error is told") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    if (photos_folder().empty()) return skip("photos were not found: set MNIST_KNN_PHOTOS");
    std::vector<fs::path> photos;
    for (const auto& entry : fs::directory_iterator(photos_folder()))
        if (entry.path().extension() == ".jpg") photos.push_back(entry.path());
    REQUIRE(!photos.empty());
    const Folder folder;
    for (std::size_t i = 0; i < 40; ++i) {
        const std::string whole = read_file(photos[i % photos.size()]);
        write(folder / (std::to_string(i) + "-good.jpg"), whole);
        write(folder / (std::to_string(i) + "-bad.jpg"), whole.substr(0, whole.size() / 2) + "\xff\xd9");
    }
    const RunResult one = digits.classify({folder / "", "--threads", "1"});
    CHECK(one.exit_code == 3);
    CHECK(lines_of(one.err).size() == 40);
    for (int i = 0; i < 3; ++i) {
        const RunResult four = digits.classify({folder / "", "--threads", "4"});
        CHECK(four.out == one.out);
        CHECK(four.err == one.err);
    }
}

TEST_CASE("classify: wrong command lines and training sets") {
    if (!has_opencv) return skip(no_opencv);
    const Digits digits;
    const Folder folder;
    write(folder / "a.pgm", photo(digits, 0));
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {},
             {"-", "-"},
             {folder / "a.pgm", "--reject", "maybe"},
             {folder / "a.pgm", "--limit-test", "5"},
             {folder / "a.pgm", "-k", "0"},
             {folder / "a.pgm", "--json", folder / "x.png", "--explain", folder / "./x.png"},
             {folder / "a.pgm", "--engine", "cpu", "--device", "gpu"}}) {
        const RunResult result = digits.classify(words);
        CAPTURE(result.err);
        CHECK(result.exit_code == 2);
        CHECK(is_usage_error(result.err));
    }
    CHECK(digits.classify({folder / "a.pgm", "-k", "9", "--limit-train", "8"}).exit_code == 2);
    SmallSet().write(folder.path);
    for (const char* file : {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"})
        CHECK(fs::remove(folder.path / file));  // the training set is enough
    const RunResult small = program({"classify", folder / "a.pgm", "--data", folder / ""});
    CHECK(small.exit_code == 1);
    CHECK(is_one_error_line(small.err));
    CHECK(small.err.find("5x3") != std::string::npos);
    CHECK(digits.classify({folder / "a.pgm", "--explain", "/nonexistent/a.png"}).exit_code == 1);
    CHECK(digits.classify({folder / "a.pgm", "--json", "/dev/full"}).exit_code == 1);
}

TEST_CASE("with a cache, two at once, damaged or not, the answers are the same") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    const Folder folder;
    for (const std::string name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"})
        if (run({"/bin/sh", "-c", "gzip \"$0\"", digits.folder / name}).exit_code != 0)
            return skip("there is no gzip");
    write(folder / "a.pgm", raw(digits.images, 11));
    const RunOptions cached = with_cache(folder / "cache");
    const std::vector<std::string> words = {folder / "a.pgm", "--json", "-"};
    const std::string expected = digits.classify(words).out;
    REQUIRE(!expected.empty());
    CHECK(!fs::exists(folder / "cache"));
    {
        std::vector<std::jthread> both;
        for (int i = 0; i < 4; ++i)
            both.emplace_back([&] { CHECK(digits.classify(words, cached).out == expected); });
    }
    CHECK(digits.classify(words, cached).out == expected);
    int files = 0;
    for (const auto& entry : fs::directory_iterator(folder / "cache/mnist-knn")) {
        ++files;
        const std::string whole = read_file(entry.path());
        for (const std::size_t at : {std::size_t{3}, std::size_t{40}, whole.size() / 2, whole.size() - 1}) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(~damaged[at]);
            write(entry.path(), damaged);
            CHECK(digits.classify(words, cached).out == expected);
            CHECK(read_file(entry.path()) == whole);  // written anew
        }
        write(entry.path(), whole.substr(0, whole.size() / 2));
        CHECK(digits.classify(words, cached).out == expected);
        CHECK(read_file(entry.path()) == whole);
    }
    CHECK(files == 4);  // training set, features, density, leave-one-out sample
    fs::remove_all(folder / "cache");
    auto bypassed = words;
    bypassed.emplace_back("--no-cache");
    CHECK(digits.classify(bypassed, cached).out == expected);
    CHECK(!fs::exists(folder / "cache"));
}

TEST_CASE("without /proc the module for pictures is not looked for in the current folder") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    if (run({"/bin/sh", "-c", "unshare -m mount -t tmpfs none /proc"}).exit_code != 0)
        return skip("/proc cannot be hidden here: that takes root and unshare");
    const Folder folder;
    write(folder / "a.pgm", photo(digits, 0));
    write(folder / "mnist-knn-pictures.so", "no module");
    RunOptions here = with_cache("/dev/null");
    here.folder = folder / "";
    const RunResult result =
        run({"/bin/sh", "-c",
             "exec unshare -m /bin/sh -c 'mount -t tmpfs none /proc && exec \"$0\" classify "
             "--data \"$1\" a.pgm' \"$0\" \"$1\"",
             MNIST_KNN_BINARY, digits.folder / ""},
            here);
    CHECK(result.exit_code == 1);
    CHECK(is_one_error_line(result.err));
    CHECK(result.err.find("/proc/self/exe: cannot be read: ") != std::string::npos);
}

TEST_CASE("classify waits for a pipe, and Ctrl-C ends the waiting") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    const Folder folder;
    const std::string pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    RunOptions options = with_cache("/dev/null");
    options.signal = SIGINT;
    options.signal_after = std::chrono::milliseconds(700);
    const RunResult stopped = digits.classify({"-q", pipe}, options);
    CHECK(stopped.exit_code == 130);
    CHECK(stopped.seconds_after_signal < 5);
    CHECK(stopped.out.empty());

    const int seven = one_of_each(digits)[7];
    std::jthread writer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        write(pipe, photo(digits, seven));
    });
    CHECK(digits.classify({"-q", "--reject", "off", pipe}).out == "7\n");
}
