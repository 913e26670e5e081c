#include "app/bench/papers.h"

#include <algorithm>
#include <utility>

#include "data/core/format.h"

namespace knn {

namespace {

/// One name of a way.
struct Piece {
    std::string part, name;
    Problem problem;

    bool needs_gpu() const {
        return !find_engine(name) && name != serial_distances && cpu::find_serial_selector(name) == nullptr;
    }
};

bool is_stated(const std::string& way) {
    return way.starts_with('=');
}

std::vector<Piece> pieces_of(const PaperSize& row, const std::string& way, int k) {
    std::vector<Piece> pieces;
    Problem problem = row.problem;
    if (k > 0) problem.k = k;
    const char* part = "distance";
    for (const std::string& word : words_of(is_stated(way) ? "" : way)) {
        const std::string name = word == "#" ? row.kernel : word;
        if (name == "+")
            part = "select";
        else if (name == "pinned" || name == "pageable")
            pieces.push_back({"upload", name, problem});
        else
            pieces.push_back(
                {find_engine(name) || row_named(programs, name) ? "search" : part, name, problem});
    }
    return pieces;
}

std::vector<std::string> ways_of(const PaperColumn& column) {
    if (column.kind == PaperColumn::size) return {};
    return column.kind == PaperColumn::ratio ? std::vector{column.way, column.other}
                                             : std::vector{column.way};
}

/// What all queries of a size take by a way, in ms; 0: not known.
struct WayTime {
    double median = 0, min = 0, max = 0;
    std::int64_t bytes = 0;
    bool partial = false, comparable = true;
    std::string text;  ///< as printed, or why there is none
    std::string mark = {};
};

WayTime stated_time(const PaperSize& row, const std::string& way) {
    const std::size_t bar = way.find('|');
    const Figure* found = find_figure(way.substr(1, bar - 1), row.label, way.substr(bar + 1));
    if (found == nullptr) return {.text = "not stated"};
    const bool has_mark = found->unit == "x" || found->unit == "%";
    return {.median = found->value() * (found->unit == "s" ? 1e3 : 1),
            .text = found->text + (has_mark ? found->unit : "")};
}

WayTime time_of(const BenchReport& report, const PaperStudy& study, const PaperSize& row,
                const std::string& way, int k) {
    if (is_stated(way)) return stated_time(row, way);
    WayTime ms;
    std::int64_t timed = row.problem.n_query;
    bool serial = true;
    for (const Piece& piece : pieces_of(row, way, k)) {
        const Measurement one = report.measured(row.figure, piece.name, piece.problem);
        if (!one.good()) return {.text = ms_cell(one)};
        ms.median += one.of_all(one.summary().median);
        ms.min += one.of_all(one.summary().min);
        ms.max += one.of_all(one.summary().max);
        ms.bytes = std::max(ms.bytes, one.peak_bytes);
        timed = std::min(timed, one.n_query);
        serial = serial && one.on == one_cpu_thread;
    }
    ms.partial = timed < row.problem.n_query;
    ms.comparable = !ms.partial || study.multiplies || serial;
    const double share = static_cast<double>(timed) / static_cast<double>(row.problem.n_query);
    if (ms.partial) ms.mark = study.multiplies ? partial_mark : " [" + std::to_string(timed) + "]";
    ms.text = short_number(ms.median * (study.multiplies ? 1 : share)) + ms.mark;
    return ms;
}

struct Cell {
    std::string text;
    PlotPoint at = {};  ///< y = 0: none
    bool not_drawn = false;
};

Cell ratio_of(const WayTime& a, const WayTime& b, double x) {
    if (a.median <= 0 || b.median <= 0) return {};
    if (!a.comparable || !b.comparable) return {"", {}, true};
    const double y = a.median / b.median;
    return {short_number(y) + "x", {x, y, y, y, a.partial || b.partial}};
}

std::string size_cell(const Problem& of, const std::string& which) {
    return with_commas(which == "test"    ? of.n_query
                       : which == "train" ? of.n_train
                       : which == "k"     ? of.k
                                          : of.dim);
}

/// Time of these stages in a run, that of all queries if it had fewer; empty of a run that has none of them.
std::string stage_cell(const Measurement& one, const std::vector<std::string>& names) {
    if (!one.good()) return ms_cell(one);
    double ms = 0;
    for (const Stage& stage : one.stages.stages())
        if (has(names, stage.name)) ms += one.of_all(stage.total_ms);
    return ms > 0 ? short_number(ms) + (one.partial() ? partial_mark : "") : "";
}

Cell cell_of(const BenchReport& report, const PaperStudy& study, const PaperColumn& column, std::size_t i) {
    using enum PaperColumn::Kind;
    const PaperSize& row = study.sizes[i];
    if (column.kind == size) return {size_cell(row.problem, column.way)};
    const WayTime ms = time_of(report, study, row, column.way, column.k);
    if (column.kind == ratio) return ratio_of(ms, time_of(report, study, row, column.other, column.k), row.x);
    if (column.kind == of_row) {
        const auto named = std::ranges::find(study.sizes, column.other, &PaperSize::label);
        if (column.other.empty() ? i == 0 : named == study.sizes.end()) return {};
        const PaperSize& other = column.other.empty() ? study.sizes[i - 1] : *named;
        return ratio_of(ms, time_of(report, study, other, column.way, column.k), row.x);
    }
    if (column.kind == memory)
        return {ms.bytes > 0 ? short_number(static_cast<double>(ms.bytes) * 1e-6) : ""};
    if (column.kind == right || column.kind == stage) {
        const Piece last = pieces_of(row, column.way, column.k).back();
        const Measurement one = report.measured(row.figure, last.name, last.problem);
        if (column.kind == stage) return {stage_cell(one, words_of(row.kernel))};
        return {one.good() ? with_commas(one.right) + " of " + with_commas(one.n_query) : ms_cell(one)};
    }
    if (ms.median <= 0) return {ms.text};
    const double scale = column.kind == per_query ? 1e3 / static_cast<double>(row.problem.n_query) : 1;
    Cell cell = {column.kind == per_query ? short_number(ms.median * scale) + ms.mark : ms.text};
    cell.not_drawn = !ms.comparable;
    if (ms.comparable) cell.at = {row.x, ms.median * scale, ms.min * scale, ms.max * scale, ms.partial};
    return cell;
}

bool is_wanted_column(const BenchOptions& options, const PaperColumn& column) {
    return std::ranges::all_of(ways_of(column), [&](const std::string& way) {
        return is_stated(way) || is_wanted(options, words_of(way).back());
    });
}

/// What the tables name at a size and the report does not have, each once. What needs a GPU that is not there is recorded
/// instead, once for all sizes.
std::vector<Piece> pieces_to_measure(BenchRun& run, const PaperStudy& study, const PaperSize& row) {
    std::vector<Piece> pieces;
    const auto add = [&](const Piece& piece) {
        const auto same = [&](const Piece& one) {
            return one.name == piece.name && (one.part == "distance" || one.problem.k == piece.problem.k);
        };
        const auto has_name = [&](const Measurement& one) { return one.name == piece.name; };
        if (std::ranges::any_of(pieces, same) ||
            !run.report.measured(row.figure, piece.name, piece.problem).name.empty())
            return;
        if (run.has_gpu() || !piece.needs_gpu())
            pieces.push_back(piece);
        else if (std::ranges::none_of(run.report.measurements, has_name))
            run.not_run(piece.part, {piece.name}, piece.problem);
    };
    for (const PaperTable& table : study.tables)
        for (const PaperColumn& column : table.columns)
            for (const std::string& way : ways_of(column))
                std::ranges::for_each(pieces_of(row, way, column.k), add);
    return pieces;
}

void measure(BenchRun& run, const PaperStudy& study, bool linear, const std::vector<Piece>& pieces,
             Workload& work) {
    TrialOptions limits = run.trial(study.share);
    limits.linear = linear;
    limits.all_queries = study.all;
    bool distances = false, filled = study.matrix.empty();
    for (const Piece& one : pieces)  // the distances of one CPU thread come with its first selector
        distances = distances || one.name == serial_distances;
    const auto measure_one = [&](const Piece& one) {
        const int k = one.problem.k;
        if (one.part == "upload") return run.upload_images(work, one.name, limits);
        if (const Program* program = row_named(programs, one.name))
            return run.program(work, *program, k, limits);
        if (one.part == "search") return run.search(work, search_way(one.name), k, limits);
        if (one.part == "distance") return run.distance(work, one.name, limits);
        if (!one.needs_gpu())
            return run.serial(work, one.name, k, limits, std::exchange(distances, false)).back();
        if (!std::exchange(filled, true)) work.arrays->fill(study.matrix);
        return run.select(work, one.name, k, limits);
    };
    for (const bool first : {true, false})  // distances overwrite the matrix of the selectors
        for (const Piece& one : pieces)
            if ((one.part == "distance") == first && one.name != serial_distances) measure_one(one);
}

/// Images of a size's own, with their answers, on a GPU if one is needed.
Workload own_images(BenchRun& run, PaperData data, const Problem& of, const std::vector<Piece>& pieces) {
    const bool values = data == PaperData::values, images = data == PaperData::images;
    Workload work(values ? 0 : of.n_train, images ? of.n_query : 0, of.dim, 1, 5);
    if (values) {
        work.train = {nullptr, of.n_train, 1};
        work.query = {nullptr, of.n_query, 1};
        run.report.checked = "a sample of the rows against a selector of one CPU thread";
    } else if (!images) {
        work.query = work.train;
    }
    for (const Piece& piece : pieces)
        work.max_k = std::max(work.max_k, piece.problem.k);
    work.leave_one_out = data == PaperData::half;
    if (work.has_images()) run.prepare(work);
    if (std::ranges::any_of(pieces, &Piece::needs_gpu)) run.upload(work);
    return work;
}

}  // namespace

void add_table(BenchReport& report, const PaperStudy& study, const PaperTable& table) {
    BenchTable shown{table.title, {study.rows}, {}, table.notes};
    Panel panel{table.title, study.rows, table.y_label, table.log_x, table.log_y};
    for (const PaperSize& row : study.sizes)
        shown.rows.push_back({row.label});
    bool has_content = false, draws = false, some_hollow = false;
    std::string not_drawn;
    for (const PaperColumn& column : table.columns) {
        shown.columns.push_back(column.heading);
        PlotLine line{column.heading, {}};
        for (std::size_t i = 0; i < study.sizes.size(); ++i) {
            const Cell cell = cell_of(report, study, column, i);
            shown.rows[i].push_back(cell.text);
            has_content = has_content || cell.at.y > 0 || cell.not_drawn;
            if (column.drawn && cell.not_drawn)
                not_drawn += (not_drawn.empty() ? "" : "; ") + column.heading + " at " + study.sizes[i].label;
            if (!column.drawn || cell.at.y <= 0) continue;
            line.points.push_back(cell.at);
            some_hollow = some_hollow || cell.at.hollow;
            draws = draws || !is_stated(column.way);  // not the paper's alone
        }
        if (!line.points.empty()) panel.lines.push_back(std::move(line));
    }
    if (!has_content)
        return report.leave_out(table.title.substr(0, table.title.find(':')), "nothing of it was measured");
    add_marked(report, std::move(shown));
    if (some_hollow) panel.notes.emplace_back("hollow: timed on fewer queries; their time is multiplied.");
    if (!not_drawn.empty()) panel.notes.push_back("not drawn, timed on fewer queries: " + not_drawn + '.');
    if (!table.y_label.empty() && draws)
        report.panels.push_back(std::move(panel));
    else if (!not_drawn.empty())
        report.leave_out("the plot of " + table.title, "all of it was timed on fewer queries than all");
}

void run_paper(BenchRun& run, const Paper& paper, Workload* given) {
    run.report.data = paper.data;
    run.report.quotes = quotes_of(paper.source);
    std::vector<PaperStudy> studies = paper.studies;
    for (PaperStudy& study : studies) {
        for (PaperTable& table : study.tables)
            std::erase_if(table.columns,
                          [&](auto& column) { return !is_wanted_column(run.options.bench, column); });
        for (const PaperSize& row : study.sizes)
            run.expect(std::ssize(pieces_to_measure(run, study, row)));
    }
    for (const PaperStudy& study : studies) {
        for (const PaperSize& row : study.sizes) {
            const std::vector<Piece> pieces = pieces_to_measure(run, study, row);
            if (pieces.empty()) continue;
            run.figure(row.figure);
            if (given != nullptr) {
                measure(run, study, row.linear, pieces, *given);
            } else {
                Workload work = own_images(run, study.data, row.problem, pieces);
                measure(run, study, row.linear, pieces, work);
            }
        }
        for (const PaperTable& table : study.tables)
            add_table(run.report, study, table);
    }
}

void run_garrett(BenchRun& run) {
    const int k = run.options.method.vote.k;
    Workload work = load_workload(run, k);
    work.max_k =
        static_cast<int>(std::max<std::int64_t>(k, std::min<std::int64_t>(garrett_k, work.train.count)));
    run.report.title += ", k = " + std::to_string(k);
    run.prepare(work);
    run.upload(work);
    run_paper(run, garrett_paper(work, k), &work);
}

}  // namespace knn
