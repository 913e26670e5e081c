/// Outputs: a file that is read, one file twice, places that cannot be written. What is promised of the files of every
/// command is tested over the table of commands.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/cli/commands.h"

using namespace knn::test;
using namespace std::chrono_literals;

namespace {

/// Of an output: what the name of its file must end with; "-": it names a folder.
std::string ending_of(const std::string& option) {
    if (option == "--plot") return ".svg";
    if (option == "--explain") return ".png";
    if (option == "--npy") return ".";  // of two files: more is appended
    return option == "--out" || option == "--report" ? "-" : "";
}

/// Those of the table that this build has.
std::vector<Command> here() {
    std::vector<Command> all = commands();
    std::erase_if(all, [](const Command& one) { return !can_run(one); });
    return all;
}

/// The outputs but for those that are folders: an option, and the ending that its name needs.
std::vector<std::pair<std::string, std::string>> single_files(const Command& command) {
    std::vector<std::pair<std::string, std::string>> all;
    for (std::size_t i = 0; i < command.outputs.size(); i += 2)
        if (const std::string ending = ending_of(command.outputs[i]); ending != "-")
            all.emplace_back(command.outputs[i], ending);
    return all;
}

}  // namespace

TEST_CASE_FIXTURE(Place, "files: no output replaces a file that is read, under any name") {
    for (const Command& one : here()) {
        const std::string content = this->file(one.input);
        for (const std::string ending : {"", ".svg", ".png"})
            for (const std::string name : {"hard", "link"}) {
                const std::string file = folder / (name + ending);
                fs::remove(file);
                name == "hard" ? fs::create_hard_link(folder / one.input, file)
                               : fs::create_symlink(one.input, file);
            }
        for (const auto& [option, ending] : single_files(one)) {
            if (option == "--npy") continue;
            for (const std::string name : {"hard", "link"})
                check_refused(one.words + Words{option, name + ending}, "is read by this command");
            if (ending.empty())
                for (const std::string& name : {one.input, "./data/../" + one.input})
                    check_refused(one.words + Words{option, name}, "is read by this command");
        }
        CHECK(this->file(one.input) == content);
    }
    // The file of --method is one of those that are read.
    output_of(in_data("tune -q -k 1-2 --save mine.method"));
    const std::string method = this->file("mine.method");
    for (const Words words : {"evaluate --json", "evaluate --predictions", "graph --csv", "tune --csv",
                              "tune --save", "audit --csv", "view --html"})
        check_refused(words + "./mine.method --method mine.method --data data",
                      "is read by this command (mine.method)");
    CHECK(this->file("mine.method") == method);
    // So are all files of a folder that results go to, and those of a report that is read.
    check_refused("condense --data data --device cpu --out data", "is read by this command");
    check_refused("condense --data data --device cpu --out mine.method", "");
}

TEST_CASE("files: nor one that is read, or written, through a descriptor") {
    const Place place;
    const std::string report = "a/report.json", picture = "data/0.pgm";
    const std::string view = "view --device cpu --from ", classify = "classify --data data --device cpu ";
    std::vector<std::pair<std::string, std::string>> all = {
        {report, view + "- --html a/report.json < a/report.json"},
        {report, view + "- --html /dev/fd/3 < a/report.json 3<> a/report.json"},
        {report, view + "/dev/fd/3 --html ./a/report.json 3< a/report.json"},
        {report, view + "- --html - < a/report.json >> a/report.json"},
        {report, view + "a --text >> a/report.json"}};
    if (has_opencv) {
        all.emplace_back(picture, classify + "- --json data/0.pgm < data/0.pgm");
        all.emplace_back(picture, classify + "/dev/stdin --json data/0.pgm < data/0.pgm");
        all.emplace_back(picture, classify + "- -q < data/0.pgm 1<> data/0.pgm");
    }
    for (const auto& [file, words] : all) {
        const std::string before = place.file(file);
        check_error(
            started({"/bin/sh", "-c", "exec \"$0\" " + words, program_file()}, {.folder = place.folder / ""}),
            1, "is read by this command");
        CHECK(place.file(file) == before);
    }
    CHECK(place.folder.names() == place.before);
}

TEST_CASE_FIXTURE(Place, "files: no output is the file of standard output under a name of its own") {
    write(folder / "log", "kept");
    for (const std::string words : {"--json log >> log", "--csv /proc/thread-self/fd/1 >> log"}) {
        check_error(
            started({"/bin/sh", "-c", "exec \"$0\" graph --data data --device cpu " + words, program_file()},
                    {.folder = folder / ""}),
            1, "is standard output too");
        CHECK(file("log") == "kept");
    }
}

TEST_CASE_FIXTURE(Place, "files: no output has a name by which a data set is read") {
    const std::string labels = "data/train-labels-idx1-ubyte";
    fs::rename(folder / labels, folder / (labels + ".gz"));
    fs::create_symlink(labels, folder / "link");
    for (const std::string name :
         {"data/train-labels-idx1-ubyte", "data/train-labels.idx1-ubyte", "data/train-labels.idx1-ubyte.gz",
          "data/../data/t10k-images.idx3-ubyte", "link", "train-images-idx3-ubyte", "no-digits-idx3-ubyte"})
        for (const std::string words :
             {"evaluate --device cpu --predictions ", "graph --device cpu --csv ", "info --json "})
            check_refused(words + name + " --data data", "is a name by which a data set is read");
    CHECK(folder.names().size() == before.size() + 1);

    // What is written as a data set hides no other, and is hidden by none. Written again it is replaced.
    check_error(in_data("condense --out data"), 1, "is read by this command");
    fs::rename(folder / "data/train-images-idx3-ubyte", folder / "data/train-images.idx3-ubyte");
    check_error(in_data("condense --out data"), 1, "would be hidden");
    struct Row {
        std::string words, part;
        Words mine;
    };
    for (const Row& row : {Row{"condense -q --data data --device cpu --out new", "would be hidden",
                               "train-images.idx3-ubyte train-labels.idx1-ubyte train-images-idx3-ubyte.gz "
                               "train-labels-idx1-ubyte.gz"},
                           {"info --write-synthetic new", "",
                            "train-images-idx3-ubyte train-images.idx3-ubyte t10k-labels-idx1-ubyte.gz "
                            "t10k-labels.idx1-ubyte.gz"}}) {
        for (const std::string& name : row.mine) {
            write(folder / ("new/" + name), "mine");
            check_error(plain(row.words), 1, row.part.empty() ? name : row.part);
            CHECK(file("new/" + name) == "mine");
            CHECK(std::distance(fs::directory_iterator(folder / "new"), {}) == 1);
            fs::remove(folder / ("new/" + name));
        }
    }
    for (int i = 0; i < 2; ++i)
        output_of(in_data("condense -q --out new"));
    output_of(in_data("evaluate -q"));
}

TEST_CASE("files: what is in a folder for results is replaced only if an earlier run wrote it") {
    const Place place;
    output_of(place.plain("generate -q --n 60 --dim 3 --clusters 2 --out points.npy"));
    const Words set = "train-images-idx3-ubyte train-labels-idx1-ubyte";
    std::vector<std::pair<Words, Words>> all = {
        {"condense -q -k 1 --data data --device cpu --out mine", set + "kept.csv"},
        {"condense -q -k 1 --train points.npy --device cpu --out mine",
         "train.npy train-labels.npy kept.csv"},
        {"evaluate -q -k 1 --data data --device cpu --report mine",
         "report.json predictions.csv index.html"}};
    if (has_opencv) all.emplace_back("learn -q data/1 --out mine", set + "learned.csv");
    write(place.folder / "other/train-images-idx3-ubyte", "other");
    write(place.folder / "other/points-labels.csv", "other");
    write(place.folder / "other/points.npy", "other");
    write(place.folder / "other/notes", "other");
    for (const auto& [words, names] : all) {
        for (const std::string& name : names) {
            write(place.folder / ("mine/" + name), "mine");
            place.check_refused(words, "mine/" + name + ": is there, and not from an earlier run");
            CHECK(place.file("mine/" + name) == "mine");
            // Through a link nothing becomes a part of another data set, whether it is there or not.
            for (const std::string target :
                 {"train-images-idx3-ubyte", "points-labels.csv", "train-labels.idx1-ubyte.gz"}) {
                fs::remove(place.folder / ("mine/" + name));
                fs::create_symlink("../other/" + target, place.folder / ("mine/" + name));
                place.check_refused(words, "mine/" + name + ": is a name by which ");
            }
            fs::remove_all(place.folder / "mine");
        }
        for (int i = 0; i < 2; ++i)
            output_of(place.plain(words));
        // Nor does a link in its folder lead to a user's file, there or not.
        for (const std::string& name : names)
            for (const std::string target : {"../other/notes", "../other/new"}) {
                const std::string link = place.folder / ("mine/" + name);
                fs::rename(link, place.folder / "kept");
                fs::create_symlink(target, link);
                // Without the file by which a folder is known as its own, already the first is refused.
                place.check_refused(words, place.file("kept").starts_with("i")
                                               ? "mine/"
                                               : "mine/" + name + ": is a link, which no earlier run made");
                fs::rename(place.folder / "kept", link);
            }
        // Nor does the command wait for a reader of a pipe in it.
        for (const std::string& name : names) {
            const std::string file = place.folder / ("mine/" + name);
            fs::rename(file, place.folder / "kept");
            REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
            check_error(
                place.plain(words, {.timeout = 20s}), 1,
                place.file("kept").starts_with("i") ? "mine/" : "mine/" + name + ": is no regular file");
            fs::rename(place.folder / "kept", file);
        }
        fs::remove_all(place.folder / "mine");
    }
    CHECK(std::distance(fs::directory_iterator(place.folder / "other"), {}) == 4);
    for (const std::string name : {"train-images-idx3-ubyte", "notes"})
        CHECK(place.file("other/" + name) == "other");
}

TEST_CASE_FIXTURE(Place, "files: nor is an array that --npy only names by its beginning") {
    output_of(plain("generate -q --n 60 --dim 3 --clusters 2 --out points.npy"));
    const std::string floats = file("points.npy");
    for (const Words words : {"neighbors -q -k 2 --device cpu --train points.npy --npy mine",
                              "graph -q -k 2 --device cpu --train points.npy --npy mine"}) {
        for (const std::string name : {"mine-indices.npy", "mine-distances.npy"})
            for (const std::string& content : {std::string("mine"), floats}) {
                write(folder / name, content);
                check_refused(words, name + ": is there, and not from an earlier run");
                CHECK(file(name) == content);
                fs::remove(folder / name);
            }
        fs::create_symlink("points.txt", folder / "mine-distances.npy");
        check_refused(words, "mine-distances.npy: is a link");
        fs::remove(folder / "mine-distances.npy");
        for (int i = 0; i < 2; ++i)
            output_of(plain(words));
        fs::remove(folder / "mine-distances.npy");  // of a run that was ended between the two
        output_of(plain(words));
        for (const std::string name : {"mine-indices.npy", "mine-distances.npy"})
            fs::remove(folder / name);
    }
}

TEST_CASE_FIXTURE(Place, "files: nor has one a name by which labels of vectors are read") {
    const auto generate = [&](const std::string& file) {
        return plain("generate -q --n 60 --dim 3 --clusters 2 --out " + file);
    };
    output_of(generate("points.npy"));
    output_of(generate("points.npy"));  // its own labels are replaced
    const std::string labels = file("points-labels.npy");
    for (const std::string other : {"points.fbin", "points.csv"})
        check_error(generate(other), 1, ": is a name by which the labels of points.npy are read");
    write(folder / "alone-labels.csv", "mine");
    check_error(generate("alone.csv"), 1, "alone-labels.csv: is there, and not from an earlier run");
    fs::create_symlink("x.csv", folder / "data/v-labels.csv");
    write(folder / "data/v.u8bin.gz", "vectors");
    write(folder / "rows.txt", "1,2\n3,4\n5,6\n");
    for (const std::string words :
         {"neighbors -k 1 --device cpu --train rows.txt --csv ",
          "graph -k 1 --device cpu --train rows.txt --csv ", "info --data data --json "})
        for (const std::string name :
             {"points-labels.npy", "./data/../points-labels.csv", "data/v-labels.npy", "data/v-labels.csv",
              "rows-labels.npy", "rows-labels.csv"}) {
            if (name.starts_with("rows") && words.starts_with("info")) continue;  // does not read it
            check_refused(words + name, name + ": is a name by which the labels of ");
        }
    CHECK(file("points-labels.npy") == labels);
    output_of(plain("neighbors -q -k 1 --device cpu --train points.npy --csv my-labels.csv"));
}

TEST_CASE_FIXTURE(Place, "files: what cannot be written is found before the search") {
    for (const Command& one : here())
        for (const auto& [option, ending] : single_files(one)) {
            check_refused(one.words + Words{option, "new/x" + ending}, "its folder is missing");
            if (ending.empty()) check_refused(one.words + Words{option, "data"}, "is a folder");
            if (option != "--npy")
                check_refused(one.words + Words{option, std::string(256, 'a') + ending}, "a shorter name");
        }
    CHECK(folder.names() == before);
    // Of a report, before a k that does not fit is refused.
    fs::create_directories(folder / "report/predictions.csv");
    fs::create_directory(folder / "own");
    fs::create_hard_link(folder / "data/t10k-images-idx3-ubyte", folder / "own/predictions.csv");
    for (const std::string report : {"report", "own"})
        check_error(in_data("evaluate -k 1000 --report " + report), 1);
    fs::create_symlink("loop", folder / "loop");
    check_error(in_data("evaluate -k 1000 --json loop"), 1,
                "loop: cannot be written: Too many levels of symbolic links; expected a link that leads to a "
                "file or folder");
    fs::remove(folder / "loop");
    for (const std::string words : {"--report /proc/x", "--report /proc/x/y", "--json /proc/x"})
        check_error(in_data("evaluate -k 1000 " + words), 1, ": cannot be written: ");
    for (const Words words : {"evaluate --data data --report new/../x", "condense --data data --out new/../x",
                              "info --write-synthetic a/../new/../x/y"})
        check_refused(words, "/new is missing, and has no folder above it; expected a name without");
    CHECK(folder.names() == std::vector<std::string>{"a", "b", "data", "own", "report"});
}

TEST_CASE("files: a signal that is sent twice at once, as timeout does, leaves no unfinished file") {
    const TempFolder folder;
    const RunResult result =
        started({"/bin/bash", "-c",
                 "\"$0\" generate -q --n 30000 --dim 4 --out a.fbin; "
                 "\"$0\" neighbors -q --train a.fbin --queries a.fbin --range 1e300 --npz out.npz & sleep 1; "
                 "for i in 1 2 3; do kill $!; sleep 0.01; done; wait $!; echo $?; ls -A",
                 program_file()},
                {.folder = folder.path()});
    CHECK(result.out == "130\na-labels.npy\na.fbin\n");
}

TEST_CASE("files: an output that becomes a link to an input while the command runs is refused") {
    const TempFolder folder;
    folder.write("a.csv", "1,2\n3,4\n5,6\n");
    const RunResult result =
        started({"/bin/sh", "-c",
                 "mkfifo queries; \"$0\" neighbors -q --train a.csv --queries queries -k 1 --csv out.csv & "
                 "exec 3> queries; ln -s a.csv out.csv; cat a.csv >&3; exec 3>&-; wait $!",
                 program_file()},
                {.folder = folder.path()});
    check_error(result, 1, "out.csv: is read by this command (a.csv)");
    CHECK(read_file(folder / "a.csv") == "1,2\n3,4\n5,6\n");
}

TEST_CASE_FIXTURE(Place, "files: all are written, or none") {
    for (const Command& one : here()) {
        const auto outputs = single_files(one);
        if (outputs.empty()) continue;
        Words words = one.words;
        for (const auto& [option, ending] : outputs)
            words += Words{option, "x" + option + ending};
        // The last that takes any name fails: a full device, then a pipe that nobody reads.
        const auto last =
            std::find_if(outputs.rbegin(), outputs.rend(), [](auto& it) { return it.second.empty(); });
        auto& file = *(std::find(words.rbegin(), words.rend(), last->first) - 1);
        file = "/dev/full";
        check_error(plain(words), 1, "/dev/full: cannot be written: No space left on device", true);
        CHECK(folder.names() == before);

        file = "pipe";
        REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
        const RunOptions options{.signal = SIGINT, .signal_after = 800ms, .timeout = 20s};
        CHECK(plain(words, options).exit_code == 130);
        fs::remove(folder / "pipe");
        CHECK(folder.names() == before);
    }
}

TEST_CASE_FIXTURE(Place, "files: a device takes what it gets, and a disk is none") {
    CHECK(in_data("evaluate -q --json /dev/random").exit_code == 0);  // which poll() never finds ready
    const std::string disk = folder / "disk";
    if (::mknod(disk.c_str(), S_IFBLK | 0600, makedev(7, 250)) != 0) return skip("cannot make a device");
    check_error(in_data("evaluate -q --json " + disk), 1, "disk: is a disk; expected a file");
}

TEST_CASE_FIXTURE(Place, "files: what cannot be written is refused before the work") {
    const std::string long_name(256, 'a');
    for (const Words words :
         {"evaluate --report", "condense --out", "info --write-synthetic", "evaluate --json"})
        for (const std::string in : {"", "/in"}) {
            const RunResult result = words[0] == "info" ? plain(words + Words{long_name + in})
                                                        : in_data(words + Words{long_name + in});
            check_error(result, 1,
                        long_name + in + ": cannot be written: File name too long; expected a shorter name");
            CHECK(result.out.empty());
        }
    const RunOptions here{.folder = folder / ""};
    const std::string words = "exec \"$0\" evaluate --data data --device cpu --json ";
    const RunResult read_only =
        started({"/bin/sh", "-c", words + "/dev/fd/3 3< a/report.json", program_file()}, here);
    check_error(read_only, 1, "/dev/fd/3: cannot be written: Bad file descriptor");
    CHECK(read_only.out.empty());
    write(folder / "mounted", "kept");
    const RunResult mounted = started(
        {"/bin/sh", "-c",
         "exec unshare -m sh -c 'mount --bind a/report.json mounted || exit 9; " + words + "mounted' \"$0\"",
         program_file()},
        here);
    CHECK(mounted.out.empty());
    if (!contains(mounted.err, "mnist-knn")) return skip("cannot mount");
    check_error(mounted, 1, "mounted: is mounted by itself, and cannot be replaced");
}

TEST_CASE("files: two runs do not put theirs into one folder at the same time") {
    const Place place;
    const Words words = "evaluate -q -k 1 --report together";
    output_of(place.in_data(words));
    const int folder = ::open((place.folder / "together").c_str(), O_RDONLY | O_DIRECTORY);
    REQUIRE(::flock(folder, LOCK_EX) == 0);
    const RunResult waiting = place.in_data(words);
    ::close(folder);
    CHECK(waiting.exit_code == 0);  // another process may keep its lock
    CHECK(waiting.seconds > 0.5);
}

TEST_CASE_FIXTURE(Place, "files: each that was written is named on standard error, except with -q") {
    for (const Command& one : here()) {
        fs::create_directory(folder / "out");
        const Words words = one.words + one.outputs;
        Words aloud = words;
        std::erase(aloud, "-q");
        const RunResult result = plain(aloud);
        CHECK(result.exit_code == 0);
        std::size_t files = 0;
        for (const auto& entry : fs::recursive_directory_iterator(folder / "out")) {
            if (!entry.is_regular_file()) continue;
            ++files;
            const std::string name = fs::relative(entry.path(), folder.path()).string();
            CHECK(count_of(result.err, "mnist-knn: wrote " + name + '\n') == 1);
        }
        CHECK(files > 0);
        CHECK(count_of(result.err, "wrote ") == files);
        if (words != aloud) CHECK(!contains(plain(words).err, "wrote "));
        fs::remove_all(folder / "out");
    }
}

TEST_CASE_FIXTURE(Place, "files: JSON and CSV are alone on standard output, under each of its names") {
    for (const Command& one : here())
        for (const auto& [option, ending] : single_files(one)) {
            const Words words = one.words + Words{option};
            const auto to = [&](const std::string& name) { return output_of(plain(words + Words{name})); };
            if (option == "--json")
                for (const std::string name : {"-", "/dev/stdout", "/dev/fd/1"})
                    CHECK(nlohmann::json::accept(to(name)));
            if ((!option.ends_with("csv") && option != "--predictions") || one.name == "bench") continue;
            to("x.csv");
            CHECK(to("-") == file("x.csv"));
        }
}

TEST_CASE_FIXTURE(Place, "two outputs to one file are detected under any spelling") {
    fs::create_directory(folder / "io");
    fs::create_symlink("io", folder / "io2");
    fs::create_symlink("a", folder / "io/b");
    for (const Words words : {
             "--json io/a --predictions ./io/a",
             "--json io/a --predictions io2/a",
             "--json io/a --neighbors-csv io/b",
             "--json - --predictions /dev/stdout",
             "--json - --predictions /proc/self/fd/1",
             "--json - --predictions /dev/fd/1",
             "--json /dev/fd/1 --predictions /dev/stdout",
             "--json io/rr --report io/rr",
             "--json io/index.html --report io2",
         }) {
        check_error(in_data("evaluate" + words), 2,
                    words[0] + ' ' + words[1] + " and " + words[2] + ' ' + words[3]);
    }
    // Different destinations are valid.
    output_of(in_data("evaluate -q --json io/x --predictions io2/y --report io"));
}

TEST_CASE("view --sheet overwrites with none of its pages what it reads or writes otherwise") {
    if (!has_opencv) return skip(no_opencv);
    const Work work({.test = 600});
    work.output("evaluate -q --report all-2.png");
    const std::string report = "all-2.png/report.json", before = work.file(report);
    fs::copy(work.folder / report, work.folder / "all-3.png");
    const auto names = work.folder.names();
    check_error(work.run("view --from all-3.png --sheet all.png"), 1);
    check_error(work.run("view --from " + report + " --sheet all.png"), 1);
    check_error(work.run("view --from " + report + " --sheet x.png --html x-1.png"), 2);
    CHECK(work.file(report) == before);
    CHECK(work.file("all-3.png") == before);
    CHECK(work.folder.names() == names);
}

TEST_CASE("view --sheet replaces only pages of an earlier sheet") {
    if (!has_opencv) return skip(no_opencv);
    const Work work({.test = 600});
    for (const std::string page : {"wrong-1.png", "wrong-2.png"}) {
        write(work.folder / page, "mine");
        check_error(work.run("view --sheet wrong.png"), 1, page + ": is there, and not from an earlier run");
        CHECK(work.file(page) == "mine");
        fs::remove(work.folder / page);
    }
    for (int i = 0; i < 2; ++i)
        work.output("view --sheet wrong.png");
    for (const char* page : {"wrong-1.png", "wrong-2.png"}) {
        const std::string mark =
            work.file(page).substr(37, 39);  // a chunk behind its length, with its checksum
        auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(mark.data()), 35);
        for (std::size_t i = mark.size(); i-- > 35; sum >>= 8)
            CHECK(static_cast<unsigned char>(mark[i]) == (sum & 255));
    }
}

TEST_CASE_FIXTURE(Work, "a folder for results is made with those above it") {
    output("condense --out new/c/d");
    output_of(plain("info --write-synthetic new/e/f"));
    for (const char* file : {"c/d/kept.csv", "e/f/train-images-idx3-ubyte"})
        CHECK(fs::exists(folder / (std::string("new/") + file)));
    const RunResult result = run("evaluate --report new/a/b --predictions p");
    CHECK(result.exit_code == 0);
    CHECK(file("new/a/b/predictions.csv") == file("p"));
    CHECK(file("new/a/b/index.html").starts_with("<!"));
    if (has_opencv)
        CHECK(file("new/a/b/confusion.png").starts_with("\x89PNG"));
    else
        CHECK(contains(result.err, "this build has no OpenCV"));
}

TEST_CASE_FIXTURE(Work, "the files of a report are those of one run: all of them, or what was there before") {
    output("evaluate -q -k 1 --report r");
    const std::string report = file("r/report.json"), predictions = file("r/predictions.csv");
    fs::remove(folder / "r/index.html");
    fs::create_symlink("/dev/full", folder / "r/index.html");
    check_error(run("evaluate -q -k 3 --report r"), 1, "", true);
    CHECK(file("r/report.json") == report);
    CHECK(file("r/predictions.csv") == predictions);
    CHECK(std::distance(fs::directory_iterator(folder / "r"), {}) == (has_opencv ? 4 : 3));
}

TEST_CASE_FIXTURE(
    Work,
    "files that may not grow so large, too many open ones, and a deleted working folder, are one error line "
    "and leave nothing") {
    const auto before = folder.names();
    struct Row {
        std::string before, words, part;
        bool needs_opencv = false;  ///< without it a note is written too
    };
    const std::string too_large = "cannot be written: File too large; expected a size within the limits",
                      too_many = "Too many open files; expected more open files (ulimit -n)",
                      in_work = " --data . --device cpu ";
    // The one beside the standard streams, which the loader of libraries needs: one that the tests inherited is closed.
    const std::string few_files = "exec 3>&-; ulimit -n 4";
    for (const Row& row :
         {Row{"ulimit -f 1", "evaluate" + in_work + "--neighbors-csv n", ""},
          {"ulimit -f 1", "evaluate" + in_work + "--report new/r", "", true},
          // The images of the training set are larger than the limit, the labels are not.
          {"trap '' XFSZ; ulimit -f 1000", "info --write-synthetic new/d",
           "new/d/train-images-idx3-ubyte: " + too_large},
          {few_files, "evaluate" + in_work, "cannot be read: " + too_many},
          {few_files, "info --write-synthetic new/d", "cannot be written: " + too_many},
          {few_files, "serve --port 0" + in_work, too_many},
          {"mkdir gone && cd gone && rmdir ../gone", "info --write-synthetic d",
           "d: cannot be written: No such file or directory; expected a name in an existing"}}) {
        if (row.needs_opencv && !has_opencv) continue;
        check_error(started({"/bin/sh", "-c", row.before + "; exec \"$0\" " + row.words, program_file()},
                            {.folder = folder / ""}),
                    1, row.part, true);
        CHECK(folder.names() == before);
    }
}
