/// A codec that ends the process, or has no memory: one line that names the picture, exit 1, nothing unfinished.

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/faults/job.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;

TEST_CASE("faults: a codec that crashes, and one without memory") {
    if (!has_opencv) return skip(no_opencv);
    const Workplace place(job("classify"));
    for (const auto& [kind, words] : {std::pair("abort", ".pgm: crashed the picture codec; "),
                                      std::pair("segv", ".pgm: crashed the picture codec; "),
                                      std::pair("nomem", ".pgm: needs more memory than there is; ")}) {
        place.forget();
        RunOptions options;
        options.environment = {{"LD_PRELOAD", MNIST_KNN_CODEC_CRASH}, {"MNIST_KNN_CRASH", kind}};
        const RunResult result = place.run(options);
        CAPTURE(kind);
        CAPTURE(result.err);
        CHECK(result.exit_code == 1);
        CHECK(result.err.starts_with("mnist-knn: error: data/"));
        CHECK(result.err.find(words) != std::string::npos);
        CHECK(std::ranges::count(result.err, '\n') ==
              (kind == std::string("nomem") ? 2 : 1));  // two pictures
        place.check_nothing_unfinished();
        place.check_next_run();
    }
}
