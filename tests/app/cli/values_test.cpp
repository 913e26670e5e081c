#include "app/cli/values.h"

#include "data/core/errors.h"
#include "tests/support/test.h"

using namespace knn;

TEST_CASE("sizes in bytes, and with K, M, G and T") {
    CHECK(parse_size("--memory", "1") == 1);
    CHECK(parse_size("--memory", "3K") == 3072);
    CHECK(parse_size("--memory", "500M") == 500 * (std::int64_t{1} << 20));
    CHECK(parse_size("--memory", "8589934591G") == std::int64_t{8589934591} << 30);
    for (const char* gibibytes : {"8G", "8GB", "8GiB", "8g", "8192M", "8589934592", "8589934592B"})
        CHECK(parse_size("--memory", gibibytes) == std::int64_t{8} << 30);
    CHECK(parse_size("--memory", "1T") == std::int64_t{1} << 40);
    for (const char* more_than_any :
         {"99999999999G", "8589934592G", "9223372036854775808", "99999999999999999999999", "9999999T"})
        CHECK(parse_size("--memory", more_than_any) == unlimited);
    for (const char* wrong :
         {"", "0", "0G", "K", "-1", "-99999999999999999999", "1.5G", "1 G", "1iB", "1BB", "1GBB", "1P"})
        CHECK_THROWS_AS(parse_size("--memory", wrong), UsageError);
}

TEST_CASE("whole numbers in their range are read, all else is a usage error") {
    CHECK(parse_integer("-k", "1", 1, 1024) == 1);
    CHECK(parse_integer("-k", "1024", 1, 1024) == 1024);
    CHECK(parse_integer("--limit-test", "99999999999", 1, unlimited) == 99'999'999'999);
    for (const char* text : {"0", "-1", "1025", "5.5", "abc", "", " 5", "5 ", "5k", "+5", "0x5", "1e2",
                             "99999999999999999999999"})
        CHECK_THROWS_AS(parse_integer("-k", text, 1, 1024), UsageError);
    CHECK_THROWS_WITH(parse_integer("-k", "0", 1, 1024),
                      "-k 0: out of range; expected a whole number from 1 to 1024");
    CHECK_THROWS_WITH(parse_integer("-k", "", 1, 9),
                      "-k '': not a whole number; expected a whole number from 1 to 9");
    CHECK_THROWS_WITH(parse_integer("--batch", "0", 1, unlimited),
                      "--batch 0: out of range; expected a whole number of at least 1");
}

TEST_CASE("numbers in their range are read, all else is a usage error") {
    CHECK(parse_number("--p", "3", 0.1, 15) == 3);
    CHECK(parse_number("--p", "0.1", 0.1, 15) == 0.1);
    CHECK(parse_number("--p", "1.5e1", 0.1, 15) == 15);
    for (const char* text :
         {"", "x", "3x", " 3", "3,5", "0x3", "nan", "inf", "-1", "0", "0.09", "15.01", "1e99"})
        CHECK_THROWS_WITH_AS(parse_number("--p", text, 0.1, 15),
                             doctest::Contains("expected a number from 0.1 to 15"), UsageError);
}

TEST_CASE("numbers with a unit name it") {
    CHECK(parse_number("--seconds", "0.5", 0.001, 86'400, "seconds") == 0.5);
    CHECK_THROWS_WITH(parse_number("--seconds", "0", 0.001, 86'400, "seconds"),
                      "--seconds 0: out of range; expected a number from 0.001 to 86400 seconds");
    CHECK_THROWS_WITH(parse_number("--seconds", "", 0.001, 86'400, "seconds"),
                      "--seconds '': not a number; expected a number from 0.001 to 86400 seconds");
    CHECK_THROWS_WITH(parse_number("--seconds", "  ", 0.001, 86'400, "seconds"),
                      "--seconds '  ': not a number; expected a number from 0.001 to 86400 seconds");
}

TEST_CASE("a picture has the ending of its form") {
    for (const char* name : {"x.png", "x.PNG", "a/b.Png", "x.jpg.png", "-", "/dev/null"})
        CHECK(parse_picture_file("--explain", name, ".png") == name);
    CHECK(parse_picture_file("--plot", "x.SVG", ".svg") == "x.SVG");
    for (const char* name : {"x.jpg", "x", "png", "x.png.txt", "x.png/y", ""})
        CHECK_THROWS_AS(parse_picture_file("--explain", name, ".png"), UsageError);
    CHECK_THROWS_WITH(parse_picture_file("--explain", "x.jpg", ".png"),
                      "--explain x.jpg: the output is PNG; expected a name that ends in .png");
}

TEST_CASE("names are listed, with a suggestion") {
    const std::array<std::string, 3> names = {"classic", "cpu", "auto"};
    CHECK(parse_name("--engine", "cpu", names) == 1);
    CHECK_THROWS_WITH(parse_name("--engine", "clasic", names),
                      "--engine clasic: unknown name; expected classic, cpu or auto (did you mean classic?)");
    CHECK_THROWS_WITH(parse_name("--engine", "quantum", names),
                      "--engine quantum: unknown name; expected classic, cpu or auto");
    CHECK_THROWS_WITH(parse_name("--engine", "CPU", names),
                      "--engine CPU: unknown name; expected classic, cpu or auto (did you mean cpu?)");
    CHECK_THROWS_WITH(parse_name("--engine", "gpu", names),
                      "--engine gpu: unknown name; expected classic, cpu or auto");
    CHECK_THROWS_WITH(parse_name("--engine", "", names),
                      "--engine '': unknown name; expected classic, cpu or auto");
}

TEST_CASE("the nearest name") {
    const std::array<std::string, 5> names = {"evaluate", "info", "--engine", "--neighbors-csv", "--color"};
    CHECK(nearest_name("evalute", names) == "evaluate");    // a letter left out
    CHECK(nearest_name("evaluatee", names) == "evaluate");  // one too many
    CHECK(nearest_name("evaulate", names) == "evaluate");   // two swapped
    CHECK(nearest_name("ifno", names) == "info");           // a swap counts as one edit
    CHECK(nearest_name("eval", names) == "evaluate");       // its beginning
    CHECK(nearest_name("--neighbours-csv", names) == "--neighbors-csv");
    CHECK(nearest_name("--colour", names) == "--color");
    CHECK(nearest_name("INFO", names) == "info");
    CHECK(nearest_name("EVAL", names) == "evaluate");
    CHECK(nearest_name("dance", names).empty());
    CHECK(nearest_name("ifn", names).empty());  // two of three letters
    CHECK(nearest_name("x", names).empty());
    CHECK(nearest_name("", names).empty());
}

TEST_CASE("lists in English") {
    const std::array<std::string, 3> names = {"a", "b", "c"};
    CHECK(one_of(std::span(names).first(1)) == "a");
    CHECK(one_of(std::span(names).first(2)) == "a or b");
    CHECK(one_of(names) == "a, b or c");
}

TEST_CASE("the ending of a name, in small letters or capitals") {
    CHECK(has_ending("a.png", ".png"));
    CHECK(has_ending("A.PNG", ".png"));
    CHECK(has_ending("a.Svg", ".svg"));
    CHECK(!has_ending("png", ".png"));
    CHECK(!has_ending("a.png.gz", ".png"));
}
