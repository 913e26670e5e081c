#include "tests/support/test.h"

using namespace knn::test;

// Run only by the case below: doctest skips cases with this decorator.
TEST_CASE("sample: skips" * doctest::skip()) {
    skip("a sample");
}
TEST_CASE("sample: skips and fails" * doctest::skip()) {
    skip("a sample");
    CHECK(1 == 2);
}
TEST_CASE("sample: passes" * doctest::skip()) {}

TEST_CASE("a test that says it is skipped and fails has failed") {
    const std::string here = std::filesystem::read_symlink("/proc/self/exe");
    const auto exit_code = [&](const std::string& cases) {
        return run({here, "-ns", "-tc=" + cases}).exit_code;
    };
    CHECK(exit_code("sample: passes") == 0);
    CHECK(exit_code("sample: skips") == 77);
    CHECK(exit_code("sample: skips and fails") == 1);
    CHECK(exit_code("sample: skips,sample: passes") == 0);
    CHECK(exit_code("sample: no such case") == 0);
}
