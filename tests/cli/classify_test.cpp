/// What `classify` answers, also judged by the names of the pictures; folders in folders; turned pictures; pixels.

#include <sys/stat.h>

#include "tests/cli/pictures.h"

using namespace knn::test;

namespace {

int sum_of_votes(const json& answer) {
    int votes = 0;
    for (const auto& vote : answer["votes"].items())
        votes += vote.value().get<int>();
    return votes;
}

/// Of a page in the answers of --many: its rows, with / between them and ? for what was rejected.
std::string page_text(const json& page) {
    std::string text;
    json row;
    for (const json& digit : page["digits"]) {
        if (!text.empty() && digit["row"] != row) text += '/';
        row = digit["row"];
        text += digit["digit"].is_null() ? "?" : digit["digit"].dump();
    }
    return text;
}

/// The least number of digits of `want` that are wrong or missing in `got`, or invented, where a ? costs nothing.
std::size_t count_unmarked(const std::string& want, const std::string& got) {
    std::vector<std::size_t> before(got.size() + 1, 0);
    for (std::size_t j = 0; j < got.size(); ++j)
        before[j + 1] = before[j] + (got[j] != '?');
    for (const char digit : want) {
        std::vector<std::size_t> now = {before[0] + 1};
        for (std::size_t j = 0; j < got.size(); ++j) {
            const bool marked = got[j] == '?';
            now.push_back(
                std::min({before[j] + (digit != got[j] && !marked), before[j + 1] + 1, now[j] + !marked}));
        }
        before = now;
    }
    return before.back();
}

/// The rows of a list in a folder of real pictures: the whole name, and what is to be seen.
std::vector<std::vector<std::string>> listed(const std::string& folder, const std::string& list) {
    auto rows = csv_rows(read_file(folder + '/' + list));
    rows.erase(rows.begin());
    for (auto& row : rows)
        row[0] = folder + '/' + row[0];
    return rows;
}

/// What is answered of pictures compared with MNIST. What is fitted is kept for the next ones.
struct RealPictures {
    Folder cache;

    json answers(const Words& words, const std::vector<std::vector<std::string>>& rows) const {
        Words all = "classify --json - --data" + Words{mnist_folder()} + words;
        for (const auto& row : rows)
            all.push_back(row[0]);
        const RunOptions here{.environment = {{"XDG_CACHE_HOME", cache.path().string()}}};
        return json::parse(program(all, here).out)["pictures"];
    }
};

}  // namespace

TEST_CASE("images as they are in the data set get the answers of evaluate") {
    if (mnist_folder().empty()) return skip(no_mnist);
    const RunResult content = run({"/bin/sh", "-c", "gzip -cdf \"$0\"/t10k-images*", mnist_folder()});
    if (content.out.size() != 16 + 10000 * 784) return skip("there is no gzip");
    const Folder folder;
    const int count = 60;
    for (int i = 0; i < count; ++i)
        write(folder / ("in/" + std::to_string(1000 + i) + ".pgm"), raw(content.out.substr(16), i));
    // Evaluate fits, and classify reads what it has fitted.
    const RunOptions cached{.environment = {{"XDG_CACHE_HOME", folder / "cache"}}};
    const Words data = Words{"--data", mnist_folder()} + "--limit-train 6000 -k 7";
    for (const std::string method : {"raw", "gradients", "accurate"}) {
        output_of(program("evaluate -q --device cpu --limit-test 60 --method " + method + " --predictions " +
                              (folder / "p") + " --neighbors-csv " + (folder / "n") + data,
                          cached));
        const auto predictions = csv_rows(read_file(folder / "p")),
                   neighbors = csv_rows(read_file(folder / "n"));
        Words words = "classify --reject off --json -" + data + Words{folder / "in"};
        if (method != "accurate") words += {"--method", method};  // the default of classify
        const json list = json::parse(program(words, cached).out)["pictures"];
        REQUIRE(list.size() == count);
        for (std::size_t i = 0; i < count; ++i) {
            const json& one = list[i];
            CHECK(one["file"] == folder / ("in/" + std::to_string(1000 + i) + ".pgm"));
            CHECK(std::to_string(one["digit"].get<int>()) == predictions[i + 1][2]);
            CHECK(one["confidence"].get<double>() == std::stod(predictions[i + 1][3]));
            CHECK(one["vote_share"].get<double>() == std::stod(predictions[i + 1][4]));
            CHECK(sum_of_votes(one) == 7);
            REQUIRE(one["neighbors"].size() == 7);
            for (std::size_t rank = 0; rank < 7; ++rank) {
                const auto& row = neighbors[1 + i * 7 + rank];
                const json& neighbor = one["neighbors"][rank];
                CHECK(std::to_string(neighbor["index"].get<int>()) == row[2]);
                CHECK(std::to_string(neighbor["label"].get<int>()) == row[3]);
                CHECK(std::to_string(neighbor["distance"].get<int>()) == row[4]);
            }
            CHECK(one["box"].size() == 4);
        }
    }
}

TEST_CASE_FIXTURE(Digits, "a blank picture is answered with a question mark") {
    write(folder / "blank.pgm", Page(200, 300).pgm());
    CHECK(output_of(classify("-q blank.pgm")) == "?\n");
    const json rejected = answers("blank.pgm")[0];
    CHECK(rejected["digit"].is_null());
    CHECK(rejected["reason"] == "no ink found");
    CHECK(!rejected.contains("guess"));
    CHECK(rejected.contains("confidence"));
    CHECK(rejected.contains("neighbors"));
    const json forced = answers("--reject off blank.pgm")[0];
    CHECK(forced["digit"].is_number_integer());
    CHECK(!forced.contains("reason"));
    CHECK(forced["confidence"] == 0);        // without ink nothing is likely to be right
    CHECK(forced["neighbors"].size() == 4);  // of accurate
    CHECK(answers("--many blank.pgm")[0]["digits"].empty());
    CHECK(classify("-q --many blank.pgm").out == "?\n");

    // Without MNIST it says first what its answers are worth, and how to get it.
    const RunResult built_in =
        program("classify --method raw --limit-train 500 nowhere.png " + (folder / "blank.pgm"));
    CHECK(built_in.err.starts_with(
        "mnist-knn: note: no data set found: comparing with the built-in synthetic digits, by which a "
        "quarter of real digits are rejected; 'mnist-knn info' tells how to get MNIST\n"));
}

TEST_CASE("the digits of a page in reading order, and a picture that explains them") {
    const Digits digits;
    const std::vector<int> chosen = digits.one_of_each();
    Page page(360, 640);
    const int rows[2][4] = {{3, 1, 4, 2}, {5, 9, 0, 6}};
    for (int row = 0; row < 2; ++row)
        for (int col = 0; col < 4; ++col)
            page.draw(digits, chosen[static_cast<std::size_t>(rows[row][col])],
                      30 + 160 * row + 7 * (col % 2), 40 + 140 * col, 4);
    write(digits.folder / "page.pgm", page.pgm());
    const RunResult text = digits.classify("--many -q --reject off page.pgm --explain page.png");
    CHECK(text.out == "3142\n5906\n");
    CHECK(read_file(digits.folder / "page.png").starts_with("\x89PNG"));
    const json found = digits.answers("--many --reject off page.pgm")[0]["digits"];
    REQUIRE(found.size() == 8);
    CHECK(found[0]["digit"] == 3);
    CHECK(found[7]["digit"] == 6);
    CHECK(found[7]["box"][0].get<int>() > 40 + 140 * 3);
    CHECK(found[7]["box"][1].get<int>() > 30 + 160);

    const auto before = digits.folder.names();
    CHECK(digits.classify("-q page.pgm none.pgm --explain page.png").exit_code == 3);
    CHECK(read_file(digits.folder / "page.png").starts_with("\x89PNG"));
    CHECK(digits.folder.names() == before);

    digits.write_photo("a.pgm", 0);
    Words many = "--explain why.png --method raw -k 1";  // few neighbors are drawn soon
    for (int i = 0; i < 51; ++i)
        many.push_back("a.pgm");
    check_contains(digits.classify(many).err, {"note: --explain draws the first 50 of 51 pictures\n"});
}

TEST_CASE_FIXTURE(
    Digits,
    "classify is accurate unless told otherwise, options override its parts, and votes are of the "
    "neighbors") {
    for (int i = 0; i < 20; ++i)
        write_photo("in/" + std::to_string(i) + ".pgm", i);
    const json usual = answers("--reject off in");
    REQUIRE(usual.size() == 20);
    for (const json& answer : usual) {
        CHECK(answer["neighbors"].size() == 4);
        CHECK(sum_of_votes(answer) == 4);
        for (const json& neighbor : answer["neighbors"])
            CHECK(answer["votes"].contains(std::to_string(neighbor["label"].get<int>())));
    }
    CHECK(usual == answers("--reject off --method accurate in"));
    const json plain = answers("--reject off --method raw in");
    CHECK(plain != usual);
    CHECK(plain[0]["neighbors"].size() == 5);
    CHECK(answers("--reject off --transform raw --rerank none --vote majority -k 5 in") == plain);
    check_error(classify("--transform zscore --rerank none --vote majority -k 5 in"), 2,
                "--transform zscore: makes float64, and only bytes tell what is no digit");
}

TEST_CASE_FIXTURE(Digits, "a share of digits may be lost: more is rejected the larger it is") {
    for (int i = 0; i < 60; ++i)
        write(folder / ("in/" + std::to_string(i) + ".pgm"), raw(images, i));
    std::size_t before = 0;
    for (const std::string share : {"0%", "1%", "10%", "50%"}) {
        std::size_t rejected = 0;
        for (const json& one : answers("in --reject " + share)) {
            const bool is_rejected = one["digit"].is_null();
            CHECK(is_rejected == (one["usual"].get<double>() < std::stod(share) / 100));
            CHECK(is_rejected == one.contains("reason"));
            CHECK(is_rejected == one.contains("guess"));
            rejected += is_rejected ? 1 : 0;
        }
        CHECK(rejected >= before);
        before = rejected;
    }
    CHECK(before > 10);
    CHECK(answers("--reject auto in") == answers("--reject 0.5% in"));
}

TEST_CASE_FIXTURE(Digits, "the explanation also shows candidates before re-ranking and what moved") {
    write_photo("a.pgm", 3);
    const auto height = [&](const std::string& rerank) {
        output_of(classify("--reject off --limit-train 500 a.pgm --explain why.png --rerank " + rerank));
        const std::string png = read_file(folder / "why.png");
        REQUIRE(png.starts_with("\x89PNG"));
        return png_size(png).second;
    };
    // Two rows more: candidates are 112 pixels high and images with lines 168, both with words.
    const int plain = height("none");
    for (const std::string name : {"both", "distortion", "cells"})
        CHECK(height(name) > plain + 112 + 168);
}

TEST_CASE("classify: real digits and photos are right, letters are rejected and named") {
    if (mnist_folder().empty()) return skip(no_mnist);
    const RealPictures pictures;
    const auto is_digit = [](const json& answer, int digit) {
        return answer.value("digit", json()) == digit;
    };
    const auto is_rejected = [](const json& answer) { return answer.value("digit", json()).is_null(); };
    struct Row {
        std::string folder;
        int right, wrong, rejected, named;
    };
    // docs/classify.md has the figures.
    for (const Row& row :
         {Row{pictures_folder(), 187, 2, 75, 0}, {more_pictures_folder(), 592, 4, 193, 144}}) {
        if (row.folder.empty()) {
            skip("there are no pictures: set MNIST_KNN_PICTURES and MNIST_KNN_PICTURES2");
            continue;
        }
        int right = 0, wrong = 0, rejected = 0, named = 0;
        const auto digits = listed(row.folder, "labels.csv"), letters = listed(row.folder, "nondigits.csv");
        const json of_digits = pictures.answers({}, digits), of_letters = pictures.answers({}, letters);
        REQUIRE(of_digits.size() == digits.size());
        REQUIRE(of_letters.size() == letters.size());
        for (std::size_t i = 0; i < digits.size(); ++i)
            if (!is_rejected(of_digits[i]))
                ++(is_digit(of_digits[i], std::stoi(digits[i][1])) ? right : wrong);
        for (std::size_t i = 0; i < letters.size(); ++i) {
            if (letters[i][2] != "0" || !is_rejected(of_letters[i])) continue;
            ++rejected;
            if (!of_letters[i].value("reason", "").starts_with("like ")) continue;
            ++named;
            CHECK(of_letters[i].contains("guess"));
        }
        MESSAGE(right, " digits right, ", wrong, " wrong; ", rejected, " letters and signs rejected, ", named,
                " for what they are like");
        CHECK(right >= row.right);
        CHECK(wrong <= row.wrong);
        CHECK(rejected >= row.rejected);
        CHECK(named >= row.named);
    }
    if (photos_folder().empty()) return skip("there are no photos: set MNIST_KNN_PHOTOS");
    for (const json& answer : pictures.answers({}, {{photos_folder()}})) {  // their names end in their digit
        const std::string stem = fs::path(answer["file"].get<std::string>()).stem().string();
        CAPTURE(stem);
        CHECK(is_digit(answer, stem.back() - '0'));
    }
}

TEST_CASE("classify --many: real pages are exact, or their doubtful digits are ?") {
    if (pictures_folder().empty() || more_pictures_folder().empty())
        return skip("there are no pictures: set MNIST_KNN_PICTURES and MNIST_KNN_PICTURES2");
    if (mnist_folder().empty()) return skip(no_mnist);
    const RealPictures pictures;
    struct Row {
        Words words;
        std::vector<std::string> folders;
        int exact;
    };
    // docs/classify.md has the figures.
    for (const Row& row : {Row{"--many --method gradients", {pictures_folder()}, 9},
                           {"--many", {pictures_folder(), more_pictures_folder()}, 50}}) {
        int exact = 0;
        std::size_t digits = 0, unmarked = 0;
        for (const std::string& folder : row.folders) {
            const auto pages = listed(folder, "pages.csv");
            const json read = pictures.answers(row.words, pages);
            for (std::size_t i = 0; i < pages.size(); ++i) {
                std::string want = pages[i][1], got = page_text(read[i]);
                exact += got == want;
                std::erase(got, '/');
                std::erase(want, '/');
                digits += want.size();
                unmarked += count_unmarked(want, got);
            }
        }
        MESSAGE(exact, " pages exact; ", unmarked, " of ", digits, " digits neither right nor ?");
        CHECK(exact >= row.exact);
        if (row.folders.size() > 1) CHECK(70 * unmarked <= digits);
    }
}

TEST_CASE_FIXTURE(Digits, "classify --expected: folders and names tell the digits, right answers are count") {
    const std::vector<int> chosen = one_of_each();
    write_photo("in/3/photo_9.pgm", chosen[3]);  // the folder is asked first
    write_photo("in/a_4.pgm", chosen[4]);
    write_photo("in/5.pgm", chosen[5]);
    write_photo("in/wrong-7.pgm", chosen[2]);
    write_photo("in/img12.pgm", chosen[1]);  // tells nothing
    write(folder / "in/more/broken_1.pgm", "P5\n");
    const RunResult result = classify("-r --expected --reject off in");
    CHECK(result.exit_code == 3);
    CHECK(result.out.starts_with(
        "3 of 5 pictures right, 1 wrong, 0 rejected, 1 failed; 1 more has no digit in its name\n"
        "of those answered: accuracy 75"));
    CHECK(contains(result.out, "true \\ predicted"));
    CHECK(result.out.ends_with("\nwrong:\n    in/wrong-7.pgm: 2, expected 7\n"));
    const json listed = answers("--expected --reject off in/a_4.pgm in/img12.pgm");
    CHECK(listed[0]["expected"] == 4);
    CHECK(listed[1]["expected"].is_null());
    // However the folder is named.
    const RunOptions inside{.folder = folder / "in/3"};
    for (const std::string name : {".", "photo_9.pgm", "./photo_9.pgm", "../3", "../../in/3/photo_9.pgm"}) {
        CHECK(program("classify --expected -q --method raw --reject off --data ../.. " + name, inside)
                  .out.starts_with("1 of 1 picture"));
    }
    CHECK(classify("-q --expected --reject off in/a_4.pgm").out.starts_with("1 of 1 picture right, 0 wrong"));
    CHECK(lines_of(classify("-rq --expected --reject off in").out).size() == 2);

    classify("-rq --expected --reject off in --report report");
    const json written = json::parse(read_file(folder / "report/report.json"));
    CHECK(written["result"]["correct"] == 3);
    CHECK(written["result"]["total"] == 4);
    CHECK(written["timing"]["load_ms"] > 0);
    CHECK(written["timing"]["wall_ms"] >= written["timing"]["search_ms"]);
    CHECK(written["result"]["confusion"][7][2] == 1);
    CHECK(fs::exists(folder / "report/index.html"));
    CHECK(csv_rows(read_file(folder / "report/predictions.csv")).size() == 5);
    check_error(run("classify --expected --data none in/img12.pgm"), 1,
                "no name of a picture tells its digit");
    CHECK(classify("--expected none.pgm").out.empty());
    fs::create_directory(folder / "folders");
    fs::rename(folder / "in/3", folder / "folders/3");
    check_error(classify("--expected folders"), 1, "expected -r", true);  // nothing of names
}

TEST_CASE_FIXTURE(Digits, "the report of classify --expected names its pictures, and others open it") {
    const std::vector<int> chosen = one_of_each();
    write_photo("in/3/photo_9.pgm", chosen[3]);
    write_photo("in/caf\xe9_4.pgm", chosen[4]);
    write_photo("in/wrong-7.pgm", chosen[2]);
    write(folder / "in/broken_1.pgm", "P5\n");
    for (const std::string method : {"raw", "accurate"}) {
        classify("-rq --expected --reject off in --report report --method " + method);
        const json dataset = json::parse(read_file(folder / "report/report.json"))["dataset"];
        CHECK(dataset["pictures"] == json({"in/3/photo_9.pgm", "in/caf%E9_4.pgm", "in/wrong-7.pgm"}));
        CHECK(dataset["named"] == 4);
        CHECK(dataset["files"].size() == 2);
        const json page = page_data(read_file(folder / "report/index.html"));
        CHECK(page["dataset"]["pictures"] == json({"in/3/photo_9.pgm", "in/caf?_4.pgm", "in/wrong-7.pgm"}));

        const std::string text = output_of(run("view --text --from report"));
        CHECK(contains(text, "1 of 3 test images is misclassified"));
        CHECK(contains(text, "#2   true 7   predicted 2   "));
        CHECK(contains(text, "   1 of 1   in/wrong-7.pgm\n"));
        const std::string all = output_of(run("view -q --text --all --order index --from report"));
        check_contains(all, {"in/3/photo_9.pgm", "in/caf?_4.pgm", "in/wrong-7.pgm"});
        output_of(run("view -q --html again.html --from report"));
        const json again = page_data(read_file(folder / "again.html"));
        CHECK(again["gallery"] == page["gallery"]);  // pictures, answers and neighbors
        CHECK(again["dataset"] == page["dataset"]);
        // The answers are those of a search for the pixels.
        fs::remove(folder / "report/predictions.csv");
        CHECK(contains(output_of(run("view --text --from report")), "in/wrong-7.pgm"));
    }
    classify("-rq --expected --reject off in --report report");
    CHECK(contains(output_of(run("compare report report --html c.html")), "the same digits right"));
    fs::rename(folder / "report", folder / "moved");
    CHECK(run("view --text --from moved --data .").exit_code == 0);
    check_error(run("view --from moved --html moved/pictures-images-idx3-ubyte"), 1,
                "is read by this command");
    fs::remove(folder / "moved/pictures-images-idx3-ubyte");
    check_error(run("view --text --from moved"), 1, "expected the pictures of ");
    // A report without pictures keeps none of them.
    CHECK(fs::exists(folder / "moved/pictures-labels-idx1-ubyte"));
    output_of(run("evaluate -q --method raw --limit-test 9 --report moved"));
    CHECK(!fs::exists(folder / "moved/pictures-labels-idx1-ubyte"));
    classify("-rq --expected --reject off in --report moved");
    fs::remove(folder / "moved/pictures-images-idx3-ubyte");
    REQUIRE(::mkfifo((folder / "moved/pictures-images-idx3-ubyte").c_str(), 0600) == 0);
    check_error(run("view --text --from moved"), 1, "expected the pictures of ");
}

TEST_CASE("the report of a picture on which rows beside the training set voted") {
    if (pictures_folder().empty() || mnist_folder().empty())
        return skip("there are no pictures or no MNIST: set MNIST_KNN_PICTURES and MNIST_KNN_DATA");
    const Digits digits;
    std::filesystem::create_directory(digits.folder / "7");
    std::filesystem::copy_file(std::filesystem::path(pictures_folder()) /
                                   "digits/AkashKMathew+Digit-identifier-using-CNN/digits_0.jpg",
                               digits.folder / "7/zero.jpg");
    const Words data{"--data", mnist_folder()};
    output_of(digits.run(Words("classify -q --expected --reject off 7 --report report") + data));
    CHECK(contains(output_of(digits.run("view --text --from report")), "7/zero.jpg"));
    if (more_pictures_folder().empty()) return;
    // One that those rows changed.
    fs::copy_file(fs::path(more_pictures_folder()) / "digits/minichazer+mnist-cnn-lab/7_r09c14.png",
                  digits.folder / "7/seven.png");
    output_of(digits.run(Words("classify -q --expected --reject off 7 --report report") + data));
    fs::remove(digits.folder / "report/predictions.csv");
    check_error(digits.run("view --text --from report"), 1, "or predictions.csv beside it");
}

TEST_CASE_FIXTURE(Digits, "the report of pictures that were compared with the built-in digits") {
    write_photo("a_4.pgm", one_of_each()[4]);
    const Words quick = "--method raw --limit-train 500";
    output_of(run("classify -q --expected --reject off a_4.pgm --report report" + quick));
    const json dataset = json::parse(read_file(folder / "report/report.json"))["dataset"];
    CHECK(dataset["synthetic"] == true);
    CHECK(dataset["files"].empty());
    CHECK(contains(output_of(run("view --text --all --from report")), "a_4.pgm\n"));
}

TEST_CASE_FIXTURE(Digits, "classify: folders in folders are told of, and searched with -r") {
    const std::vector<int> chosen = one_of_each();
    fs::create_directories(folder / "above/below");
    write_photo("in/z.pgm", chosen[1]);
    write_photo("in/b/y.pgm", chosen[2]);
    write_photo("in/b/c/x.pgm", chosen[3]);
    write_photo("in/.hidden/w.pgm", chosen[4]);
    fs::create_directory_symlink("..", folder / "in/b/loop");
    const RunResult flat = classify("--method raw --reject off in");
    CHECK(flat.exit_code == 0);
    CHECK(contains(flat.err, "1 folder in it left out; -r goes into them"));
    CHECK(classify("-q --method raw --reject off in").err.empty());
    CHECK(classify("-rq --method raw --reject off in").out == "3\n2\n1\n");
    CHECK(contains(classify("-r --method raw --reject off in").err,
                   "in: 1 linked folder in it left out; links are not followed"));
    check_error(classify("above"), 1, "holds no pictures but 1 folder; expected -r");
    fs::create_directory_symlink("../../in", folder / "above/below/link");
    for (const char* words : {"-r above", "above/below"})
        check_error(classify(words), 1, "holds no pictures but 1 linked folder; expected the folder itself");
    // Of formats that are not supported.
    folder.write("in/a.xml", "<?xml version=\"1.0\"?>");
    folder.write("in/b.gif", "GIF89a");
    CHECK(contains(classify("--method raw --reject off in").err,
                   "in: 1 file of other formats (b.gif, a GIF file) left out; convert them to PNG first"));
    folder.write("above/c.gif", "GIF89a");
    check_error(classify("above"), 1,
                "holds no pictures but 1 file of other formats (c.gif, a GIF file); expected a PNG");
}

TEST_CASE_FIXTURE(Digits, "classify --json has a schema, and with --json-version 1 is an array alone") {
    write_photo("a.pgm", 3);
    const std::string words = "--method raw a.pgm missing.pgm --json - ";
    const json object = json::parse(classify(words).out);
    CHECK(object["schema"] == "mnist-knn/classify/2");
    CHECK(object["program"]["name"] == "mnist-knn");
    REQUIRE(object["pictures"].size() == 2);
    CHECK(object["pictures"][0]["file"] == "a.pgm");
    CHECK(json::parse(classify(words + "--json-version 2").out) == object);
    CHECK(json::parse(classify(words + "--json-version 1").out) == object["pictures"]);
}

TEST_CASE("classify --rotate and --pixels") {
    const Digits digits;
    Page seven = photo_page(digits, digits.one_of_each()[7]);
    for (const std::string degrees : {"0", "90", "180", "270"}) {
        write(digits.folder / (degrees + ".pgm"), seven.pgm());
        seven = seven.turned();
    }
    const json upright = digits.answers("--method raw --pixels --reject off 0.pgm")[0];
    REQUIRE(upright["pixels"].size() == 784);
    CHECK(std::ranges::max(upright["pixels"].get<std::vector<int>>()) == 255);
    for (const int degrees : {90, 180, 270}) {
        const json answer = digits.answers("--method raw --pixels --reject off " + std::to_string(degrees) +
                                           ".pgm --rotate " + std::to_string(360 - degrees))[0];
        CHECK(answer["pixels"] == upright["pixels"]);
        CHECK(answer["box"] == upright["box"]);
    }
    CHECK(!digits.answers("--method raw 0.pgm")[0].contains("pixels"));
}
