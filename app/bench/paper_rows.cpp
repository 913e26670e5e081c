// The experiments of the five seeds. Sizes that are not in figures.csv are ours: the texts do not state them.

#include <algorithm>

#include "app/bench/papers.h"
#include "data/core/format.h"

namespace knn {

namespace {

/// Seed 000, §5: the whole search, with one size varied.
PaperStudy varied(const std::string& number, const std::string& what, const std::vector<std::int64_t>& values,
                  Problem problem, void (*set)(Problem&, std::int64_t), const std::string& says) {
    using enum PaperColumn::Kind;
    PaperTable table{(number.size() > 3 ? "Figures " : "Figure ") + number + ": " + what + " varied", {}};
    for (const std::string& name : words_of(std::string("insertion_columns ") + find_case("nolan")->names)) {
        const std::string before =
            cpu::find_serial_selector(name) != nullptr ? "serial + " : "auto-texture + ";
        table.columns.push_back({time, name, name == "cpu" ? name : before + name, "", 0, true});
    }
    table.columns.push_back({time, "paper", "=seed 000, Figure " + number + "|time"});
    table.notes = {
        "Garcia's program: insertion_columns; the paper's: rank (its cuBubbleSort), bitonic_single (one "
        "query after",
        "another), and block_rank_merge, which it proposes without building it. The others are ours.",
        "Distances by auto-texture: a texture up to 131,072 reference points, above that tiles.",
        "The paper: " + says};
    table.y_label = "ms";
    table.log_x = table.log_y = false;
    PaperStudy study{.rows = what, .matrix = "auto-texture", .share = 0.06, .tables = {table}};
    for (const std::int64_t value : values) {
        set(problem, value);
        study.sizes.push_back({with_commas(value), static_cast<double>(value), number, problem});
    }
    return study;
}

/// Seed 001: rows of random values. How many and how long: `value` takes the place of 0, which without another size is that
/// of 2²⁶ values in all.
struct Selections {
    std::string number, title, rivals;
    std::int64_t n_query, n_train;
    std::vector<std::int64_t> values;
    std::vector<int> ks = {16, 128, 512, 1024};
    std::vector<std::string> notes = {};
};
PaperStudy selections(const Selections& shown) {
    using enum PaperColumn::Kind;
    const bool compares = !shown.rivals.empty(), of_queries = shown.n_query == 0 && shown.n_train > 0;
    PaperTable table{
        (shown.number.size() == 1 ? "Fig. " : "") + shown.number + ": " + shown.title, {}, shown.notes};
    for (const std::string& name : words_of("multiselect " + shown.rivals))
        for (const int k : shown.ks)
            table.columns.push_back({compares ? time : per_query, name + ", k = " + std::to_string(k),
                                     "+ " + name, "", k, !compares});
    for (const std::string& rival : words_of(shown.rivals))
        for (const int k : shown.ks)
            table.columns.push_back({ratio, "speed-up over " + rival + ", k = " + std::to_string(k),
                                     "+ " + rival, "+ multiselect", k, true});
    table.columns.push_back({time, "paper", "=seed 001, Fig. " + shown.number + "|speed-up"});
    table.y_label = compares ? "times as fast as the other" : "us per query";
    table.log_y = false;
    const bool one_by_one = shown.rivals.find("_row") != std::string::npos;
    PaperStudy study{
        of_queries ? "queries" : "row length", PaperData::values, "", 0.06, one_by_one, false, {table}};
    for (const std::int64_t value : shown.values) {
        const std::int64_t n_train = of_queries ? shown.n_train : value;
        const std::int64_t n_query = of_queries          ? value
                                     : shown.n_query > 0 ? shown.n_query
                                                         : (std::int64_t{1} << 26) / value;
        const Problem rows{n_train, n_query, 1, shown.ks.back()};
        study.sizes.push_back({with_commas(value), static_cast<double>(value), shown.number, rows});
    }
    return study;
}

/// Seed 004: what was there before a step and what is there after it, and `cpu`, the same on one CPU thread, where the paper
/// compares with that too.
PaperTable step(int number, const std::string& what, const std::string& column, const std::string& before,
                const std::string& after, const std::string& cpu = "") {
    using enum PaperColumn::Kind;
    const std::string table = "=seed 004, Table " + std::to_string(number) + '|';
    const auto [old_column, new_column] = number < 4    ? std::pair("sequential time", "parallel time")
                                          : number == 9 ? std::pair("general program", "contest program")
                                                        : std::pair("original time", "optimised time");
    const std::string was = table + old_column, is = table + new_column;
    std::vector<PaperColumn> columns = {{size, "points", "train"},       {time, "before, ms", before},
                                        {time, column + ", ms", after},  {ratio, "faster", before, after},
                                        {time, "paper before", was},     {time, "paper after", is},
                                        {ratio, "paper faster", was, is}};
    if (!cpu.empty())
        for (const PaperColumn& more : {PaperColumn{ratio, "CPU / before", cpu, before},
                                        {ratio, "CPU / after", cpu, after},
                                        {time, "paper: CPU / before", table + "original speed up"},
                                        {time, "paper: CPU / after", table + "optimised speed up"}})
            columns.push_back(more);
    return {"Table " + std::to_string(number) + what, columns};
}

}  // namespace

// clang-format off

Paper nolan_paper() {
    constexpr Problem usual{65'536, 128, 64, 128}, one_query{65'536, 1, 64, 128};
    return {"seed 000", "random bytes; unless varied 128 queries, 65,536 reference points, 64 dimensions, k = 128",
        {varied("5.1 and 5.4", "k", {1, 4, 16, 64, 128, 256, 512, 1024}, usual,
             [](Problem& of, std::int64_t value) { of.k = static_cast<int>(value); },
             "insertion degrades rapidly as k grows, bitonic is unaffected."),
            varied("5.2", "reference points", {1024, 4096, 16'384, 65'536, 131'072, 262'144}, one_query,
                [](Problem& of, std::int64_t value) { of.n_train = value; },
                "one query. Rank is comparable to bitonic for small sets, then rises suddenly."),
            varied("5.3", "queries", {1, 8, 32, 128, 512, 2048}, usual,
                [](Problem& of, std::int64_t value) { of.n_query = value; },
                "both slow down linearly, bitonic at a greater rate, because its queries go one at a time."),
            varied("5.5", "dimensions", {8, 16, 32, 64, 128, 256, 512}, usual,
                [](Problem& of, std::int64_t value) { of.dim = value; },
                "the sorting does not depend on the dimension; the whole grows with it.")}};
}

Paper komarov_paper() {
    const std::vector<std::int64_t> lengths = {4096, 16'384, 65'536, 262'144}, of_constant = {1024, 8192, 65'536, 524'288};
    const std::vector<int> ks = {16, 128, 512, 1024}, few = {16, 1024};
    return {"seed 001", "rows of uniformly random 32-bit values with their indices",
        {selections({"4", "row length varied, 1,024 queries, against Garcia's insertion", "insertion_columns", 1024, 0, lengths}),
            selections({"5", "queries varied, rows of 16,384, against Garcia's insertion", "insertion_columns insertion", 0, 16'384,
                {128, 512, 2048, 8192}, ks, {"insertion reads rows instead of columns: ours."}}),
            selections({"6", "2^26 values in all, row length varied, against Sismanis' truncated bitonic sort",
                "bitonic_topk_plain", 0, 0, of_constant}),
            selections({"7", "2^26 values in all, row length varied, k neighbors against the k-th value alone",
                "radix_kth_row bucket_kth_row", 0, 0, of_constant, few,
                {"As in the paper, they take one row after another, of values without indices."}}),
            selections({"8", "queries varied, rows of 65,536, time of one query", "", 0, 65'536, {8, 32, 64, 128, 256, 1024, 4096},
                ks, {"The paper: the time of a query flattens out at 128 queries, when every block has work."}}),
            selections({"9", "row length varied, 128 queries, against nth_element on one CPU thread", "nth_element",
                128, 0, lengths}),
            selections({"heaps", "row length varied, 1,024 queries, against a heap as in its introduction", "heap",
                1024, 0, lengths}),
            selections({"pivots", "row length varied, 1,024 queries, random as in the paper against sampled", "multiselect_random",
                1024, 0, lengths}),
            selections({"ours", "2^26 values in all, row length varied: our versions of the rivals",
                "bitonic_topk radix_select bucket_select", 0, 0, of_constant, few,
                {"bitonic_topk sorts only values below a threshold. The others take all rows at once, ties by index."}})}};
}

Paper singh_paper() {
    using enum PaperColumn::Kind;
    PaperStudy study{"case", PaperData::images, "row_shared", 0.5, true, true};
    study.tables = {{"one CPU thread (distances, std::sort) against the GPU (row_shared, merge_sort), ms",
                        {{size, "test", "test"}, {size, "train", "train"}, {size, "dim", "dim"}, {time, "CPU dist.", "serial"},
                            {time, "CPU sort", "+ serial_sort"}, {time, "GPU dist.", "#"}, {time, "GPU sort", "+ merge_sort"},
                            {ratio, "speed-up", "serial + serial_sort", "# + merge_sort", 0, true},
                            {time, "paper 1", "=seed 002, A.1|speed-up", "", 0, true},
                            {time, "paper 2", "=seed 002, A.2|speed-up", "", 0, true},
                            {time, "1: CPU s", "=seed 002, A.1|CPU total"}, {time, "1: GPU s", "=seed 002, A.1|GPU total"},
                            {time, "2: CPU s", "=seed 002, A.2|CPU total"}, {time, "2: GPU s", "=seed 002, A.2|GPU total"}},
                        {"paper 1 and 2: its systems, Core i7 2670QM with GT 520MX and Core i7 3720QM with GT 650M; their CPU and GPU",
                            "times, distances and sorting, behind. GPU dist.: blocks of 256 threads, and of 512 in case 9, which the paper",
                            "supposes to be why its speed-up falls there. From case 7 to 8 the paper's CPU takes 5 times as long for 2 times",
                            "the pairs, and it does not know why. Its loop reads the values of a training point at a stride of as many",
                            "floats as there are points: in case 8 of 4,096, 16 KiB, which puts all of them into the same few lines of a",
                            "cache. serial reads them one behind the other."},
                        "CPU time / GPU time", false, false},
        {"other distances and sorts, ms, and MB on the GPU beside the images",
            {{time, "256 threads", "row_shared"}, {time, "512 threads", "row_shared512"},
                {ratio, "512 / 256", "row_shared512", "row_shared"}},
            {"merge_sort: the paper's. comb_sort: what Garcia considered. segmented_sort: a radix sort, ours. index_sort: of",
                "indices alone, which the paper proposes to save memory."}}};
    for (const std::string name : {"merge_sort", "comb_sort", "segmented_sort", "index_sort"})
        for (const PaperColumn& column : {PaperColumn{time, name, "+ " + name}, {memory, "MB", "+ " + name}})
            study.tables[1].columns.push_back(column);
    constexpr int k = 5;  // appendix B.3
    for (const Problem& of : {Problem{512, 1024, 64, k}, {1024, 2048, 64, k}, {1024, 4096, 64, k}, {2048, 4096, 64, k},
             {1024, 4096, 128, k}, {1024, 4096, 256, k}, {2048, 8192, 256, k}, {4096, 8192, 256, k}, {3072, 16'384, 512, k}}) {
        const std::string number = std::to_string(study.sizes.size() + 1), name = "case " + number;
        study.sizes.push_back({name, std::stod(number), name, of, of.dim > 256 ? "row_shared512" : "row_shared"});
    }
    return {"seed 002", "random bytes (the paper: random numbers from 0 to 1), k = 5", {study}};
}

Paper garrett_paper(const Workload& work, int k) {
    using enum PaperColumn::Kind;
    const int before = std::min(garrett_k, work.max_k);
    const Problem problem = work.problem(k), problem_before = work.problem(before);
    const std::string in_text = "=seed 003, 3|time", program = "=seed 003, 4.1|", stages = "=seed 003, 4.1, final version|";
    const auto study = [&](const std::string& rows, const PaperTable& table, const std::vector<PaperSize>& sizes) {
        return PaperStudy{rows, PaperData::images, "ladder_scalar", 0.5, true, false, {table}, sizes};  // launches are equal
    };
    Paper paper{"seed 003", work.text,
        {study("memory",
             {"3.1: all images to the device as floats, in one copy",
                 {{time, "ms", "#"}, {of_row, "/ pageable", "#", "pageable"}, {time, "paper", in_text}}},
             {{"pageable", 0, "3.1", problem, "pageable"}, {"pinned", 0, "3.1", problem, "pinned"}}),
            study("change",
                {"the ladder: distances, each row changes one thing of the row above",
                    {{time, "ms", "#"}, {per_query, "us/image", "#", "", 0, true}, {of_row, "/ above", "#"},
                        {time, "paper", in_text}},
                    {"before: scalar loads, linear rows, the test image in global memory, a loop. That buffers are allocated once",
                        "(3.3) is in the table of programs. The paper gives no times of single steps."},
                    "us per test image", false, false},
                {{"before", 1, "before", problem, "ladder_scalar", true},
                    {"3.2 scalar -> float4", 2, "3.2", problem, "ladder_float4", true},
                    {"3.3 linear -> pitched", 3, "3.3", problem, "ladder_float4"},
                    {"3.4 global -> shared memory", 4, "3.4", problem, "ladder_shared"},
                    {"3.5 rolled -> unrolled by 4", 5, "3.5", problem, "ladder_unroll4"},
                    {"3.2 unrolled by 4 -> by 8", 6, "3.5", problem, "ladder_unroll8"},
                    {"3.5 unrolled by 8 -> fully", 7, "3.5", problem, "ladder_unrolled"}}),
            study("rows",
                {"2: the bitonic sort without and with padding",
                    {{time, "sort ms", "+ #"}, {right, "right, k = " + std::to_string(k), "+ #"},
                        {right, "right, k = " + std::to_string(before), "+ #", "", before},
                        {time, "paper", "=seed 003, 2|accuracy"}},
                    {"without padding: the steps of the sort for the next power of two; keys without a partner stay. in blocks:",
                        "the same inside each 2,048 keys alone, where the first block gives the neighbors. padded: bitonicSortStep, a",
                        "launch per step. padded, ours: the sort of the engine classic."}},
                {{"without padding", 0, "2", problem, "bitonic_unpadded"},
                    {"in blocks of 2,048", 0, "2", problem, "bitonic_blocks"}, {"padded", 0, "2", problem, "bitonic_step"},
                    {"padded, ours", 0, "2", problem, "bitonic"}}),
            study("program",
                {"4.1: programs as a whole",
                    {{size, "k", "k"}, {time, "ms", "#"}, {right, "right", "#"}, {time, "paper, s", program + "execution time"},
                        {ratio, "paper / here", program + "execution time", "#"}, {time, "paper, right", program + "correct"}},
                    {"From the upload of all images to the last answer, one test image after another; the paper's time is that of its",
                        "program, with reading the files. That of an engine is its search. The paper does not state its k: exact",
                        "neighbors at k = 10 give the count of the previous version, at k = 5 that of the final one, so its step from",
                        "the one to the other is a change of k."}},
                {{"previous version", 0, "4.1", problem_before, "previous"},
                    {"buffers allocated once", 0, "4.1", problem_before, "allocated_once"},
                    {"final version", 0, "4.1", problem, "final"}, {"engine classic: ours", 0, "4.1", problem, "classic"},
                    {"exact neighbors, k = " + std::to_string(before), 0, "4.1", problem_before, "cpu"},
                    {"exact neighbors, k = " + std::to_string(k), 0, "4.1", problem, "cpu"}}),
            study("stage",
                {"4.1: the stages of the final version, ms of all test images",
                    {{time, "paper, total", stages + "total"}, {time, "paper, average", stages + "average"},
                        {stage, "final version", "final"}, {stage, "engine classic", "classic"}}},
                {{"allocation", 0, "4.1", problem, "allocate"},
                    {"data transfer", 0, "4.1", problem, "upload download transfer"},
                    {"distance calculation", 0, "4.1", problem, "distance"}, {"sorting", 0, "4.1", problem, "sort select"}})}};
    if (before == k) {  // one column of right answers, and one row of exact neighbors
        std::vector<PaperColumn>& columns = paper.studies[2].tables.front().columns;
        std::vector<PaperSize>& rows = paper.studies[3].sizes;
        columns.erase(columns.begin() + 2);
        rows.erase(rows.begin() + 4);
    }
    return paper;
}

Paper zhu_paper() {
    using enum PaperColumn::Kind;
    constexpr int k = 32;  // the largest of its test cases, §5.3
    constexpr std::int64_t dim = 128, large = 16'384;
    const std::string k_pass = "+ k_pass_thread", replace_max = "+ replace_max_thread", before = "half_plain " + k_pass,
                      after = "half_tile16_z " + replace_max, cpu = "serial", cpu_sort = "+ serial_k_pass",
                      cpu_both = cpu + " " + cpu_sort;
    PaperStudy steps{"sample", PaperData::half, "half_tile16", 0.4, true, true}, sides = steps, ours = steps;
    steps.tables = {step(1, ": distances, one CPU thread -> a GPU thread per pair", "a thread per pair", cpu, "half_plain"),
        step(2, ": selection, one CPU thread -> a GPU thread per point, both by k minima", "k_pass_thread", cpu_sort, k_pass),
        step(3, ": both passes, one CPU thread -> the GPU", "thread per pair + k_pass_thread", cpu_both, before),
        step(4, ", trick 1: distances by tiles of 16 x 16 in shared memory", "tiles", "half_plain", "half_tile16", cpu),
        step(6, ", trick 2: one grid layer per quarter of the matrix", "layers", "half_tile16", "half_tile16_z", cpu),
        step(7, ", trick 3: replace the largest of k", "replace_max_thread", k_pass, replace_max, cpu_sort),
        step(8, ": both passes, before and after the three tricks", "all tricks", before, after, cpu_both),
        step(9, ": both passes, for any input and for one contest", "contest", after, "half_contest " + replace_max)};
    steps.tables.back().notes = {
        "faster: before / after. CPU: one thread with the same program: one of each two equal distances, no point its own",
        "neighbor, k minima. The paper's samples have sizes of their own that its text does not state: its times and ours",
        "are of different work, only the ratios compare."};
    const std::string of_side = "=seed 004, Table 5|time of distances computing", side16 = "block size 16";
    sides.rows = "side";
    sides.tables = {{"Table 5: the side of the tiles, 16,384 points",
        {{time, "ms", "#"}, {of_row, "of side 16", "#", side16, 0, true}, {time, "paper, ms", of_side},
            {of_row, "paper, of side 16", of_side, side16, 0, true}},
        {}, "time / that of side 16"}};
    for (const int side : {4, 8, 16, 32})
        sides.sizes.push_back({"block size " + std::to_string(side), static_cast<double>(side), "sides", {large, large, dim, k},
            "half_tile" + std::to_string(side)});
    ours.data = PaperData::points;
    ours.matrix = "tiled";
    ours.tables = {{"all pairs, and a warp per point: ours, ms", {{size, "points", "train"}}}};
    for (const char* way : {"naive", "tiled", "+ k_pass", "+ replace_max"})
        ours.tables[0].columns.push_back({time, way, way});
    for (const auto& [name, n] : {std::pair("small", std::int64_t{1024}), {"middle", 4096}, {"large", large}}) {
        steps.sizes.push_back({name, 0, name, {n, n, dim, k}});
        ours.sizes.push_back({name, 0, std::string("all pairs ") + name, {n, n, dim, k}});
    }
    return {"seed 004", "random bytes, dim = 128, k = 32; every point is query and training point", {steps, sides, ours}};
}

// clang-format on

}  // namespace knn
