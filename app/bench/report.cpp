#include "app/bench/report.h"

#include <algorithm>

#include "data/core/format.h"

namespace knn {

namespace {

double rate(double amount, double ms) {
    return amount > 0 && ms > 0 ? amount / ms * 1e-6 : 0;
}

/// The share of a measured limit.
LimitShare within(double reached, double limit, const char* name, const char* above) {
    if (limit <= 0 || reached <= 0) return {};
    if (reached > limit) return {0, above};
    return {reached / limit, name};
}

std::string rounded(double value) {
    return value > 0 ? short_number(value) : "";
}

}  // namespace

double Measurement::us_per_query() const {
    return n_query > 0 ? ms_median() * 1e3 / static_cast<double>(n_query) : 0;
}
double Measurement::ms_of_all() const {
    return good() ? us_per_query() * 1e-3 * static_cast<double>(problem.n_query) : 0;
}
double Measurement::gb_per_s() const {
    return rate(bytes, ms_median());
}
double Measurement::gflop_per_s() const {
    return rate(operations, ms_median());
}

bool BenchReport::wrong() const {
    return std::any_of(measurements.begin(), measurements.end(),
                       [](const Measurement& one) { return !one.wrong.empty(); });
}

void BenchReport::leave_out(const std::string& name, const std::string& reason) {
    for (const LeftOut& one : left_out)
        if (one.name == name && one.reason == reason) return;
    left_out.push_back({name, reason});
}

std::vector<LeftOut> BenchReport::left_out_alone() const {
    std::vector<LeftOut> alone;
    for (const LeftOut& one : left_out)
        if (std::none_of(measurements.begin(), measurements.end(), [&](const Measurement& row) {
                return row.name == one.name && row.left_out == one.reason;
            }))
            alone.push_back(one);
    return alone;
}

/// The direct form takes two instructions for three operations per pair and pixel, a subtraction and a
/// multiply-add, so it can reach three quarters of the multiply-add rate. The memory limit is that of a copy;
/// it does not apply to data that fits in the cache, nor to faster access, as reading alone may be.
LimitShare BenchReport::share_of(const Measurement& measured) const {
    constexpr double direct_form = 0.75, noise = 1.05;
    const bool counted = measured.part != "distance" || measured.operations > 0;
    if (!measured.good() || measured.part == "search" || !counted) return {};
    const bool on_gpu = measured.on == gpu && !gpu.empty();
    if (!on_gpu && measured.on != one_cpu_thread) return {};
    if (measured.part == "upload")
        return on_gpu ? within(measured.gb_per_s(), limits.pinned_upload_gb_per_s, "link",
                               "faster than the limit's run")
                      : LimitShare{};
    const double max_gflop_per_s = on_gpu ? direct_form * limits.multiply_add_gflop_per_s : 0;
    LimitShare arithmetic =
        within(measured.gflop_per_s(), max_gflop_per_s, "arithmetic",
               measured.gflop_per_s() > noise * max_gflop_per_s ? "not the direct form"
                                                                : "faster than the limit's run");
    if (arithmetic.share == 0 && !arithmetic.limit.empty()) return arithmetic;
    const double copy = on_gpu ? limits.copy_gb_per_s : cpu_copy_gb_per_s;
    LimitShare memory = within(measured.gb_per_s(), copy, "memory", "faster than a copy");
    if (on_gpu && measured.bytes < static_cast<double>(limits.cache_bytes)) memory = {0, "fits in the cache"};
    return arithmetic.share > memory.share ? arithmetic : memory;
}

void note_marks(BenchTable& table) {
    for (const std::vector<std::string>& row : table.rows)
        for (const std::string& one : row)
            if (one.ends_with(partial_mark)) {
                table.notes.insert(table.notes.begin(), multiplied_note);
                return;
            }
}

std::string ms_cell(const Measurement& measured) {
    if (!measured.good()) return measured.wrong.empty() ? "not run" : "WRONG";
    return short_number(measured.ms_of_all()) + (measured.partial() ? partial_mark : "");
}

std::vector<std::string> measured_columns(const Unit& unit) {
    return {unit.many, "ms", "min to max", std::string("us/") + unit.one, "GB/s", "GFLOP/s", "of the limit"};
}

std::vector<std::string> measured_cells(const BenchReport& report, const Measurement& measured) {
    if (!measured.wrong.empty()) return {"", "WRONG"};
    if (!measured.good()) return {"", "not run"};
    const Spread spread = measured.spread();
    const LimitShare share = report.share_of(measured);
    return {with_commas(measured.n_query) + (measured.partial() ? partial_mark : ""),
            short_number(spread.median),
            short_number(spread.low) + " to " + short_number(spread.high),
            short_number(measured.us_per_query()),
            rounded(measured.gb_per_s()),
            rounded(measured.gflop_per_s()),
            share.share > 0 ? percent(share.share, 0) + " " + share.limit : share.limit};
}

}  // namespace knn
