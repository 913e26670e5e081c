#pragma once
/// The commands that write files, for what is promised of the files of all of them.

#include "tests/cli/pictures.h"

namespace knn::test {

/// Reads the data set in data/, and all that it writes begins with out/.
struct Command {
    std::string name;
    Words words;
    Words outputs;                                       ///< options, each with its file
    std::string input = "data/train-labels-idx1-ubyte";  ///< one of the files that it reads
};

/// data/1/stroke.pgm, for `learn`: 28×28 pixels as MNIST has them.
inline std::string stroke_pgm() {
    std::string pixels(784, '\0');
    for (std::size_t row = 5; row < 23; ++row)
        pixels.replace(row * 28 + 12, 3, 3, '\xff');
    return "P5\n28 28\n255\n" + pixels;
}

/// Whether this build has what the command needs.
inline bool can_run(const Command& one) {
    return has_opencv || (one.name != "classify" && one.name != "learn");
}

inline const std::vector<Command>& commands() {
    static const std::vector<Command> all = {
        {"evaluate", "evaluate -q -k 3 --data data --device cpu",
         "--report out/report --json out/e.json --predictions out/e.csv --neighbors-csv out/n.csv"},
        {"accurate", "evaluate -q --method accurate --data data --device cpu", "--predictions out/a.csv"},
        {"classify", "classify -q data/0.pgm data/1.pgm --data data --device cpu",
         "--json out/c.json --explain out/c.png"},
        {"tune", "tune -q -k 1-3 --data data --device cpu",
         "--plot out/t.svg --save out/method --json out/t.json --csv out/t.csv"},
        {"graph", "graph -q -k 3 --data data --device cpu",
         "--npy out/g --plot out/g.svg --csv out/g.csv --mtx out/g.mtx --json out/g.json"},
        {"neighbors", "neighbors -q -k 3 --train data/train-images-idx3-ubyte --device cpu",
         "--npy out/m --csv out/m.csv --ibin out/m.ibin --json out/m.json", "data/train-images-idx3-ubyte"},
        {"range",
         "neighbors -q --range 60000 --train data/train-images-idx3-ubyte --queries "
         "data/t10k-images-idx3-ubyte --device cpu",
         "--npz out/r.npz --csv out/r.csv --json out/r.json", "data/t10k-images-idx3-ubyte"},
        {"condense", "condense -q -k 3 --data data --device cpu", "--out out/small"},
        {"learn", "learn -q data/1", "--out out/my", "data/1/stroke.pgm"},
        {"audit", "audit -q --method raw -k 3 --data data --device cpu",
         "--csv out/u.csv --json out/u.json --html out/u.html"},
        {"view", "view -q --from a --device cpu", "--html out/v.html", "a/report.json"},
        {"bench", "bench -q --data data --device cpu --only cpu --seconds 0.01",
         "--plot out/b.svg --json out/b.json --csv out/b.csv"},
        {"compare", "compare -q a b", "--csv out/c.csv --html out/c.html --json out/c.json",
         "b/predictions.csv"},
        {"info", "info --data data", "--json out/i.json"},
    };
    return all;
}

/// What the commands of the table read: a data set in data/ with pictures, and two reports.
struct Place : Work {
    Place() : Work({.rows = 28, .cols = 28}) {
        fs::create_directory(folder / "data");
        for (const std::string& name : folder.names())
            if (name != "data") fs::rename(folder / name, folder / ("data/" + name));
        for (const int i : {0, 1})
            write(folder / ("data/" + std::to_string(i) + ".pgm"), raw(std::string(2 * 784, '\x77'), i));
        write(folder / "data/1/stroke.pgm", stroke_pgm());
        for (const std::string words : {"-k 1 --report a", "-k 3 --report b"})
            output_of(in_data("evaluate -q " + words));
        before = folder.names();
    }
    RunResult in_data(const Words& words, const RunOptions& options = {}) const {
        return plain(words + "--data data --device cpu", options);
    }
    void check_refused(const Words& words, const std::string& why) const {
        check_error(plain(words), 1, why);
    }
    std::vector<std::string> before;
};

}  // namespace knn::test
