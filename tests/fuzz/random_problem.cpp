#include "tests/fuzz/random_problem.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "classifier/engines.h"
#include "classifier/index.h"

namespace knn::test {

namespace {

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}

    std::int64_t from(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool one_in(int n) { return from(1, n) == 1; }
    /// Small numbers are as frequent as large ones.
    std::int64_t size(std::int64_t most) {
        std::int64_t limit = 1;
        for (std::int64_t doublings = from(0, 24); doublings > 0 && limit < most; --doublings)
            limit *= 2;
        return from(1, std::min(limit, most));
    }
    template <class Enum>
    Enum any() {
        return static_cast<Enum>(from(0, std::ssize(name_list<Enum>) - 1));
    }

  private:
    std::mt19937_64 random_;
};

/// Noise, few values, strokes, all equal, or black and white; some images again.
std::vector<std::uint8_t> pixels(Dice& dice, std::int64_t n, ImageShape shape) {
    const std::int64_t dim = shape.dim();
    std::vector<std::uint8_t> all(static_cast<std::size_t>(n * dim));
    const std::int64_t kind = dice.from(0, 5);
    const std::int64_t high = kind == 1 ? dice.from(0, 3) : 255;
    for (std::int64_t i = 0; i < n; ++i) {
        std::uint8_t* row = all.data() + i * dim;
        if (i > 0 && dice.one_in(kind == 5 ? 2 : 9)) {
            std::copy_n(all.data() + dice.from(0, i - 1) * dim, dim, row);
            continue;
        }
        const std::int64_t slope = dice.from(-2, 2), from = dice.from(0, shape.cols), width = dice.from(1, 5);
        for (std::int64_t j = 0; j < dim; ++j) {
            const std::int64_t x = j % shape.cols, y = j / shape.cols;
            const std::int64_t off = x - from - slope * y / 2;
            const bool stroke = off >= 0 && off < width;
            const std::int64_t noise = dice.from(0, high);
            row[j] = static_cast<std::uint8_t>(kind == 2   ? (stroke ? 255 - noise / 4 : 0)
                                               : kind == 3 ? 77
                                               : kind == 4 ? noise % 2 * 255
                                                           : noise);
        }
    }
    return all;
}

TransformSpec transform(Dice& dice, ImageShape shape, std::int64_t n_train) {
    static const char* const specs[] = {"deskew",    "deskew:0.75",    "normalize",    "blur",
                                        "blur:2.5",  "pca:3",          "deskew,pca:9", "hog",
                                        "gradients", "gradients,pca:5"};
    if (!dice.one_in(3) || shape.dim() > 1100) return {};
    const TransformSpec spec = parse_transform("transform", specs[dice.from(0, std::ssize(specs) - 1)]);
    return refuse_transform(spec, shape, n_train) ? TransformSpec{} : spec;
}

ImageShape shape(Dice& dice) {
    if (dice.one_in(2)) return {28, 28};
    if (dice.one_in(4)) return {1, static_cast<int>(dice.size(3000))};
    return {static_cast<int>(dice.size(40)), static_cast<int>(dice.size(40))};
}

}  // namespace

std::string RandomProblem::text() const {
    std::string text = std::to_string(labels.size()) + " training images and " +
                       std::to_string(query_rows().count) + " queries of " + std::to_string(shape.rows) +
                       " x " + std::to_string(shape.cols) + ", k = " + std::to_string(method.vote.k) + ", " +
                       name(method.measure.metric) + ", p = " + std::to_string(method.measure.p) +
                       ", transform " + method.transform.text() + ", rerank " + reranker_text(method.rerank) +
                       " of " + std::to_string(method.rerank.candidates) + ", votes " +
                       name(method.vote.votes) + ' ' + name(method.vote.weights) + ' ' +
                       name(method.vote.tie) + ", batch " + std::to_string(batch);
    if (exclude.any()) text += ", leave-one-out from " + std::to_string(exclude.first);
    return text;
}

RandomProblem random_problem(std::uint64_t seed, std::int64_t work) {
    Dice dice(seed);
    RandomProblem problem;
    problem.shape = shape(dice);
    const std::int64_t dim = problem.shape.dim();
    // Each 8th is a set searched with itself, of some hundreds of images at least: few neighbors, no batches, no re-ranking.
    const std::int64_t most_itself = std::lround(std::sqrt(4.0 * static_cast<double>(work / dim)));
    const bool itself = seed % 8 == 0 && most_itself > 300;
    const std::int64_t n_train =
        itself ? dice.from(257, std::min<std::int64_t>(most_itself, 6'000))
               : std::max<std::int64_t>(2, dice.size(std::clamp<std::int64_t>(work / 25 / dim, 1, 40'000)));
    const std::int64_t n_query = dice.size(std::clamp<std::int64_t>(work / dim / n_train, 1, 600));
    problem.train = pixels(dice, n_train, problem.shape);
    const std::int64_t n_classes = dice.size(12);
    for (std::int64_t i = 0; i < n_train; ++i)
        problem.labels.push_back(static_cast<std::uint8_t>(255 - dice.from(0, n_classes - 1)));
    if (dice.one_in(4) || itself) {
        const bool each = itself || (n_train * n_train <= 4 * work / dim && dice.one_in(2));
        problem.exclude.first = each ? 0 : dice.from(0, n_train - 1);
        const std::int64_t n = each ? n_train : std::min(n_query, n_train - problem.exclude.first);
        const auto begin = problem.train.begin() + problem.exclude.first * dim;
        problem.query.assign(begin, begin + n * dim);
    } else {
        problem.query = pixels(dice, n_query, problem.shape);
        if (dice.one_in(2))  // some queries are training images
            for (std::int64_t q = 0; q < n_query; q += dice.from(1, 5))
                std::copy_n(problem.train.begin() + dice.from(0, n_train - 1) * dim, dim,
                            problem.query.begin() + q * dim);
    }
    Method& method = problem.method;
    method.measure.metric = dice.one_in(2) ? Metric::l2 : dice.any<Metric>();
    method.measure.p = static_cast<double>(dice.from(1, 12)) / 2;
    method.transform = transform(dice, problem.shape, n_train);
    if (dice.one_in(3) && dim <= 1100)
        method.rerank = {.kind = dice.any<RerankKind>(),
                         .candidates = static_cast<int>(dice.from(min_candidates, 120)),
                         .density = dice.one_in(2)};
    if (method.rerank.kind == RerankKind::spread) {
        method.rerank.spread = {
            static_cast<int>(dice.from(1, 60)), dice.any<SpreadOf>(), dice.any<Scaling>(),
            static_cast<int>(dice.from(0, 2 * spread_weight_parts)) - spread_weight_parts};
        if (!is_integral(method.measure.metric)) method.measure.metric = Metric::l1;
    }
    const std::int64_t limit = std::min<std::int64_t>(method.reranks() ? max_candidates : max_k,
                                                      n_train - (problem.exclude.any() ? 1 : 0));
    method.vote = {.k = static_cast<int>(dice.size(limit)),
                   .weights = dice.any<Weights>(),
                   .tie = dice.any<Tie>(),
                   .votes = dice.one_in(3) ? VoteKind::class_mean : VoteKind::majority};
    if (dice.one_in(2)) problem.batch = dice.size(n_query);
    if (itself) {
        method.measure.metric = Metric::l2;
        method.rerank = {};
        method.vote.k = static_cast<int>(dice.from(1, 10));
        problem.batch = 0;
    }
    return problem;
}

std::optional<Found> found(const RandomProblem& problem, Plan plan) {
    const Engine& engine = *find_engine(plan.engine);
    const Training training = problem.training();
    if (engine.configure(problem.method.problem(training, problem.query_rows().count), plan))
        return std::nullopt;
    const Index index(training, problem.method, {.engine = &engine, .plan = plan, .notice = ""});
    Results answer = index.search(queries_of(problem.query_rows(), problem.exclude, training.rows));
    return Found{std::move(answer.neighbors), {answer.votes.begin(), answer.votes.end()}};
}

std::string difference(const Found& expected, const Found& here) {
    if (here.neighbors.rows.size() != expected.neighbors.rows.size() ||
        here.votes.size() != expected.votes.size())
        return "another number of neighbors or votes";
    for (std::size_t i = 0; i < expected.neighbors.rows.size(); ++i) {
        const Neighbor &a = expected.neighbors.rows[i], &b = here.neighbors.rows[i];
        if (a != b)
            return "neighbor " + std::to_string(i) + ": " + std::to_string(a.index) + " at " +
                   std::to_string(a.distance) + " expected, " + std::to_string(b.index) + " at " +
                   std::to_string(b.distance) + " here";
    }
    for (std::size_t i = 0; i < expected.votes.size(); ++i)
        if (expected.votes[i] != here.votes[i]) return "vote " + std::to_string(i);
    return "";
}

}  // namespace knn::test
