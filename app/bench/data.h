#pragma once
/// The images of a run without --case: a data set, or random bytes with --dim.

#include <memory>
#include <string>

#include "app/bench/workload.h"
#include "app/cli/options.h"
#include "classifier/engines.h"
#include "data/set/dataset.h"

namespace knn {

class BenchRun;

struct BenchData {
    std::unique_ptr<HostMemory> memory;  ///< of the data set: pinned if there is a GPU
    Dataset dataset;                     ///< empty if the images are random
    std::unique_ptr<Workload> work;
    std::string text;  ///< description
};

/// Throws DataError, UsageError (more images wanted than there are; k larger than their number).
BenchData bench_data(BenchRun& run, int k_limit);

/// The metric in a title: ", metric cosine", ", metric lp with p = 3"; empty for l2.
std::string metric_words(const Measure& measure);

/// "60,000 training and 10,000 test images of 784 pixels".
std::string sizes_text(const Problem& problem);

}  // namespace knn
