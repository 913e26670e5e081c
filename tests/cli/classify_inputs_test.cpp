/// Where `classify` reads from: files, folders and pipes, good and bad. Its cache: tests/faults.

#include <sys/stat.h>

#include "tests/cli/pictures.h"

using namespace knn::test;

TEST_CASE("files, folders and standard input at once, in the order given") {
    const Digits digits;
    const std::vector<int> chosen = digits.one_of_each();
    digits.write_photo("in/b.pgm", chosen[3]);
    digits.write_photo("in/a.PGM", chosen[2]);
    digits.write_photo("in/no ending", chosen[4]);
    digits.write_photo("in/deeper/c.pgm", chosen[5]);
    digits.write_photo("7.pgm", chosen[7]);
    for (const char* name : {"in/notes.txt", "in/.hidden.pgm"})
        write(digits.folder / name, "no picture");
    fs::create_symlink("/proc/kmsg", digits.folder / "in/log");  // a regular file that lets a reader wait
    const RunResult result =
        started({"/bin/sh", "-c", "\"$0\" classify --data . -q --reject off 7.pgm in - < in/deeper/c.pgm",
                 program_file()},
                digits.here());
    CHECK(output_of(result) == "7\n2\n3\n4\n5\n");
    CHECK(result.err.empty());

    for (const char* limit : {"", "x", "10"})  // of OpenCV, for other programs
        for (const char* name : {"PIXELS", "WIDTH", "HEIGHT"})
            CHECK(digits
                      .classify("7.pgm -q",
                                {.environment = {{std::string("OPENCV_IO_MAX_IMAGE_") + name, limit}}})
                      .out == "7\n");

    const RunResult text = digits.classify("7.pgm in --reject off");
    CHECK(lines_of(text.out).size() == 16);
    CHECK(text.out.starts_with("7.pgm: 7  (confidence "));
    const json list = digits.answers("in 7.pgm");
    CHECK(list[0]["file"] == "in/a.PGM");
    CHECK(list[3]["file"] == "7.pgm");
}

TEST_CASE("bad files are told one by one and the others answered") {
    const Digits digits;
    digits.write_photo("good.pgm", digits.one_of_each()[6]);
    write(digits.folder / "empty.png", "");
    write(digits.folder / "text.png", "this is no picture at all");
    write(digits.folder / "huge.pgm", "P5\n100000 100000\n255\n");
    write(digits.folder / "short.pgm", photo(digits, 0).substr(0, 500));
    fs::create_directory(digits.folder / "none");
    const Words bad = {"empty.png", "text.png",    "huge.pgm",   "short.pgm",
                       "none",      "missing.png", "two\nlines", ""};
    Words all = bad + "-q --method raw";
    all.insert(all.begin() + 3, "good.pgm");
    const RunResult some = digits.classify(all + "--threads 1"), four = digits.classify(all + "--threads 4");
    CHECK(four.out == some.out);
    CHECK(four.err == some.err);
    CHECK(some.exit_code == 3);
    CHECK(lines_of(some.out) == std::vector<std::string>{"error", "error", "error", "6", "error", "error",
                                                         "error", "error", "error"});
    CHECK(lines_of(some.err).size() == bad.size());
    for (const std::string& line : lines_of(some.err))
        CHECK(is_one_error_line(line + '\n'));
    CHECK(contains(lines_of(some.err).back(), ": error: '': "));  // the name that is empty

    const json list = digits.answers(all);
    REQUIRE(list.size() == bad.size() + 1);
    for (std::size_t i = 0; i < list.size(); ++i) {
        CHECK(list[i].contains("error") == (i != 3));
        CHECK(list[i].contains("digit") == (i == 3));
        if (i != 3) CHECK(list[i].size() == 2);
    }
    for (const std::string& file : bad) {
        check_error(digits.classify({file}), 1);
    }
}

TEST_CASE_FIXTURE(Digits, "where addresses are limited, the answers do not depend on --threads") {
    for (int i = 10; i < 22; ++i)
        write_photo("in/" + std::to_string(i) + ".pgm", i);
    const auto classify = [&](int kibibytes, const std::string& threads) {
        return started({"/bin/sh", "-c",
                        "ulimit -v " + std::to_string(kibibytes) +
                            "; exec \"$0\" classify -q --method raw --limit-train 500 --device cpu --data . "
                            "in --threads " +
                            threads,
                        program_file()},
                       {.folder = folder.path().string()});
    };
    constexpr int stacks = 150'000;  // of 12 threads; heaps of their own would take 786,432
    bool any = false;
    for (const int limit : {450'000, 550'000}) {
        const RunResult one = classify(limit, "1");
        if (one.exit_code != 0) continue;  // this build needs more
        any = true;
        CHECK(output_of(classify(limit + stacks, "12")) == one.out);
    }
    if (!any) skip("this build decodes no picture in so little memory");
}

TEST_CASE_FIXTURE(Digits, "nothing is fitted for pictures in which there is no digit") {
    write(folder / "text.png", "this is no picture at all");
    write(folder / "blank.pgm", Page(200, 300).pgm());
    const std::string cache = folder / "cache/mnist-knn";
    const auto fitted = [&] {
        std::size_t files = 0;
        for (const auto& entry : fs::directory_iterator(cache))
            files += entry.path().filename().string().starts_with("train") ? 0 : 1;
        return files;
    };
    fs::create_directories(cache);
    for (const std::string words : {"text.png", "blank.pgm", "--many blank.pgm text.png"}) {
        run("classify --data . " + words);
        CHECK(fitted() == 0);
    }
    write_photo("a.pgm", 0);
    run("classify --data . a.pgm");
    CHECK(fitted() > 0);
}

TEST_CASE_FIXTURE(Digits, "classify: training sets that do not fit") {
    write_photo("a.pgm", 0);
    check_error(classify("a.pgm -k 9 --limit-train 8"), 2, "expected at most 8");
    check_error(classify("none.pgm -k 9 --limit-train 8"), 2, "expected at most 8");
    const Work small({.test = 0});  // the training set is enough
    check_error(small.plain("classify --data . " + (folder / "a.pgm")), 1, "5x3");
}

TEST_CASE_FIXTURE(Digits, "without /proc the module for pictures is not looked for in the current folder") {
    if (knn::test::run({"/bin/sh", "-c", "unshare -m mount -t tmpfs none /proc"}).exit_code != 0)
        return skip("/proc cannot be hidden here: that takes root and unshare");
    write_photo("a.pgm", 0);
    write(folder / "mnist-knn-pictures.so", "no module");
    check_error(started({"/bin/sh", "-c",
                         "exec unshare -m /bin/sh -c 'mount -t tmpfs none /proc && exec \"$0\" classify "
                         "--data . a.pgm' \"$0\"",
                         program_file()},
                        here()),
                1, "/proc/self/exe: cannot be read: ");
}

TEST_CASE_FIXTURE(Digits,
                  "a module for pictures that cannot be loaded is one error, and nothing is written") {
    const Folder place;
    fs::copy_file(program_file(), place / "mnist-knn");
    write(place / "mnist-knn-pictures.so", "no module");
    for (const std::string picture : {"a_0.pgm", "b_1.pgm"})
        write_photo(picture, 0);
    for (const Words& words :
         {Words("classify --data . a_0.pgm b_1.pgm --json out"), Words("learn . --out out")}) {
        check_error(started(Words{place / "mnist-knn"} + words, here()), 1, ".so: cannot be loaded");
        CHECK(!fs::exists(folder / "out"));
    }
}

TEST_CASE_FIXTURE(Digits, "Ctrl-C ends classify while it looks at a page of 3,000 lines") {
    constexpr int side = 2000;
    Page page(side, side);
    std::mt19937 random(1);
    const auto any = [&] { return static_cast<int>(random() % (side - 2)); };
    for (int line = 0; line < 3000; ++line) {
        const int x = any(), y = any(), width = any() - x, height = any() - y;
        const int steps = std::max({std::abs(width), std::abs(height), 1});
        for (int i = 0; i <= steps; ++i)
            for (int row = 0; row < 3; ++row)
                page.gray.replace(
                    static_cast<std::size_t>((y + height * i / steps + row) * side + x + width * i / steps),
                    3, 3, '\x14');
    }
    write(folder / "page.pgm", page.pgm());
    const RunResult stopped =
        classify("--many -q page.pgm", {.signal = SIGINT, .signal_after = std::chrono::milliseconds(1500)});
    CHECK(stopped.exit_code == 130);
    CHECK(stopped.seconds_after_signal < 5);  // it was 9 s, and 55 s on a busy machine
}

TEST_CASE("classify waits for a pipe, and Ctrl-C ends the waiting") {
    const Digits digits;
    const std::string pipe = digits.folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const RunOptions options{.environment = {{"XDG_CACHE_HOME", "/dev/null"}},
                             .signal = SIGINT,
                             .signal_after = std::chrono::milliseconds(700)};
    const RunResult stopped = digits.classify("-q pipe", options);
    CHECK(stopped.exit_code == 130);
    CHECK(stopped.seconds_after_signal < 5);
    CHECK(stopped.out.empty());

    const int seven = digits.one_of_each()[7];
    std::jthread writer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        write(pipe, photo(digits, seven));
    });
    CHECK(digits.classify("-q --method raw --reject off pipe").out == "7\n");
}
