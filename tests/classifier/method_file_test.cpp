/// Methods as files: what is written is read back, and each mistake is one line that names the file.

#include "classifier/method.h"

#include "data/core/errors.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

const std::string valid =
    "mnist-knn method 1\n# a comment\n\ntransform deskew,pca:50\nrerank both\ncandidates 50\nmetric lp\np "
    "3.5\n"
    "vote class-mean\nk 4\nweights distance\ntie nearest\n";

/// What is wrong with the text; empty: nothing.
std::string error_of(const std::string& text) {
    return test::error_of<DataError>([&] { parse_method_text(text, "m.txt"); });
}

/// `valid` with the first `from` replaced.
std::string with(const std::string& from, const std::string& to) {
    std::string text = valid;
    return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("method file: every part is read") {
    const Method method = parse_method_text(valid, "m.txt");
    CHECK(method.transform.text() == "deskew,pca:50");
    CHECK(method.rerank.kind == RerankKind::both);
    CHECK(method.rerank.candidates == 50);
    CHECK(method.measure == Measure{Metric::lp, 3.5});
    CHECK(
        method.vote ==
        VotingRule{.k = 4, .weights = Weights::distance, .tie = Tie::nearest, .votes = VoteKind::class_mean});
    CHECK(parse_method_text(valid.substr(0, valid.size() - 1), "m.txt") == method);  // no last line feed
    std::string windows = "\xef\xbb\xbf";
    for (const char c : valid)
        windows.append(c == '\n' ? "\r\n" : std::string(1, c));
    CHECK(parse_method_text(windows, "m.txt") == method);
    std::string blanks;
    for (const char c : valid)
        blanks.append(c == '\n' ? "\t  \n \t" : std::string(1, c));
    CHECK(parse_method_text(blanks, "m.txt") == method);
}

TEST_CASE("method file: what is written is read back") {
    std::vector<Method> all;
    for (const NamedMethod& one : methods())
        all.push_back(one.method);
    for (const Metric metric : {Metric::l1, Metric::lp, Metric::cosine, Metric::pearson})
        for (const double p : {0.1, 1.0 / 3, 15.0}) {
            Method method;
            method.measure = metric == Metric::lp ? Measure{metric, p} : Measure{metric};
            method.transform = parse_transform("", "deskew:0.7,blur:0.3");
            method.rerank = {.kind = RerankKind::cells, .candidates = 1024};
            method.vote = {1024, Weights::distance, Tie::nearest, VoteKind::class_mean};
            all.push_back(method);
        }
    for (const Method& method : all) {
        CHECK(parse_method_text(method_text(method), "m") == method);
        CHECK(parse_method_text(method_text(method, "from\n\x1b[31m data\xff"), "m") == method);
    }
}

TEST_CASE("method file: mistakes") {
    struct Row {
        std::string text, error;
    };
    for (const Row& row : std::vector<Row>{
             {"", "m.txt: is no method; expected 'mnist-knn method 1' in its first line"},
             {"mnist-knn method 2\n", "is no method"},
             {with("k 4", "k 0"), "m.txt: line 10: k '0' is not allowed; expected 1 to 16384"},
             {with("k 4", "k 4.5"), "line 10: k '4.5' is not allowed"},
             {with("k 4", "k 99999999999"), "expected 1 to 16384"},
             {with("p 3.5", "p nan"), "p 'nan' is not allowed; expected 0.1 to 15"},
             {with("candidates 50", "candidates 9"), "expected 10 to 1024"},
             {with("tie nearest", "tie furthest"),
              "m.txt: line 12: tie 'furthest' is unknown; expected one of smallest, nearest"},
             {with("pca:50", "pca"), "m.txt: line 4: transform deskew,pca: "},
             {with("tie nearest", "tie"),
              "m.txt: line 12: 'tie' has no value; expected a name, a space and a value"},
             {with("tie", "ties"), "'ties' is unknown; expected one of transform, "},
             {valid + "k 4\n", "m.txt: line 13: 'k' is there a second time; expected every name once"},
             {with("weights distance\n", ""), "m.txt: has no line 'weights'; expected one"},
             {with("p 3.5\n", ""), "m.txt: has no line 'p'; expected one"},
             {with("metric lp", "metric l2"),
              "m.txt: has a line 'p', but the metric is not lp; expected none"},
             {with("rerank both", "rerank none"),
              "m.txt: vote class-mean adds up integers, which distances by lp are not; expected metric l2 or "
              "l1"},
             {with("k 4", "k 51"), "m.txt: k is more than the 50 candidates that are re-ranked"},
             {with("k 4", "k 4\r\r"), "line 10: k '4?' is not allowed"}}) {
        CAPTURE(row.error);
        CHECK(test::contains(error_of(row.text), row.error));
    }
}

TEST_CASE("method file: any bytes are a method or one line of error") {
    std::mt19937 random(1);
    const auto below = [&](std::size_t n) { return random() % n; };
    for (int round = 0; round < 20000; ++round) {
        std::string text = valid;
        for (std::size_t i = 0; i <= below(3); ++i) {
            const std::size_t at = below(text.size());
            if (below(3) == 0)
                text.erase(at, below(20));
            else if (below(2) == 0)
                text[at] = static_cast<char>(below(256));
            else
                text.insert(at, text.substr(below(text.size()), below(30)));
            if (text.empty()) text.push_back('\n');
        }
        const std::string error = error_of(text);
        const bool one_line = error.starts_with("m.txt: ") && error.find("; expected ") != std::string::npos;
        if (!error.empty() && !one_line) FAIL_CHECK(error);
        if (error.empty()) {
            const Method method = parse_method_text(text, "m.txt");
            CHECK(parse_method_text(method_text(method), "m") == method);
        }
    }
}
