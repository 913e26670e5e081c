#include "classifier/method_file.h"

#include <charconv>
#include <set>

#include "data/core/errors.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr std::string_view heading = "mnist-knn method 1";
constexpr std::size_t most_shown = 60;  ///< bytes of a wrong line in a message

std::string shown(std::string_view text) {
    std::string quoted = "'";
    quoted += harmless(text.substr(0, most_shown));
    return quoted += text.size() > most_shown ? "...'" : "'";
}

/// Reads the values line by line.
class Reader {
  public:
    Reader(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

    Method method() {
        if (!next() || line_ != heading)
            fail("is no method; expected '" + std::string(heading) + "' in its first line");
        while (next())
            if (!line_.empty() && !line_.starts_with('#')) read_value();
        check_complete();
        return method_;
    }

  private:
    /// The next line without its line feed; false behind the last one.
    bool next() {
        if (rest_.empty()) return false;
        const std::size_t end = rest_.find('\n');
        line_ = rest_.substr(0, end);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        ++number_;
        return true;
    }

    void read_value() {
        const std::size_t space = line_.find(' ');
        if (space == std::string_view::npos || space + 1 == line_.size())
            wrong(shown(line_) + " has no value", "a name, a space and a value");
        name_ = line_.substr(0, space);
        value_ = line_.substr(space + 1);
        Rerank& rerank = method_.rerank;
        VotingRule& vote = method_.vote;
        if (name_ == "transform")
            read_transform();
        else if (name_ == "rerank")
            read_rerank();
        else if (name_ == "candidates")
            read_number(rerank.candidates, min_candidates, max_k);
        else if (name_ == "metric")
            read_name(method_.measure.metric);
        else if (name_ == "p")
            read_number(method_.measure.p, min_p, max_p);
        else if (name_ == "vote")
            read_name(vote.votes);
        else if (name_ == "k")
            read_number(vote.k, 1, max_k);
        else if (name_ == "weights")
            read_name(vote.weights);
        else if (name_ == "tie")
            read_name(vote.tie);
        else
            wrong(shown(name_) + " is unknown", "one of " + joined(names));
        if (!seen_.emplace(name_).second) wrong(shown(name_) + " is there a second time", "every name once");
    }

    void read_transform() {
        try {
            method_.transform = parse_transform("transform", harmless(value_));
        } catch (const UsageError& error) {
            throw DataError(place() + error.what());
        }
    }

    void read_rerank() {
        try {
            read_reranker("rerank", harmless(value_), method_.rerank);
        } catch (const UsageError& error) {
            throw DataError(place() + error.what());
        }
    }

    template <class Enum>
    void read_name(Enum& target) {
        const auto found = named<Enum>(value_);
        if (found) {
            target = *found;
            return;
        }
        wrong(std::string(name_) + " " + shown(value_) + " is unknown",
              "one of " + joined(Names<Enum>::list));
    }

    template <class Number, class Limit>
    void read_number(Number& target, Limit low, Limit high) {
        Number number{};
        const char* const end = value_.data() + value_.size();
        const auto [last, error] = std::from_chars(value_.data(), end, number);
        if (error != std::errc{} || last != end || !(number >= low && number <= high))
            wrong(std::string(name_) + " " + shown(value_) + " is not allowed",
                  shortest(low) + " to " + shortest(high));
        target = number;
    }

    void check_complete() const {
        const bool is_lp = method_.measure.metric == Metric::lp;
        for (const char* one : names)
            if (one == std::string_view("p") ? seen_.contains("p") != is_lp : !seen_.contains(one))
                fail(seen_.contains(one) ? "has a line 'p', but the metric is not lp; expected none"
                                         : std::string("has no line '") + one + "'; expected one");
    }

    template <class List>
    static std::string joined(const List& list) {
        std::string all;
        for (const char* one : list)
            all.append(all.empty() ? "" : ", ").append(one);
        return all;
    }

    std::string place() const { return file_ + ": line " + std::to_string(number_) + ": "; }
    [[noreturn]] void fail(const std::string& what) const { throw DataError(file_ + ": " + what); }
    [[noreturn]] void wrong(const std::string& what, const std::string& expected) const {
        throw DataError(place() + what + "; expected " + expected);
    }

    static constexpr const char* names[] = {"transform", "rerank", "candidates", "metric", "p",
                                            "vote",      "k",      "weights",    "tie"};
    std::string_view rest_, line_, name_, value_;
    const std::string& file_;
    int number_ = 0;
    std::set<std::string, std::less<>> seen_;
    Method method_;
};

}  // namespace

std::string method_text(const Method& method, std::string_view comment) {
    std::string text = std::string(heading) + '\n';
    if (!comment.empty()) text += "# " + harmless(comment) + '\n';
    const auto add = [&](const char* key, const std::string& value) {
        text += std::string(key) + ' ' + value + '\n';
    };
    add("transform", method.transform.text());
    add("rerank", reranker_text(method.rerank));
    add("candidates", std::to_string(method.rerank.candidates));
    add("metric", name(method.measure.metric));
    if (method.measure.metric == Metric::lp) add("p", shortest(method.measure.p));
    add("vote", name(method.vote.votes));
    add("k", std::to_string(method.vote.k));
    add("weights", name(method.vote.weights));
    add("tie", name(method.vote.tie));
    return text;
}

Method parse_method_text(std::string_view text, const std::string& file) {
    return Reader(text, file).method();
}

}  // namespace knn
