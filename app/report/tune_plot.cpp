#include <algorithm>
#include <map>
#include <tuple>

#include "app/report/plot.h"
#include "app/report/tune_report.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

std::string kind_text(const VotingRule& vote) {
    std::string text = name(vote.votes);
    if (vote.votes == Votes::majority && vote.weights == Weights::distance) text += ", 1/d^2";
    return text + (vote.tie == Tie::nearest ? ", tie nearest" : "");
}

Panel panel_of(const TuneResult& result, std::size_t search) {
    Panel panel;
    panel.title = search_text(result.searches[search]);
    panel.x_label = "neighbors, k";
    panel.y_label = "errors, leave-one-out";
    panel.log_x = panel.log_y = false;
    std::map<std::tuple<Votes, Weights, Tie>, std::map<int, const Configuration*>> kinds;
    for (const Configuration& one : result.configurations)
        if (one.search == search) {
            const VotingRule& vote = one.method.vote;
            kinds[{vote.votes, vote.weights, vote.tie}][vote.k] = &one;
        }
    for (const auto& [kind, by_k] : kinds) {
        PlotLine& line = panel.lines.emplace_back();
        for (const auto& [k, one] : by_k) {
            line.name = kind_text(one->method.vote);
            const auto errors = static_cast<double>(one->errors);
            line.points.push_back({static_cast<double>(k), errors, errors, errors, !one->as_good_as_best});
        }
    }
    return panel;
}

}  // namespace

Drawing tune_plot(const TuneResult& result) {
    std::vector<Panel> panels;
    for (std::size_t search = 0; search < result.searches.size(); ++search)
        panels.push_back(panel_of(result, search));
    panels.front().notes.push_back(
        "Filled: McNemar's test does not tell it from the best of all. Small k follows single images, large "
        "k "
        "blurs the classes.");
    const Configuration& best = result.configurations.front();
    return draw_panels("Errors over k",
                       {with_commas(result.images) + ' ' + noun(result.images, "image") +
                            ", each left out once; " + result.source,
                        "best: " + options_text(best.method) + ", " + with_commas(best.errors) + ' ' +
                            noun(best.errors, "error")},
                       panels);
}

}  // namespace knn
