#include "classifier/spread.h"

#include <algorithm>
#include <future>

#include "classifier/job_queue.h"
#include "classifier/merge.h"
#include "classifier/merge_behind.h"
#include "classifier/together.h"
#include "cpu/search.h"
#include "data/core/clock.h"
#include "data/core/round_up.h"
#include "data/transform/fitted.h"

namespace knn {

namespace {

/// Bytes of an image as it is compared.
std::int64_t row_bytes(const Training& training) {
    return training.transform != nullptr ? training.transform->dim_out() : training.rows.dim;
}

/// How many parts of `count` images a device searches one after another.
std::int64_t parts_of(const Training& training, std::int64_t count, std::int64_t memory) {
    const std::int64_t fitting = memory / row_bytes(training);
    if (memory == 0 || count <= fitting) return 1;
    return divide_up(count, std::max<std::int64_t>(fitting / 2, 1));
}

std::size_t n_devices(const Plan& plan) {
    return std::max<std::size_t>(plan.devices.size(), 1);
}

/// The plan of device `i` of several.
Plan plan_of_device(const Plan& plan, std::size_t i) {
    Plan own = plan;
    if (!plan.devices.empty()) own.device = plan.devices[i];
    own.devices.clear();
    own.threads = std::max(plan.threads / static_cast<int>(n_devices(plan)), 1);
    return own;
}

}  // namespace

std::unique_ptr<Searcher> open_spread(const Engine& engine, const Training& training, const Measure& measure,
                                      const Plan& plan, Timeline& timeline) {
    if (n_devices(plan) == 1 && parts_of(training, training.rows.count, plan.memory) == 1)
        return engine.open(training, measure, plan, timeline);
    return std::make_unique<SpreadSearcher>(engine, training, measure, plan, timeline);
}

SpreadSearcher::SpreadSearcher(const Engine& engine, const Training& training, const Measure& measure,
                               const Plan& plan, Timeline& timeline)
    : engine_(engine), measure_(measure), plan_(plan), n_train_(training.rows.count) {
    const auto devices = static_cast<std::int64_t>(n_devices(plan));
    for (std::int64_t i = 0; i < devices; ++i) {
        const Share all = {0, n_train_};
        const Share own = plan.spread == SpreadBy::queries ? all : share_of(n_train_, devices, i);
        if (own.count == 0) continue;
        Lane lane{plan_of_device(plan, static_cast<std::size_t>(i)), {}, nullptr, 0};
        const std::int64_t parts = parts_of(training, own.count, plan.memory);
        for (std::int64_t p = 0; p < parts; ++p) {
            Share images = share_of(own.count, parts, p);
            images.begin += own.begin;
            lane.parts.push_back({images, slice(training, images)});
        }
        lanes_.push_back(std::move(lane));
    }
    run_lanes(0, timeline, {}, [&](std::size_t i, Timeline& own, const Watch&) {
        Lane& lane = lanes_[i];
        if (lane.parts.size() == 1) lane.resident = open_part(lane, lane.parts.front(), own);
    });
}

/// Errors name the device: there are several.
std::unique_ptr<Searcher> SpreadSearcher::open_part(const Lane& lane, const Part& part,
                                                    Timeline& timeline) const {
    try {
        return engine_.open(part.training, measure_, lane.plan, timeline);
    } catch (const DeviceError& error) {
        throw DeviceError(device_id(lane.plan.device) + ": " + error.what());
    }
}

void SpreadSearcher::run_lanes(std::int64_t n_query, Timeline& timeline, const Watch& watch,
                               const Work& work) {
    std::vector<Timeline> timelines(lanes_.size());
    std::vector<double> ms(lanes_.size());
    run_together(lanes_.size(), n_query, watch, [&](std::size_t lane, const Watch& own) {
        const auto start = Clock::now();
        work(lane, timelines[lane], own);
        ms[lane] = ms_since(start);
    });
    timeline.add(slowest(timelines));
    if (lanes_.size() > 1 && n_query > 0) timeline.add_device_ms(ms);
}

int SpreadSearcher::host_threads() const {
    return std::max(cpu::available_threads() / static_cast<int>(lanes_.size()), 1);
}

Share SpreadSearcher::queries_of(std::size_t lane, std::int64_t n_query) const {
    if (plan_.spread != SpreadBy::queries) return {0, n_query};
    return share_of(n_query, std::ssize(lanes_), static_cast<std::int64_t>(lane));
}

void SpreadSearcher::search_lane(Lane& lane, const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                                 const Watch& watch, const Tell& tell, Answers& found) {
    if (lane.resident)
        return search_part(*lane.resident, lane.parts.front().images, queries, k, exclude, timeline, watch,
                           tell, found);
    search_parts(lane, queries, k, exclude, timeline, watch, tell, found);
}

/// One part after another.
void SpreadSearcher::search_parts(Lane& lane, const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                                  const Watch& watch, const Tell& tell, Answers& found) {
    struct Opened {
        std::unique_ptr<Searcher> searcher;
        Timeline timeline;
    };
    std::unique_ptr<Searcher> before;  // the previous part's: `open` frees its memory, which takes time
    const auto open = [&](std::size_t p) {
        before.reset();
        Opened opened;
        opened.searcher = open_part(lane, lane.parts[p], opened.timeline);
        try {
            opened.searcher->prepare(queries.count, k, p > 0);
        } catch (
            const DeviceError&) {  // the search tries again, when the part before has given its memory back
        }
        return opened;
    };
    const std::size_t parts = lane.parts.size();
    std::future<Opened> next = std::async(std::launch::async, open, 0);
    for (std::size_t p = 0; p < parts; ++p) {
        Opened now = next.get();
        if (watch.stopped()) throw Interrupted();
        if (p + 1 < parts) next = std::async(std::launch::async, open, p + 1);
        timeline.add(now.timeline);
        Watch own = watch;
        if (watch.progress)
            own.progress = [&](std::int64_t done, std::int64_t total) {
                watch.progress(static_cast<std::int64_t>(p) * total + done,
                               static_cast<std::int64_t>(parts) * total);
            };
        const Share images = lane.parts[p].images;
        const Tell final = p + 1 == parts ? tell : Tell();
        if (p == 0)
            search_part(*now.searcher, images, queries, k, exclude, timeline, own, final, found);
        else
            improve_by_part(*now.searcher, images, queries, k, exclude, host_threads(), timeline, own, final,
                            found.neighbors);
        lane.batch = now.searcher->plan().batch;
        if (next.valid()) next.wait();
        before = std::move(now.searcher);
    }
}

Neighbors SpreadSearcher::search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                                 const Watch& watch) {
    Answers answers;
    search_and_tell(queries, k, nullptr, exclude, timeline, watch, {}, answers);
    return std::move(answers.neighbors);
}

void SpreadSearcher::search_and_tell(const Rows& queries, int k, const VotingRule* rule, Exclude exclude,
                                     Timeline& timeline, const Watch& watch, const Tell& tell,
                                     Answers& answers) {
    require_k(k, n_train_, exclude);
    watch.step(0, queries.count);
    answers = {};
    answers.neighbors = Neighbors(0, k);
    if (queries.count == 0) return;
    const Tell told = tell ? tell : [](const FoundRows&) {};
    if (plan_.spread == SpreadBy::queries)
        search_shares(queries, k, rule, exclude, timeline, watch, told, answers);
    else
        search_all_on_each(queries, k, exclude, timeline, watch, told, answers);
    watch.step(queries.count, queries.count);
}

/// The first device's lists become the result.
void SpreadSearcher::search_all_on_each(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                                        const Watch& watch, const Tell& tell, Answers& all) {
    std::vector<Answers> others(lanes_.size());
    MergeBehind merge(lanes_.size(), k, cpu::available_threads(), watch.stop, tell);
    run_lanes(queries.count, timeline, watch, [&](std::size_t lane, Timeline& own, const Watch& part) {
        const Tell add = [&, lane](const FoundRows& found) { merge.add(lane, found); };
        search_lane(lanes_[lane], queries, k, exclude, own, part, add, lane == 0 ? all : others[lane]);
    });
    merge.finish(timeline);
}

void SpreadSearcher::search_shares(const Rows& queries, int k, const VotingRule* rule, Exclude exclude,
                                   Timeline& timeline, const Watch& watch, const Tell& tell, Answers& all) {
    std::vector<Answers> shares(lanes_.size());
    JobQueue jobs;  // copies; first the memory for them, which takes 0.1 s for a million queries
    jobs.add([&] {
        all.neighbors = Neighbors(queries.count, k);
        if (rule != nullptr) all.votes.resize(static_cast<std::size_t>(queries.count));
    });
    run_lanes(queries.count, timeline, watch, [&](std::size_t i, Timeline& own, const Watch& part) {
        const Share share = queries_of(i, queries.count);
        if (share.count == 0) return;
        const Rows rows = queries.slice(share.begin, share.count);
        const Exclude own_exclude = exclude.from(share.begin);
        const Tell copy = [&, share](const FoundRows& found) {
            jobs.add([&, share, found] { tell(copy_rows(found, k, all, share.begin + found.begin)); });
        };
        if (rule != nullptr)
            lanes_[i].resident->search_and_tell(rows, k, rule, own_exclude, own, part, copy, shares[i]);
        else
            search_lane(lanes_[i], rows, k, own_exclude, own, part, copy, shares[i]);
    });
    jobs.finish();
}

bool SpreadSearcher::whole_on_each() const {
    return plan_.spread == SpreadBy::queries &&
           std::all_of(lanes_.begin(), lanes_.end(),
                       [](const Lane& lane) { return lane.resident != nullptr; });
}

bool SpreadSearcher::votes(const VotingRule& rule) const {
    return whole_on_each() && std::all_of(lanes_.begin(), lanes_.end(),
                                          [&](const Lane& lane) { return lane.resident->votes(rule); });
}

bool SpreadSearcher::rerank_by(const Reranking& reranking, Timeline& timeline) {
    if (!whole_on_each()) return false;
    std::vector<char> can(lanes_.size());
    run_lanes(0, timeline, {}, [&](std::size_t lane, Timeline& own, const Watch&) {
        can[lane] = lanes_[lane].resident->rerank_by(reranking, own) ? 1 : 0;
    });
    for (std::size_t lane = 0; lane < can.size(); ++lane)
        if (can[lane] != can[0])
            throw DeviceError(device_id(lanes_[lane].plan.device) + " and " +
                              device_id(lanes_[0].plan.device) +
                              ": only one of them can re-rank; expected devices of one kind");
    return can[0] != 0;
}

Answers SpreadSearcher::search_and_vote(const Rows& queries, const VotingRule& rule, Exclude exclude,
                                        Timeline& timeline, const Watch& watch) {
    Answers answers;
    search_and_tell(queries, rule.k, &rule, exclude, timeline, watch, {}, answers);
    return answers;
}

Plan SpreadSearcher::plan() const {
    Plan plan = plan_;
    const Lane& lane = lanes_.front();
    plan.batch = lane.resident ? lane.resident->plan().batch : lane.batch;
    return plan;
}

}  // namespace knn
