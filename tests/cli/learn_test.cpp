/// Pictures of the user's own: `learn`, --extra and classify --review, as a user runs them.

#include "tests/cli/pictures.h"

using namespace knn::test;

TEST_CASE("learn: pictures whose names give their digits become IDX files, in the order of their names") {
    if (!has_opencv) return skip(no_opencv);
    const Digits digits;
    const std::vector<int> chosen = digits.one_of_each();
    digits.write_photo("hand/3/b.pgm", chosen[3]);
    digits.write_photo("hand/3/a.pgm", chosen[3]);
    digits.write_photo("hand/deep/er/x_7.pgm", chosen[7]);
    digits.write_photo("hand/letter.pgm", chosen[1]);
    write(digits.folder / "hand/9/broken.png", "no picture");
    write(digits.folder / "hand/9/a.gif", "GIF89a");
    fs::create_directory_symlink("..", digits.folder / "hand/8");
    const RunResult result = digits.run("learn hand --out my");
    CHECK(result.exit_code == 3);
    CHECK(contains(result.err, "hand: 1 file of other formats (a.gif, a GIF file) left out"));
    CHECK(count_of(result.err, "hand: 1 linked folder in it left out") == 1);
    CHECK(contains(result.out, "learned  3 digits: 2 of label 3, 1 of label 7"));
    CHECK(contains(result.err, "1 picture left out: no digit in the name"));
    CHECK(contains(result.err, "error: hand/9/broken.png: "));
    CHECK(read_file(digits.folder / "my/learned.csv") ==
          "index,label,file\n0,3,hand/3/a.pgm\n1,3,hand/3/b.pgm\n2,7,hand/deep/er/x_7.pgm\n");
    CHECK(read_file(digits.folder / "my/train-labels-idx1-ubyte").substr(8) == "\3\3\7");
    const std::string help = digits.run("learn --help=all").out;
    for (const std::string name : {"7/a.png", "7.png", "a_7.png", "scan-7.png"}) {
        CHECK(contains(help, name));
        digits.write_photo("named/" + name, chosen[7]);
        CHECK(contains(digits.run("learn named/" + name + " --out one").out, "1 of label 7"));
    }
    // The pixels are those that classify searches for.
    const json answers =
        digits.answers("hand/3/a.pgm hand/deep/er/x_7.pgm --extra my --method raw -k 1 --reject off");
    for (const json& answer : answers)
        CHECK(answer["neighbors"][0]["distance"] == 0);
    check_error(digits.run("learn my --out more"), 1, "no picture");
    check_error(digits.run("learn none --out more"), 1, "none: cannot be read: No such file");
    const RunResult one_missing = digits.run("learn hand/3 none --out three");
    CHECK(one_missing.exit_code == 3);
    CHECK(contains(one_missing.err, "error: none: cannot be read: No such file"));
    check_error(digits.run("learn hand/letter.pgm --out more"), 1, "no picture to learn from");
    check_error(digits.run("learn hand"), 2, "--out");
    fs::create_directory_symlink("nowhere", digits.folder / "link");
    check_error(digits.run("learn hand --out link"), 1,
                "link: is a link to nowhere, which is not there; expected a folder");
    check_error(digits.run("learn hand --out link/in"), 1, "link is a link to nowhere, which is not there");
}

TEST_CASE("learn: pictures named ? are no digits: classify rejects what is like them") {
    if (!has_opencv) return skip(no_opencv);
    if (mnist_folder().empty()) return skip(no_mnist);
    const Digits digits;
    digits.write_photo("hand/3/a.pgm", digits.one_of_each()[3]);
    for (const std::string name : {"hand/?/b.pgm", "hand/c_?.pgm"})
        digits.write_photo(name, digits.one_of_each()[7]);
    digits.write_photo("other/3.pgm", digits.one_of_each()[3]);
    const RunResult result = digits.run("learn hand --out my");
    CHECK(contains(result.out, "learned   1 digit: 1 of label 3"));
    CHECK(contains(result.out, "no digit  2 pictures"));
    CHECK(read_file(digits.folder / "my/learned.csv") ==
          "index,label,file\n0,3,hand/3/a.pgm\n0,?,hand/?/b.pgm\n1,?,hand/c_?.pgm\n");
    CHECK(read_file(digits.folder / "my/no-digits-idx3-ubyte").size() == 16 + 2 * 784);
    const auto answer = [&](const Words& more) {
        return json::parse(digits.run("classify hand/?/b.pgm --json - --data" + Words{mnist_folder()} + more)
                               .out)["pictures"][0];
    };
    CHECK(answer({})["digit"] == 7);
    const json taught = answer("--extra my");
    CHECK(taught["digit"].is_null());
    CHECK(taught["guess"] == 7);
    CHECK(taught["reason"] == "like one of your pictures of no digit: nearer to it than to any digit");
    CHECK(answer("--extra my") == taught);                      // from the cache
    CHECK(answer("--extra my --limit-train 60000") == taught);  // all of MNIST
    CHECK(contains(
        digits.run("classify hand/?/b.pgm --extra my --limit-train 100 --data" + Words{mnist_folder()}).err,
        "its pictures of no digit are left out"));
    check_error(digits.run("learn hand/c_?.pgm --out more"), 1, "only pictures of no digit");
    // What was taught is read, or an error says why not.
    const fs::path file = digits.folder / "my/no-digits-idx3-ubyte";
    const std::string whole = read_file(file);
    fs::rename(file, file.string() + ".gz");
    CHECK(answer("--extra my")["digit"].is_null());
    fs::remove(file.string() + ".gz");
    const auto fails = [&](const std::string& message) {
        check_error(digits.run("classify hand/?/b.pgm --extra my --data" + Words{mnist_folder()}), 1,
                    "my/no-digits-idx3-ubyte: " + message);
    };
    fs::create_symlink("nowhere", file);
    fails("is no file that can be read");
    fs::remove(file);
    for (const std::size_t size : {15, 16}) {
        write(file, whole.substr(0, size));
        fails("is cut short");
    }
    write(file, std::string("\0\0\x08\x03\0\x01\x86\xa1\0\0\0\x1c\0\0\0\x1c", 16));
    fs::resize_file(file, 16 + 100'001 * 784);  // sparse
    fails("has 100,001 images of no digit, more than 100,000");
    write(file, whole);
    // Without such pictures the file is there, and empty.
    output_of(digits.run("learn other --out my"));
    CHECK(read_file(digits.folder / "my/no-digits-idx3-ubyte").size() == 16);
    CHECK(answer("--extra my")["digit"] == 7);
}

TEST_CASE("--extra: the images follow the training set, twice each, for every command") {
    if (!has_opencv) return skip(no_opencv);
    const Digits digits;
    const int one = digits.one_of_each()[5];
    // The pixels of a test digit as a training image with the label 4: it is then its own nearest neighbor.
    write(digits.folder / "my/train-images-idx3-ubyte",
          std::string("\0\0\x08\x03\0\0\0\x01\0\0\0\x1c\0\0\0\x1c", 16) +
              digits.images.substr(static_cast<std::size_t>(one) * 784, 784));
    write(digits.folder / "my/train-labels-idx1-ubyte", std::string("\0\0\x08\x01\0\0\0\x01\x04", 9));
    const auto evaluated = [&](const Words& more) {
        return digits.run("evaluate --data . --device cpu -k 2 --neighbors-csv - --predictions p.csv" + more);
    };
    const json info = json::parse(output_of(digits.run("evaluate --data . --device cpu --json -")));
    const int n_train = info["dataset"]["train"];
    for (const bool limited : {false, true}) {
        const int own = limited ? 100 : n_train;
        const Words more = limited ? "--extra my --limit-train 100" : "--extra my";
        for (const auto& row : csv_rows(output_of(evaluated(more))))
            if (row[0] == std::to_string(one)) {
                CHECK(row[2] == std::to_string(own + std::stoi(row[1]) - 1));
                CHECK(row[3] == "4");
                CHECK(row[4] == "0");
            }
        const auto answers = csv_rows(read_file(digits.folder / "p.csv"));
        CHECK(answers[static_cast<std::size_t>(one) + 1][2] == "4");
    }
    // Leave-one-out leaves one of the copies there.
    for (const std::string words :
         {"tune -k 1", "audit --method raw", "condense --out small -k 1", "graph -k 1", "evaluate -k 1"}) {
        const RunResult result = digits.run(words + " --data . --device cpu --limit-train 100 --extra my");
        CHECK(result.exit_code == 0);
        CHECK((result.err.find("its nearest neighbor is the other copy") == std::string::npos) ==
              (words == "evaluate -k 1"));
    }
    // The cache of what is fitted belongs to the set with its extra images; a report opens with them.
    digits.write_photo("d.pgm", one);
    for (int again = 0; again < 2; ++again)
        for (const bool extra : {true, false}) {
            const json answer =
                digits.answers(Words("d.pgm --reject off") + (extra ? "--extra my" : "--no-cache"));
            for (const json& neighbor : answer[0]["neighbors"])
                CHECK(neighbor["index"].get<int>() < n_train + (extra ? 2 : 0));
        }
    output_of(digits.run("evaluate --data . --extra my --device cpu -k 2 --limit-train 100 --report r"));
    const json report = json::parse(read_file(digits.folder / "r/report.json"));
    CHECK(report["dataset"]["train"] == 102);
    CHECK(report["dataset"]["extra"]["images"] == 2);
    const RunResult seen = digits.run("view --from r --text --index " + std::to_string(one));
    CHECK(contains(output_of(seen), "#100"));
    fs::rename(digits.folder / "my", digits.folder / "moved");
    check_error(digits.run("view --from r --text"), 1,
                "my/train-images-idx3-ubyte is missing; expected it there, or --data and --extra with");
    output_of(digits.run("view --from r --text --data . --extra moved"));
    check_error(digits.run("view --from r --text --data ."), 1,
                "was made with 2 images of --extra, not with 0; expected the same");
    output_of(digits.run("evaluate -q --data . --report without"));
    check_error(digits.run("view --from without --text --data . --extra moved"), 1,
                "was made without --extra, not with 2");
    fs::rename(digits.folder / "moved", digits.folder / "my");
    for (const Words command :
         {"tune -k 1 --limit-train 200", "audit --method raw --limit-train 200",
          "graph -k 2 --limit-train 200 --json g.json", "condense --limit-train 200 --out small"})
        output_of(digits.run(command + "-q --data . --device cpu --extra my"));
    CHECK(contains(read_file(digits.folder / "g.json"), "202"));
    check_error(digits.run("evaluate --data . --extra none"), 1, "learn --out");
}

TEST_CASE("classify --review asks for doubtful digits, and learn reads what is written") {
    if (!has_opencv) return skip(no_opencv);
    const Digits digits;
    const int seven = digits.one_of_each()[7];
    digits.write_photo("7.pgm", seven);
    // Ink that is no digit is rejected, and searched for.
    Page page(200, 200);
    for (int line = 0; line < 5; ++line)
        page.fill(30 + 30 * line, 30, 6, 140);
    page.fill(30, 30, 126, 6);
    write(digits.folder / "comb.pgm", page.pgm());
    const auto reviewed = [&](const std::string& typed, const std::string& comb = "comb") {
        return started(
            {"/bin/sh", "-c",
             "printf '" + typed + "' | \"$0\" classify --data . 7.pgm " + comb + ".pgm --review mine",
             program_file()},
            digits.here());
    };
    const RunResult first = reviewed("4\\n");
    CHECK(first.exit_code == 0);
    CHECK(contains(first.err, "comb.pgm, 1 of 1: "));
    CHECK(contains(first.err, "1 digit written to mine"));
    reviewed("4\\n");
    CHECK(fs::exists(digits.folder / "mine/4/comb-1.png"));
    CHECK(fs::exists(digits.folder / "mine/4/comb-2.png"));
    reviewed("?");  // the input may end with the answer
    CHECK(fs::exists(digits.folder / "mine/?/comb-1.png"));
    fs::remove_all(digits.folder / "mine/?");
    CHECK(contains(reviewed("\\n").err, "0 digits written"));
    CHECK(contains(reviewed("x\\n").err, "0 digits written"));
    CHECK(contains(reviewed("").err, "0 digits written"));
    const json seen = digits.answers("comb.pgm --pixels --reject off");
    output_of(digits.run("learn mine --out my"));
    const std::string pixels = read_file(digits.folder / "my/train-images-idx3-ubyte").substr(16);
    CHECK(pixels.size() == 2 * 784);
    std::size_t same = 0;
    for (std::size_t i = 0; i < 784; ++i)
        same += static_cast<unsigned char>(pixels[i]) == seen[0]["pixels"][i].get<int>();
    CHECK(same == 784);
    std::string wide = "a";
    while (wide.size() < 240)
        wide += "\u6570";
    for (const std::string& odd : {std::string(".hidden"), std::string(251, 'x'), wide}) {
        fs::copy(digits.folder / "comb.pgm", digits.folder / (odd + ".pgm"));
        CHECK(contains(reviewed("4\\n", odd).err, "1 digit written to mine"));
    }
    CHECK(fs::exists(digits.folder / "mine/4/hidden-1.png"));  // a hidden one would not be learned
    CHECK(fs::exists(digits.folder / ("mine/4/" + wide.substr(0, 199) + "-1.png")));  // of whole characters
    CHECK(digits.answers("comb.pgm --extra my --reject off")[0]["digit"] == 4);
    check_error(digits.run("classify --data . - --review mine"), 2, "--review");
    CHECK(contains(reviewed("x\\n10\\n 2 \\n").err, "1 digit written"));  // asks again
    const RunResult full =
        started({"/bin/sh", "-c",
                 "ulimit -f 0; printf '3\\n' | \"$0\" classify --no-cache -q --data . comb.pgm --review none",
                 program_file()},
                digits.here());
    CHECK(full.exit_code == 1);
    CHECK(contains(full.err, "none/3/comb-1.png: cannot be written"));
    CHECK(!fs::exists(digits.folder / "none"));  // without a file in it
    const RunResult endless = started({"/bin/sh", "-c",
                                       "exec timeout -s INT -k 9 --preserve-status 2 \"$0\" classify --data "
                                       ". comb.pgm --review mine < /dev/zero",
                                       program_file()},
                                      digits.here());
    CHECK(endless.exit_code == 130);
}
