#include "app/bench/run.h"

#include <algorithm>
#include <ostream>
#include <sstream>

#include "app/bench/papers.h"
#include "app/cli/command_line.h"
#include "app/cli/values.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/vectors/sets.h"

namespace knn {

namespace {

BenchReport measured(const Options& options) {
    BenchRun run(options);  // its bar is gone before anything is printed
    BenchReport& report = run.report;
    report.created = utc_now();
    if (const BenchCase* which = find_case(options.bench.which)) {
        report.experiment = which->name;
        report.title = std::string("bench ") + which->name + ": " + which->summary;
        which->run(run);
    } else {
        run_compare(run);
    }
    return std::move(report);
}

std::string plot_of(const BenchReport& report) {
    return draw_panels(report.title, {report.data, joined(report.devices, &Device::name)}, report.panels);
}

/// Of all runs of a row that has been timed.
void count_work(Measurement& row, const Trial& trial) {
    const double n = static_cast<double>(row.n_query), n_train = static_cast<double>(row.problem.n_train);
    const double dim = static_cast<double>(row.problem.dim), pairs = n * n_train;
    if (row.part == "upload") row.bytes = 4 * (n_train + n) * dim;
    const bool finds_one = trial.finds == Finds::kth_value;
    if (row.part == "select") row.bytes = 4 * pairs + 8 * n * (finds_one ? 1 : row.problem.k);
    if (row.part == "distance")
        row.bytes = row.on == one_cpu_thread
                        ? pairs * (dim + 4) * trial.operations / 3  // all training bytes, or half
                        : trial.pixel_bytes * (n_train + n) * dim + 4 * pairs;
    if (row.problem.measure.metric == Metric::lp) return;  // its powers are looked up
    if (row.part == "distance") row.operations = trial.operations * pairs * dim;
    // Nominal, for every engine: a multiplication and an addition per distance and pixel.
    if (row.part == "search" || row.part == "kernels") row.operations = 2 * pairs * dim;
}

constexpr const char* files[] = {"data",         "train",       "test",        "train-images",
                                 "train-labels", "test-images", "test-labels", "extra"};

void refuse_if(bool wrong, const std::string& text) {
    if (wrong) throw UsageError(text);
}

/// Options whose value the case may fix, and the names of rows.
void check_case(const BenchCase& which, const Options& options) {
    const std::string has_its_own = std::string(": the case ") + which.name + " has its own";
    const std::vector<std::string> takes = words_of(which.takes), names = words_of(which.names);
    const auto fixed = [&](const std::string& name, const char* group) {
        return options.given.contains(name) && !has(takes, group);
    };
    for (const std::string name :
         {"-k", "n-train", "n-query", "dim", "distance", "select", "engine", "metric", "p"})
        refuse_if(fixed(name, name.c_str()),
                  (name == "-k" ? "" : "--") + name + has_its_own + "; expected one of the two");
    for (const std::string file : files) {
        const bool of_queries = file.starts_with("test");
        refuse_if(fixed(file, of_queries ? "n-query" : "data"),
                  "--" + file +
                      (of_queries && has(takes, "data") ? std::string(": the case ") + which.name +
                                                              " takes no test set; expected it without"
                                                        : has_its_own + " images; expected one of the two"));
    }
    refuse_if(options.request.device.several(),
              "--device " + options.request.device.text() + ": the case " + which.name +
                  " measures one device; expected gpu or gpu:N, or no --case");
    refuse_if(options.request.ranks != nullptr,
              std::string("--case ") + which.name +
                  ": measures one process; expected it without mpirun, or bench with no --case");
    for (const std::string& name : options.bench.only)
        refuse_if(!has(names, name), "--only " + name + has_its_own + " rows; expected " +
                                         (names.empty() ? "one of the two" : one_of(names)));
}

/// --distance and --select apply to rows of kernels: each is measured behind or before those that --only names.
void check_strategies(const Options& options) {
    const auto check = [&](const std::string& option, const std::string& name, const auto& others,
                           const std::string& unused) {
        if (name.empty()) return;
        const std::string given = option + name + ": ";
        refuse_if(options.request.device.kind == DeviceKind::cpu,
                  given + "runs on a GPU; expected no --device cpu with it");
        refuse_if(gpu_names(others, options.bench).empty(), given + unused);
    };
    const std::string &distance = options.request.distance, &select = options.request.select;
    check("--distance ", distance, selectors(),
          "selectors are measured behind it, and --only names none; expected one of them, or no --distance");
    check("--select ", select, distance_kernels(),
          "it is measured behind distance kernels, and --only names none; expected one of them, or no "
          "--select");
}

void check_engine(const Options& options) {
    if (!options.request.engine) return;
    const std::string given = "--engine " + *options.request.engine;
    const Engine* engine = find_engine(*options.request.engine);
    refuse_if(!options.bench.only.empty(),
              "--engine and --only: both say which engines are measured; expected one of the two");
    refuse_if(engine->on_gpu && options.request.device.kind == DeviceKind::cpu,
              given + ": runs on a GPU; expected no --device cpu with it");
}

void check_sizes(const Options& options) {
    if (options.bench.dim == 0) return;
    for (const std::string size : {"n-train", "n-query"})
        refuse_if(!options.given.contains(size),
                  "--dim: random images need their number too; expected --" + size);
}

template <Paper paper()>
void run_data(BenchRun& run) {
    run_paper(run, paper());
}

}  // namespace

BenchRun::BenchRun(const Options& given)
    : options(given),
      ranks(given.request.ranks),
      progress_(use_progress(progress_when(given.output)), 0, "measuring") {
    find_gpu();
    report.devices.push_back(cpu_device());
    if (!leads()) return;
    if (has_gpu()) report.limits = gpu_bench()->limits(gpu_.number);
    stop_if_asked();
    report.cpu_copy_gb_per_s = cpu::copy_gb_per_s(token);
}

void BenchRun::find_gpu() {
    const DeviceRequest& wanted = options.request.device;
    if (wanted.kind == DeviceKind::cpu) {
        why_no_gpu_ = "--device cpu was given";
        return report.leave_out("GPU", why_no_gpu_);
    }
    const Machine machine = find_machine(wanted, ranks);
    gpus_ = find_gpus(wanted, machine);
    if (gpus_.empty()) {
        why_no_gpu_ = "there is none";
        return report.leave_out("GPU", why_no_gpu_ + " (" + machine.why_no_gpu + ")");
    }
    gpu_ = gpus_.front();
    report.gpu = device_id(gpu_);
    report.devices = gpus_;
}

std::string BenchRun::several() const {
    if (ranks != nullptr) return std::to_string(ranks->size()) + " ranks";
    if (gpus_.size() < 2) return "";
    std::string text = report.gpu;
    for (std::size_t i = 1; i < gpus_.size(); ++i)
        text.append(",").append(std::to_string(gpus_[i].number));
    return text;
}

bool BenchRun::wants_engine(const SearchWay& way) const {
    const auto& asked = options.request.engine;
    return (!asked || *asked == way.engine->name) && is_wanted(options.bench, way.name);
}

TrialOptions BenchRun::trial(double share) const {
    return {.repeat = options.bench.repeat, .budget_ms = options.bench.seconds * 1e3 * share};
}

void BenchRun::expect(std::int64_t steps) {
    steps_ += steps;
    progress_.update(done_, std::max(steps_, done_ + 1));
}

void BenchRun::upload(Workload& work) const {
    if (has_gpu())
        work.arrays =
            gpu_bench()->arrays(gpu_.number, work.problem(work.max_k), work.train, work.query, token);
}

Measurement& BenchRun::keep(const std::string& part, const std::string& name, const std::string& on,
                            const Problem& problem, const Trial& trial,
                            const std::function<std::string(std::int64_t)>& check) {
    Measurement& row = report.measurements.emplace_back();
    row.experiment = report.experiment + (figure_.empty() ? "" : " " + figure_);
    row.part = part;
    row.name = name;
    row.on = on;
    row.problem = problem;
    row.ms = trial.ms;
    row.n_query = trial.n_query;
    row.peak_bytes = trial.peak_bytes;
    row.left_out = trial.refusal.value_or("");
    if (!row.ms.empty()) {
        if (check) row.wrong = check(row.n_query);
        count_work(row, trial);
    }
    stop_if_asked();
    if (!row.left_out.empty()) report.leave_out(row.name, row.left_out);
    ++done_;
    expect(0);
    return row;
}

void BenchRun::not_run(const std::string& part, const std::vector<std::string>& names, const Problem& problem,
                       const std::string& reason) {
    for (const std::string& name : names)
        keep(part, name, gpu_or_none(), problem, {.refusal = reason.empty() ? needs_gpu() : reason});
}

int bench(const Options& options, Clock::time_point) {
    check_bench_options(options);
    check_outputs(output_places(options), uses_data_set(options) ? locate_sets(options).inputs()
                                                                 : std::vector<std::filesystem::path>());
    const BenchReport report = measured(options);
    if (options.request.ranks != nullptr && options.request.ranks->rank() != 0)
        return 0;  // rank 0 has all tables and reports them
    const std::string& plot = options.bench.plot;
    const bool nothing_to_draw = report.panels.empty();
    write_results({{options.output.json, [&](std::ostream& out) { out << bench_json(report); }},
                   {options.bench.csv, [&](std::ostream& out) { write_bench_csv(out, report); }},
                   {nothing_to_draw ? "" : plot, [&](std::ostream& out) { out << plot_of(report); }}},
                  bench_text(report));
    if (report.wrong()) throw DataError("bench: wrong answers: see above; expected those of the reference");
    if (!plot.empty() && nothing_to_draw)
        throw DataError(plot +
                        ": not written, because nothing was measured that it would show (the report says "
                        "what was left out); expected rows that this machine can run");
    if (!report.has_time() && report.quotes.empty())
        throw DataError("bench: nothing was measured: see above; expected rows that this machine can run");
    return 0;
}

std::vector<SearchWay> search_ways() {
    std::vector<SearchWay> ways;
    for (const Engine& engine : engines()) {
        ways.push_back({engine.name, &engine});
        // The fastest unfused strategies: the baseline of `tensor`.
        if (std::string_view(engine.name) == "classic")
            ways.push_back({"classic+gemm+replace_max", &engine, "gemm", "replace_max"});
    }
    return ways;
}

SearchWay search_way(const std::string& name) {
    return *row_named(search_ways(), name);
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> bench_names() {
    std::vector<std::string> names;
    const auto add = [&](const auto& all) {
        for (const auto& one : all)
            if (!has(names, one.name)) names.emplace_back(one.name);
    };
    add(distance_kernels());
    add(selectors());
    add(cpu::serial_selectors());
    names.emplace_back(serial_distances);
    add(search_ways());
    return names;
}

std::vector<std::string> bench_case_names() {
    return names_of(bench_cases());
}

std::vector<std::string> parse_only(const std::string& option, const std::string& text) {
    const std::vector<std::string> known = bench_names();
    std::vector<std::string> wanted;
    std::istringstream names(text + ',');
    for (std::string name; std::getline(names, name, ',');)
        wanted.push_back(parse_strategy(option, name, known));
    return wanted;
}

bool is_wanted(const BenchOptions& options, const std::string& name) {
    return options.only.empty() || has(options.only, name);
}

std::vector<std::string> gpu_names(const std::vector<Strategy>& all, const BenchOptions& options) {
    std::vector<std::string> names;
    for (const Strategy& one : all)
        if (one.on_gpu && is_wanted(options, one.name)) names.push_back(one.name);
    return names;
}

const std::vector<BenchCase>& bench_cases() {
    static const std::vector<BenchCase> cases = {
        {"garrett", "Garrett, Luo and Lu (seed 003), sections 2 to 4", run_garrett,
         "data -k n-train n-query"},
        {"nolan", "Nolan (seed 000), section 5", run_data<nolan_paper>, "",
         "insertion rank rank512 bitonic bitonic_single block_rank_merge bitonic_topk multiselect "
         "serial_insertion nth_element cpu"},
        {"komarov", "Komarov, Dashti and D'Souza (seed 001), figures 4 to 9, selection alone",
         run_data<komarov_paper>, "", "multiselect multiselect_random insertion bitonic_topk nth_element"},
        {"singh", "Singh (seed 002), appendix A", run_data<singh_paper>},
        {"zhu", "Zhu (seed 004), tile sides and the three tricks", run_data<zhu_paper>},
        {"graph", "the k-nearest-neighbor graph of the training set", run_graph, "data -k n-train metric p",
         "tensor classic+gemm+replace_max cpu"},
        {"sketches", "searches by direct products and by sketches", run_sketches, "data -k n-train n-query"},
        {"transforms", "features of the training set", run_transforms, "data n-train"},
        {"rerank", "distances of candidates", run_rerank, "data n-train n-query"},
    };
    return cases;
}

const BenchCase* find_case(const std::string& name) {
    return row_named(bench_cases(), name);
}

DataLocation locate_sets(const Options& options) {
    const BenchCase* which = find_case(options.bench.which);
    const bool both = which == nullptr || has(words_of(which->takes), "n-query");
    return both ? locate_data(options.data) : locate_training_data(options.data);
}

bool uses_data_set(const Options& options) {
    const BenchCase* which = find_case(options.bench.which);
    return which != nullptr ? has(words_of(which->takes), "data") : options.bench.dim == 0;
}

void check_bench_options(const Options& options) {
    check_ranks(options.request);
    if (const BenchCase* which = find_case(options.bench.which)) return check_case(*which, options);
    check_sizes(options);
    check_strategies(options);
    check_engine(options);
}

}  // namespace knn
