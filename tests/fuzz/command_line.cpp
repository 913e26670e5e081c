/// The command line: words, one a line, become a command with its options, which does not run. A method that looks like
/// a file is opened; its content is the fuzzer `method`'s.

#include <sstream>
#include <string>
#include <vector>

#include "app/cli/command_line.h"
#include "data/core/errors.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using knn::test::require;
    const knn::test::Input input(data, size);
    std::istringstream stream{std::string(input.text())};
    std::vector<std::string> words;
    for (std::string word; std::getline(stream, word);)
        words.push_back(word);
    knn::CommandLine line;
    try {
        line.parse(words);
    } catch (const knn::UsageError&) {
        require(line.usage().starts_with("usage: mnist-knn "), "a mistake is answered with the usage");
        return 0;
    } catch (const knn::DataError&) {
        return 0;
    }
    require(!line.answer.empty() || line.command != nullptr, "there is an answer or a command");
    if (!line.answer.empty()) return 0;
    const knn::Method& method = line.options.method;
    require(method.vote.k >= 1 && method.vote.k <= knn::max_k, "k is in its range");
    require(method.measure.p >= knn::min_p && method.measure.p <= knn::max_p, "the exponent is in its range");
    require(
        method.rerank.candidates >= knn::min_candidates && method.rerank.candidates <= knn::max_candidates,
        "the number of candidates is in its range");
    return 0;
}
