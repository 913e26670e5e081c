/// Writes the page that page_test.js opens: generated digits, with a name that attempts HTML injection.

#include <cstdio>
#include <fstream>

#include "app/report/page.h"
#include "tests/support/sample_evaluation.h"

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: page_sample FILE\n"), 2;
    const knn::test::Sample sample = knn::test::sample_evaluation();
    sample.data->name = "</script><img src=x onerror=alert(1)>";
    std::ofstream file(argv[1], std::ios::binary);
    file << knn::html_page(sample.evaluation, knn::misclassified(sample.evaluation));
    return file.flush() ? 0 : 1;
}
