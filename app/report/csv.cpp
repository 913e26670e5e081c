#include "app/report/csv.h"

#include "app/report/distance.h"
#include "app/report/lines.h"

namespace knn {

void write_predictions_csv(std::ostream& out, const Evaluation& evaluation) {
    const std::uint8_t* truth = evaluation.data->test.labels.data();
    Lines lines(out);
    lines.text("index,label,predicted,confidence,vote_share\n");
    for (std::size_t i = 0; i < evaluation.found.votes.size(); ++i) {
        const Vote& vote = evaluation.found.votes[i];
        lines.number(i, ',');
        lines.number(int{truth[i]}, ',');
        lines.number(int{vote.label}, ',');
        lines.number(evaluation.confidence[i], ',');
        lines.number(vote.confidence, '\n');
        if (!lines.end_of_line()) return;
    }
}

void write_neighbors_csv(std::ostream& out, const Evaluation& evaluation) {
    const std::uint8_t* labels = evaluation.data->train.labels.data();
    const Neighbors& neighbors = evaluation.found.neighbors;
    const Measure measure = evaluation.method.neighbor_measure();
    Lines lines(out);
    lines.text("query,rank,index,label,distance\n");
    for (std::int64_t query = 0; query < neighbors.n_query; ++query) {
        int rank = 0;
        for (const Neighbor& neighbor : neighbors.row(query)) {
            lines.number(query, ',');
            lines.number(++rank, ',');
            lines.number(neighbor.index, ',');
            lines.number(int{labels[neighbor.index]}, ',');
            lines.distance(measure, neighbor.distance, '\n');
            if (!lines.end_of_line()) return;
        }
    }
}

}  // namespace knn
