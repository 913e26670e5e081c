#include "data/core/names.h"

namespace knn {

namespace {

/// Edit distance with swaps of neighboring letters (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

}  // namespace

std::string lower_case(std::string_view text) {
    std::string result(text);
    for (char& letter : result)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return result;
}

std::string nearest_name(std::string_view text, std::span<const std::string> names) {
    std::string best;
    const std::string small = lower_case(text);
    // Fewer than a third of the letters: among names as short as "cpu" and "gpu" one letter makes another.
    std::size_t fewest = (text.size() + 2) / 3;
    for (const std::string& name : names) {
        const std::size_t edits = edit_distance(small, lower_case(name));
        if (edits < fewest) {
            fewest = edits;
            best = name;
        }
    }
    if (!best.empty() || text.empty()) return best;
    const auto begun = std::find_if(names.begin(), names.end(),
                                    [&](const auto& name) { return lower_case(name).starts_with(small); });
    return begun != names.end() ? *begun : "";
}

std::string suggestion(std::string_view text, std::span<const std::string> names) {
    const std::string near = nearest_name(text, names);
    return near.empty() ? "" : " (did you mean " + near + "?)";
}

}  // namespace knn
