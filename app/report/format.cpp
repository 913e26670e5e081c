#include "app/report/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace knn {

std::string fixed(double value, int digits) {
    char text[400];  // the largest double has 309 digits before the point
    const auto result = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits);
    return {text, result.ptr};
}

std::string short_number(double value) {
    const double size = std::abs(value);
    if (size < 1e-4) return size > 0 ? "<0.0001" : "0";
    const int magnitude = static_cast<int>(std::floor(std::log10(size)));
    return fixed(value, std::clamp(2 - magnitude, 0, 4));
}

std::string percent(double share, int digits) {
    return fixed(share * 100, digits) + " %";
}

std::string with_commas(std::int64_t number) {
    const std::string digits = std::to_string(number);
    std::string result;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) result += ',';
        result += digits[i];
    }
    return result;
}

std::string gibibytes(std::int64_t bytes) {
    return fixed(static_cast<double>(bytes) / (1 << 30), 1) + " GiB";
}

std::string Table::text(std::size_t indent) const {
    std::vector<std::size_t> widths(columns_.size(), 0);
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows_) {
        std::string line(indent, ' ');
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space(widths[i] - row[i].size(), ' ');
            line += i > 0 ? "  " : "";
            line += columns_[i] == Align::left ? row[i] + space : space + row[i];
        }
        line.resize(line.find_last_not_of(' ') + 1);  // an empty row: npos + 1 = 0
        text += line + '\n';
    }
    return text;
}

}  // namespace knn
