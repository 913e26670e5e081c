#include "app/cli/option_table.h"

#include <algorithm>

#include "app/cli/values.h"
#include "data/core/errors.h"

namespace knn {

const std::vector<OptionNeed>& option_needs() {
    static const std::vector<OptionNeed> needs = {
        {"audit", "--seed", "--plant N"},
        {"audit", "--test --test-images --test-labels --limit-test", "--of test"},
        {"compare",
         "--data --train --test --label-column --train-images --train-labels --test-images --test-labels",
         "--html FILE"},
        {"classify", "--pixels --json-version", "--json FILE"},
        {"classify", "--report", "--expected"},
        {"neighbors", "--npz", "--range R"},
        {"", "--test --label-column", "--train FILE"},
    };
    return needs;
}

const std::vector<OptionConflict>& option_conflicts() {
    static constexpr const char* in_report =
        "--method --transform --rerank --candidates --vote -k --metric --p --weights --tie --limit-train "
        "--limit-test";
    static constexpr const char* kinds = "--many --numbers --grid --template";
    static const std::vector<OptionConflict> conflicts = {
        {"view", "--from", in_report, "the report determines it"},
        {"serve", "--report", "--limit-test", "the report determines it"},
        {"serve", "--token", "--no-token", "they contradict each other"},
        {"classify", kinds, kinds, "both tell what is in a picture"},
        {"classify", "--expected", kinds, "a page has many digits"},
        {"neighbors", "--exclude-self", "--queries", "the queries are not the rows of --train"},
        {"neighbors", "-k", "--range", "both say how many neighbors a query has"},
        {"neighbors", "--npy --ibin", "--range",
         "a range has any number of rows; --csv and --npz write them"},
        {"bench", "--dim",
         "--data --train --test --extra --train-images --train-labels --test-images --test-labels",
         "random images come from no file"},
        {"bench", "--extra", "--n-train",
         "only the first training images are searched, and those of --extra follow all"},
        {"graph", "--images", "--extra", "those of --extra are added to a training set"},
        {"", "--train --test --images", "--data --train-images --test-images", "both say where the data are"},
        {"", "--images", "--train --train-labels", "both say where the data are"},
    };
    return conflicts;
}

void check_needs(std::string_view command, const GivenValues& given) {
    const auto key = [](const std::string& word) { return word.starts_with("--") ? word.substr(2) : word; };
    const auto is_given = [&](const std::string& word) { return given.contains(key(word)); };
    const auto concerns = [&](const char* commands) {
        const std::vector<std::string> names = words_of(commands);
        return names.empty() || std::ranges::count(names, command) > 0;
    };
    for (const OptionConflict& conflict : option_conflicts())
        for (const std::string& one : words_of(concerns(conflict.commands) ? conflict.options : ""))
            for (const std::string& other : words_of(conflict.others))
                if (one != other && is_given(one) && is_given(other))
                    throw UsageError(one + " and " + other + ": " + conflict.reason +
                                     "; expected one of them");
    for (const OptionNeed& need : option_needs())
        for (const std::string& option : words_of(concerns(need.commands) ? need.options : "")) {
            const std::vector<std::string> needed = words_of(need.needed);
            const bool is_value = needed.size() > 1 && std::islower(needed[1][0]) != 0;
            const auto found = given.find(key(needed[0]));
            if (is_given(option) && (found == given.end() || (is_value && found->second.back() != needed[1])))
                throw UsageError(option + ": has no effect without " + need.needed + "; expected " +
                                 (is_value ? need.needed : needed[0]) + " with it");
        }
}

}  // namespace knn
