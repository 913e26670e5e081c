/// predictions.csv as it is read back, for a number of test images that the first two bytes say.

#include <algorithm>
#include <sstream>
#include <string>

#include "app/report/csv.h"
#include "data/core/errors.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using knn::test::require;
    knn::test::Input input(data, size);
    const auto n_test = static_cast<std::int64_t>(input.number(2));
    std::istringstream stream{std::string(input.text())};
    try {
        const knn::Predictions read = knn::read_predictions(stream, "input", n_test);
        const auto n = static_cast<std::size_t>(n_test);
        require(read.truth.size() == n && read.votes.size() == n && read.confidence.size() == n,
                "there is one answer for each image");
        for (std::size_t i = 0; i < n; ++i)
            require(read.confidence[i] >= 0 && read.confidence[i] <= 1 && read.votes[i].vote_share > 0 &&
                        read.votes[i].vote_share <= 1,
                    "confidences and shares are in 0 .. 1");
        const std::string_view text = input.text();
        const auto lines =
            std::count(text.begin(), text.end(), '\n') + (text.empty() || text.ends_with('\n') ? 0 : 1);
        require(lines == n_test + 1, "there is one line for each image");
    } catch (const knn::DataError&) {
    }
    return 0;
}
