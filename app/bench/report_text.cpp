#include "app/bench/report.h"
#include "data/core/format.h"

namespace knn {

namespace {

std::string table_text(const BenchTable& shown) {
    std::vector<Align> columns(shown.columns.size(), Align::right);
    if (!columns.empty()) columns[0] = Align::left;
    Table table(columns);
    table.add(shown.columns);
    for (std::vector<std::string> row : shown.rows) {
        row.resize(columns.size());
        for (std::string& cell : row)
            cell = harmless(cell);
        table.add(std::move(row));
    }
    std::string text = shown.title + '\n' + table.text();
    for (const std::string& line : shown.notes)
        text += "  " + line + '\n';
    return text + '\n';
}

std::string head(const BenchReport& report) {
    Table table({Align::left, Align::left});
    for (const Device& device : report.devices)
        table.add({device.kind == Device::Kind::gpu ? "gpu:" + std::to_string(device.number) : "cpu",
                   harmless(device.name)});
    table.add({"data", harmless(report.data)});
    const Limits& limits = report.limits;
    if (limits.copy_gb_per_s > 0)
        table.add({"limits", report.gpu + ": copy " + short_number(limits.copy_gb_per_s) +
                                 " GB/s read and written, multiply-add " +
                                 short_number(limits.multiply_add_gflop_per_s) + " GFLOP/s, upload " +
                                 short_number(limits.pinned_upload_gb_per_s) + " GB/s pinned, " +
                                 short_number(limits.pageable_upload_gb_per_s) + " pageable"});
    if (report.cpu_copy_gb_per_s > 0)
        table.add(
            {limits.copy_gb_per_s > 0 ? "" : "limits",
             "cpu, 1 thread: copy " + short_number(report.cpu_copy_gb_per_s) + " GB/s read and written"});
    if (!report.checked.empty()) table.add({"checked", report.checked});
    return table.text(0) + '\n';
}

}  // namespace

std::string bench_text(const BenchReport& report) {
    std::string text = report.title + "\n\n" + head(report);
    for (const BenchTable& table : report.tables)
        text += table_text(table);
    bool any_wrong = false;
    for (const Measurement& one : report.measurements) {
        if (one.wrong.empty()) continue;
        if (!any_wrong) text += "WRONG ANSWERS\n";
        any_wrong = true;
        text += "  " + one.name + " (" + one.experiment + ", " + one.part + "): " + one.wrong + '\n';
    }
    if (any_wrong) text += '\n';
    if (!report.left_out.empty()) {
        text += "left out\n";
        for (std::size_t i = 0; i < report.left_out.size(); ++i) {
            const LeftOut& one = report.left_out[i];
            const bool first = i == 0 || report.left_out[i - 1].reason != one.reason;
            const bool last = i + 1 == report.left_out.size() || report.left_out[i + 1].reason != one.reason;
            text += (first ? "  " : ", ") + one.name + (last ? ": " + harmless(one.reason) + '\n' : "");
        }
        text += '\n';
    }
    text.pop_back();
    return text;
}

}  // namespace knn
