// Parts of the methods by themselves, on the GPU, on one CPU thread and on all: every transform of the training images, and
// the distances of every re-ranker. These order the same candidates by their kernels and by the plain loops that define
// them; no candidate is given up early.

#include <algorithm>

#include "app/bench/run.h"
#include "data/core/clock.h"
#include "data/core/format.h"
#include "data/rerank/distance.h"

namespace knn {

namespace {

constexpr const char* components = ":50";  // of `pca`, which has no usual number
constexpr std::int64_t max_checked_images = 1000, max_checked_queries = 100;
constexpr std::int64_t max_plain = 8;  // queries on the CPU, half a second for 96 candidates each
constexpr const char* plain_mark = ", plain loops";

struct Place {
    std::string title, on;
    bool on_gpu = false;
    int threads = 0;
};
std::vector<Place> places(BenchRun& run, const std::string& what) {
    const int threads = cpu::threads_or_all(run.options.request.threads);
    std::vector<Place> all;
    if (run.has_gpu()) all.push_back({"the GPU, " + what + " on it", run.report.gpu, true});
    all.push_back({"one CPU thread, " + cpu::instruction_set(), one_cpu_thread, false, 1});
    if (threads > 1) all.push_back({std::to_string(threads) + " CPU threads", "cpu", false, threads});
    return all;
}

/// Work on the CPU, on as many of `all` queries as there is time for. `work(n)` returns what is in the trial's `made`.
template <class Made, class Work>
Trial timed_on_cpu(const TrialOptions& options, std::int64_t all, Made Trial::*made, const Work& work) {
    Made last;
    Trial trial = timed_trial(options, all, [&](std::int64_t n) {
        const auto begin = Clock::now();
        last = work(n);
        return ms_since(begin);
    });
    trial.*made = std::move(last);
    return trial;
}

struct FittedCase {
    FittedTransform transform;
    double ms;  ///< to fit it
};

/// Those of bytes that these images allow; the others are left out with the reason.
std::vector<FittedCase> fit_all(BenchRun& run, const Rows& images, ImageShape shape) {
    std::vector<FittedCase> all;
    for (const TransformInfo& known : transforms()) {
        if (known.makes_reals) continue;
        const bool incomplete = known.parameter != nullptr && known.usual == 0;
        const std::string text = std::string(name(known.kind)) + (incomplete ? components : "");
        const TransformSpec spec = parse_transform("transform", text);
        if (const UnsupportedReason why = refuse_transform(spec, shape, images.count)) {
            run.report.leave_out(text, *why);
            continue;
        }
        const auto begin = Clock::now();
        FittedTransform fitted = cpu::fit(spec, images, shape, run.options.request.threads, run.token.stop);
        all.push_back({std::move(fitted), ms_since(begin)});
    }
    return all;
}

/// The first feature of a sample of the images that differs from those of the steps as they are defined, one image
/// and step at a time; empty if there is none.
std::string mismatch(const FittedTransform& fitted, const Rows& images,
                     const std::vector<std::uint8_t>& found) {
    const auto dim = static_cast<std::size_t>(fitted.dim_out());
    if (found.size() != static_cast<std::size_t>(images.count) * dim) return "not one row for each image";
    TransformScratch scratch;
    for (const std::int64_t i : sample(images.count, max_checked_images)) {
        std::vector<std::uint8_t> right(images.row(i), images.row(i) + images.dim);
        for (const FittedStep& step : fitted.steps) {
            std::vector<std::uint8_t> next(static_cast<std::size_t>(step.dim_out));
            apply_step(step, right.data(), next.data(), scratch);
            right = std::move(next);
        }
        const std::uint8_t* row = found.data() + static_cast<std::size_t>(i) * dim;
        for (std::size_t j = 0; j < dim; ++j)
            if (row[j] != right[j])
                return "image " + std::to_string(i) + ", feature " + std::to_string(j) + ": " +
                       std::to_string(row[j]) + "; expected " + std::to_string(right[j]);
    }
    return "";
}

Measurement measure(BenchRun& run, const Place& place, const FittedTransform& fitted, const Rows& images) {
    const TrialOptions options = run.trial();
    const Trial timed =
        place.on_gpu ? gpu_bench()->time_transform(run.gpu(), fitted, images, options, run.token)
                     : timed_on_cpu(options, images.count, &Trial::features, [&](std::int64_t n) {
                           return cpu::features(fitted, images.first(n), place.threads, run.token.stop);
                       });
    const Problem problem{images.count, images.count, images.dim, 1};
    Measurement& one =
        run.keep("transform", fitted.spec.text(), place.on, problem, timed,
                 [&](std::int64_t n) { return mismatch(fitted, images.first(n), timed.features); });
    one.bytes = static_cast<double>(one.n_query) * static_cast<double>(images.dim + fitted.dim_out());
    return one;
}

Neighbors nearest_by_gradients(const BenchRun& run, const Workload& work, ImageShape shape, int count) {
    Training training = work.training();
    training.shape = shape;
    Method method;
    method.transform.steps = {{TransformKind::gradients, 0}};
    method.vote.k = count;
    const Problem problem = method.problem(training, work.query.count);
    const Resolved resolved = resolve_on_cpu(problem, run.options.request.threads);
    const Index index(training, method, resolved, run.token);
    return index.search(work.query, {.vote = false, .token = run.token}).neighbors;
}

/// One query after another, as the distance is defined.
Neighbors plain_order(const RerankWork& work, const Descriptors& queries, const Descriptors& train,
                      const std::vector<std::int64_t>& which) {
    Neighbors all(std::ssize(which), work.candidates.k);
    for (std::int64_t i = 0; i < all.n_query; ++i) {
        stop_if_asked();
        const std::int64_t q = which[static_cast<std::size_t>(i)];
        const auto row = all.row(i);
        std::copy_n(work.candidates.row(q).begin(), all.k, row.begin());
        for (Neighbor& one : row)
            one.distance = rerank_distance(train.layout, queries.row(q), train.row(one.index));
        std::sort(row.begin(), row.end());
    }
    return all;
}

/// Orders all candidates of each query; descriptors are made before.
Measurement measure(BenchRun& run, const Place& place, const RerankWork& work, bool plain) {
    const TrialOptions options = run.trial();
    const ProgressToken& token = run.token;
    const Neighbors& candidates = work.candidates;
    const Descriptors queries = cpu::describe(work.rerank, work.queries, work.shape, 0, token.stop);
    const Descriptors train = cpu::describe(work.rerank, work.train, work.shape, 0, token.stop);
    const auto by_kernels = [&](std::int64_t n) {
        Neighbors some(n, candidates.k);
        std::copy_n(candidates.rows.begin(), some.rows.size(), some.rows.begin());
        return cpu::rerank(some, queries, train, {}, some.k, place.threads, token);
    };
    const std::int64_t all = plain ? std::min(max_plain, candidates.n_query) : candidates.n_query;
    const Trial timed =
        place.on_gpu ? gpu_bench()->time_rerank(run.gpu(), work, plain, options, token)
                     : timed_on_cpu(options, all, &Trial::found, [&](std::int64_t n) {
                           return plain ? plain_order(work, queries, train, sample(n, n)) : by_kernels(n);
                       });
    const std::string row = name(work.rerank.kind) + std::string(plain ? plain_mark : "");
    const Problem problem{work.train.count, work.queries.count, work.train.dim, candidates.k};
    return run.keep("rerank", row, place.on, problem, timed, [&](std::int64_t n) {
        // The plain loops of the CPU are the definition, so they are compared with the kernels.
        const bool by_definition = plain && !place.on_gpu;
        const auto which = sample(n, by_definition ? n : max_checked_queries);
        const Neighbors right = by_definition ? by_kernels(n) : plain_order(work, queries, train, which);
        for (std::int64_t i = 0; i < right.n_query; ++i)
            if (const std::int64_t q = which[static_cast<std::size_t>(i)];
                !std::ranges::equal(timed.found.row(q), right.row(i)))
                return "query " + std::to_string(q) + " has other candidates first than by plain loops";
        return std::string();
    });
}

}  // namespace

void run_transforms(BenchRun& run) {
    const Workload work = load_workload(run, 1);
    const Rows& images = work.train;
    run.report.data = training_words(work);
    run.report.checked = counted(std::min(images.count, max_checked_images), "image") +
                         " of each row against the definition, one image and step at a time";
    const std::vector<FittedCase> all = fit_all(run, images, work.dataset.train.shape());
    const std::vector<Place> everywhere = places(run, "images and features");
    run.expect(std::ssize(all) * std::ssize(everywhere));
    for (const Place& place : everywhere) {
        Section section(run.report, place.title, "transform", {"bytes", "fit ms"}, of_images);
        for (const auto& [transform, ms] : all)
            section.add(measure(run, place, transform, images),
                        {with_commas(transform.dim_out()), ms >= 1 ? short_number(ms) : ""});
        section.finish({"bytes: a row of features. fit: once for a training set, on the CPU.",
                        "GB/s: pixels read and features written."});
    }
}

void run_rerank(BenchRun& run) {
    const Workload work = load_workload(run, 1);
    const ImageShape shape = work.dataset.train.shape();
    const RerankSpec usual;
    const auto count = static_cast<int>(std::min<std::int64_t>(usual.candidates, work.train.count));
    run.report.data = work.text + ", the nearest " + std::to_string(count) + " by gradients as candidates";
    run.report.checked =
        counted(std::min(work.query.count, max_checked_queries), "query") +
        " of each row against the definition in plain loops, and these loops against the kernels";
    const Neighbors candidates = nearest_by_gradients(run, work, shape, count);
    std::vector<RerankWork> all;
    for (const char* known : name_list<RerankKind>) {
        RerankSpec rerank = usual;
        rerank.kind = *named<RerankKind>(known);
        if (rerank.has_descriptors()) all.push_back({rerank, shape, work.train, work.query, candidates});
    }
    const std::vector<Place> everywhere = places(run, "descriptors and candidates");
    run.expect(std::ssize(all) * (2 * std::ssize(everywhere) - 1));
    for (const Place& place : everywhere) {
        Section section(run.report, place.title, "re-ranker", {"ns/pair"});
        const auto add = [&](const RerankWork& one, bool plain) {
            const Measurement row = measure(run, place, one, plain);
            section.add(row, {row.good() ? short_number(1e3 * row.us_per_query() / count) : ""});
        };
        for (const RerankWork& one : all) {
            add(one, false);
            if (place.on_gpu || place.threads == 1) add(one, true);
        }
        section.finish();
    }
}

}  // namespace knn
