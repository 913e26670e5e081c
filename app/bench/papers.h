#pragma once
/// The experiments of papers as data: sizes, and tables whose columns name what is timed at each size. One runner measures what
/// the columns name, checks it, and shows it beside what the paper states.

#include "app/bench/run.h"

namespace knn {

/// A row of a table.
struct PaperSize {
    std::string label;   ///< also of its figures: "case 3"
    double x = 0;        ///< in the plot
    std::string figure;  ///< in the JSON
    Problem problem;
    std::string kernel = {};  ///< what # stands for in the columns; for `stage`: names of stages
    bool linear = false;      ///< the distance kernels read contiguous training rows
};

/// A column. A way is what is timed, and its time the sum: distance kernels, then, behind a +, a selector
/// ("serial + serial_sort"); an engine, a program of seed 003, or its uploads, `pageable` and `pinned`; or "=SOURCE|COLUMN",
/// which the paper states in this column for the row's label.
struct PaperColumn {
    enum Kind {
        time,       ///< ms of all queries, or as printed
        per_query,  ///< µs
        ratio,      ///< the time of `way` divided by that of `other`
        of_row,     ///< divided by that in the row labelled `other`; empty: the row above
        size,       ///< of the problem: `way` is test, train, dim or k
        memory,     ///< MB on the device beside the images: matrix, neighbors, scratch
        right,      ///< test images that the neighbors label right
        stage       ///< ms of all queries in the row's stages of a program or an engine
    };
    Kind kind;
    std::string heading, way, other = {};
    int k = 0;  ///< 0: that of the problem
    bool drawn = false;
};

struct PaperTable {
    std::string title;
    std::vector<PaperColumn> columns;
    std::vector<std::string> notes = {};
    std::string y_label = {};  ///< of the plot; empty: none
    bool log_x = true, log_y = true;
};

/// What the problems of a study are made of.
enum class PaperData {
    images,  ///< random bytes
    half,  ///< random bytes that are training points and queries, but no point is its own neighbor: half of the distances do
    points,  ///< the same with all distances
    values   ///< no images: rows of random distances
};

/// Tables with the same rows, which share their measurements.
struct PaperStudy {
    std::string rows;  ///< heading of the labels
    PaperData data = PaperData::images;
    std::string matrix = {};  ///< the kernel before the selectors
    double share = 1;         ///< of the time that the user allows per row
    /// A time of some queries is that of all ("5.00 *"), or else stays as it was measured ("2.00 [40]") and is not compared,
    /// unless it is a CPU thread's, whose queries take equal time.
    bool multiplies = false;
    bool all = false;  ///< a GPU takes all queries, even if there is no time for them
    std::vector<PaperTable> tables = {};
    std::vector<PaperSize> sizes = {};
};

struct Paper {
    const char* source;  ///< "seed 004"
    std::string data;    ///< what the images are
    std::vector<PaperStudy> studies;
};
/// With it exact neighbors label as many images right as the previous version of seed 003.
inline constexpr int garrett_k = 10;
/// `work`: the data set, with the answers at k and, if there are as many images, at garrett_k.
Paper garrett_paper(const Workload& work, int k);
Paper nolan_paper();
Paper komarov_paper();
Paper singh_paper();
Paper zhu_paper();

/// Measures what the tables name and the report does not have yet, and adds the tables to the report. `given`: images to
/// measure on instead, prepared and, if there is a GPU, uploaded.
void run_paper(BenchRun& run, const Paper& paper, Workload* given = nullptr);

/// Adds a table of a study, with its plot, of what the report has.
void add_table(BenchReport& report, const PaperStudy& study, const PaperTable& table);

}  // namespace knn
