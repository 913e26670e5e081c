/// Writes the pages that page_test.js opens: generated digits, with a name that attempts HTML injection, and digits whose
/// classes have names.

#include <cstdio>
#include <fstream>

#include "app/report/page.h"
#include "tests/support/sample_evaluation.h"

bool write_page(const char* name, const knn::test::Sample& sample) {
    std::ofstream file(name, std::ios::binary);
    file << knn::html_page(sample.evaluation, knn::misclassified(sample.evaluation));
    return static_cast<bool>(file.flush());
}

int main(int argc, char** argv) {
    if (argc != 3) return std::fprintf(stderr, "usage: page_sample FILE NAMED\n"), 2;
    const knn::test::Sample sample = knn::test::sample_evaluation();
    sample.data->name = "</script><img src=x onerror=alert(1)>";
    const knn::test::Sample named = knn::test::sample_evaluation(
        {.names = {"zero", "one", "<two>", "7", "four", "five", "six", "2015", "eight", "nine"}});
    return write_page(argv[1], sample) && write_page(argv[2], named) ? 0 : 1;
}
