#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "tests/support/run.h"
#include "tests/support/skip.h"

namespace {

constexpr int skipped_exit = 77;  // SKIP_RETURN_CODE in tests/CMakeLists.txt

std::size_t cases_run = 0;

/// Counts the test cases that ran, which Context::run does not return.
struct Count : doctest::IReporter {
    explicit Count(const doctest::ContextOptions&) {}
    void test_run_end(const doctest::TestRunStats& stats) override {
        cases_run = stats.numTestCasesPassingFilters;
    }
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_case_start(const doctest::TestCaseData&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("count", 1, Count);

}  // namespace

/// Like doctest's own main, with an exit code of its own if all cases that ran were skipped; CTest runs them one
/// by one.
int main(int argc, char** argv) {
    INFO(knn::test::last_run());
    const int failed = doctest::Context(argc, argv).run();
    const std::size_t skipped = knn::test::skipped_cases();
    return failed != 0 ? failed : skipped > 0 && skipped == cases_run ? skipped_exit : 0;
}
