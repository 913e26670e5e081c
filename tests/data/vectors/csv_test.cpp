#include <clocale>

#include "data/core/format.h"
#include "data/file/byte_source.h"
#include "tests/support/idx_bytes.h"
#include "tests/support/test.h"
#include "tests/support/vector_files.h"

using namespace knn;
using namespace knn::test;
using Doubles = std::vector<double>;
using Texts = std::vector<std::string>;

namespace {

struct CsvFolder : InFolder {
    VectorSet load(const std::string& content, const VectorOptions& options = {}) {
        return load_vectors(folder.write("x.csv", content), options);
    }
    std::string error(const std::string& content, const VectorOptions& options = {}) {
        return vectors_error(folder.write("x.csv", content), options);
    }
};

}  // namespace

TEST_CASE_FIXTURE(CsvFolder, "csv: numbers, with a header or without, of each delimiter") {
    for (const char delimiter : {',', ';', '\t'})
        for (const char* end : {"\n", "\r\n"})
            for (const bool header : {false, true})
                for (const bool mark : {false, true})
                    for (const bool last : {false, true}) {
                        const std::string d(1, delimiter), e = end;
                        std::string text = mark ? "\xef\xbb\xbf" : "";
                        if (header) text += "a" + d + "b" + e;
                        text += "1.5" + d + " -2 " + e + e + "+3" + d + "4e-3";
                        if (last) text += e;
                        const VectorSet set = load(text);
                        CHECK(set.type == ElementType::float64);
                        CHECK(set.dim == 2);
                        CHECK(values_of(set) == Doubles{1.5, -2, 3, 0.004});
                        CHECK(!set.has_labels());
                    }
    const VectorSet bytes = load("0,255\n7,8.0\n");
    CHECK(bytes.type == ElementType::uint8);
    CHECK(text_of(bytes.elements) == std::string("\0\xff\x07\x08", 4));
    CHECK(load("0,256\n").type == ElementType::float64);
    CHECK(load("0,-1\n").type == ElementType::float64);
    CHECK(values_of(load("5\n")) == Doubles{5});
    CHECK(values_of(load_vectors(folder.write("y.csv.gz", gzip("1,2\n3,4\n")))) == Doubles{1, 2, 3, 4});
}

TEST_CASE_FIXTURE(CsvFolder, "csv: numbers are read the same in every locale, and exactly") {
    for (const char* locale : {"de_DE.UTF-8", "C"}) {
        std::setlocale(LC_NUMERIC, locale);
        CHECK(values_of(load("0.1,1e-310\n")) == Doubles{0.1, 1e-310});
    }
    Doubles numbers;
    std::string text;
    for (std::uint64_t i = 0, bits = 1; i < 1000;
         ++i, bits = bits * 6364136223846793005u + 1442695040888963407u) {
        const double value = std::bit_cast<double>(bits & 0xbfffffffffffffffu);
        numbers.push_back(value);
        text += shortest(value) + "\n";
    }
    CHECK(values_of(load(text)) == numbers);
}

TEST_CASE_FIXTURE(CsvFolder, "csv: the column of labels") {
    const std::string iris = "length,width,species\n5.1,3.5,setosa\n7.0,3.2,versicolor\n5,3,setosa\n";
    const VectorSet set = load(iris, {.label_column = "species"});
    CHECK(set.dim == 2);
    CHECK(values_of(set) == Doubles{5.1, 3.5, 7, 3.2, 5, 3});
    CHECK(numbers_of(set.labels) == std::vector{0, 1, 0});
    CHECK(set.labels.classes == Texts{"setosa", "versicolor"});
    CHECK(numbers_of(load(iris, {.label_column = "3"}).labels) == std::vector{0, 1, 0});
    CHECK(load(iris.substr(iris.find('\n') + 1), {.label_column = "3"}).labels.classes ==
          Texts{"setosa", "versicolor"});

    const VectorSet usual = load("Label,a\n7,1\n3,2\n");
    CHECK(numbers_of(usual.labels) == std::vector{7, 3});
    CHECK(usual.labels.classes.empty());
    CHECK(values_of(usual) == Doubles{1, 2});
    CHECK(load("label,a\n7,1\n3,2\n", {.label_column = "none"}).dim == 2);
    CHECK(numbers_of(load("0,1,class\n5,6,x\n7,8,y\n").labels) == std::vector{0, 1});
    CHECK(load("0,1,kind\n5,6,x\n7,8,y\n", {.label_column = "kind"}).count == 2);
    CHECK(load("a,label\n1,007\n2,7\n").labels.classes == Texts{"007", "7"});
    CHECK(load("a,label\n1,\"Zürich, \"\"old\"\"\nand new\"\n2, b \n").labels.classes ==
          Texts{"Zürich, \"old\"\nand new", "b"});
    CHECK(load("label,a\n10,1\n9,1\n300,1\n").labels.classes == Texts{"9", "10", "300"});
    CHECK(load("label,a\n9223372036854775808,1\n-10,1\n-9,1\n3,1\n0,1\n").labels.classes ==
          Texts{"-10", "-9", "0", "3", "9223372036854775808"});

    CHECK(error(iris, {.label_column = "kind"}) ==
          "has no column \"kind\"; expected a name in its first line, or a number from 1 to 3");
    CHECK(error("1,2\n3,4\n", {.label_column = "kind"}) ==
          "has no header, and no column \"kind\"; expected a number from 1 to 2");
    CHECK(error("1,2\n3,4\n", {.label_column = "3"}) ==
          "has no header, and no column \"3\"; expected a number from 1 to 2");
    CHECK(error("Class,a,label\n1,2,3\n") ==
          "line 1: columns 1 and 3 may both have the labels; expected §label-column with the number of one");
    CHECK(error("a,b,a\n1,2,3\n", {.label_column = "a"}).starts_with("line 1: columns 1 and 3 may both"));
    CHECK(numbers_of(load("label,a,label\n1,2,3\n", {.label_column = "3"}).labels) == std::vector{3});
    CHECK(load("label,a,label\n1,2,3\n", {.label_column = "none"}).dim == 3);
    CHECK(numbers_of(load("2,2,3\n4,5,6\n", {.label_column = "2"}).labels) == std::vector{2, 5});
    CHECK(error("label\na\nb\n") == "has no column but that of the labels; expected numbers beside them");
    CHECK(error("a,label\n1,x\n2,\n") == "line 3, column 2: is empty; expected a label");
    std::string many = "a,label\n";
    for (int i = 0; i < 300; ++i)
        many += "1,x" + std::to_string(i) + "\n";
    CHECK(error(many) == "has more than 256 different labels; expected at most 256 classes");
    CHECK(load(many, {.first = 256}).labels.classes.size() == 256);
}

TEST_CASE_FIXTURE(CsvFolder, "csv: what is wrong is said with line and column") {
    const std::string number = " is no number of 64 bits; expected a number such as 1.5",
                      header = ", or names in quotes if this line is a header",
                      empty = "is empty; expected a number such as 1.5",
                      two = "; expected 2 columns, as the first line has",
                      labels = ", or §label-column 3 if these are labels",
                      finite = " is not finite; expected finite numbers",
                      large =
                          "\" is too large for a number of 64 bits; expected at most 1.79e+308 in magnitude",
                      open =
                          "its quotes do not end the field; expected a field in quotes, with \"\" "
                          "for a quote";
    std::string wide = "1";
    for (int i = 0; i < 65'536; ++i)
        wide += ",1";
    for (const auto& [content, expected] : std::initializer_list<std::pair<std::string, std::string>>{
             {"a,b\n1,2\n3\n", "line 3: has 1 column" + two},
             {"1,2\n\n3,4,5\n", "line 3: has 3 columns" + two},
             {"1,2\n3,x\n", "line 2, column 2: \"x\"" + number},
             {"x,y,label\n1,2,a\"b\n3,4,c\n5,6,d\n",
              "line 2: has 7 columns with the lines that a quote in it joins; expected 3 columns, as the "
              "first line has"},
             {"a,b\n\"1\"x,2\n3,4\n", "line 2, column 1: " + std::string(open)},
             {"1,2\n3,\n", "line 2, column 2: " + empty},
             {"1;2\n3,5;4\n", "line 2, column 1: \"3,5\"" + number},
             {"1,2\n3,1e999\n", "line 2, column 2: \"1e999" + large},
             {"1,2\n3,-1e309\n", "line 2, column 2: \"-1e309" + large},
             {"1,2\n3,0.001e400\n", "line 2, column 2: \"0.001e400" + large},
             {"1,2\n3,1e99999999999999999999\n", "line 2, column 2: \"1e999999999999999999..." + large},
             {"1,2\n3,0x10\n", "line 2, column 2: \"0x10\"" + number},
             // No header: no number of it may be lost.
             {"1,\u22122\n4,5\n", "line 1, column 2: \"\u22122\"" + number + header},
             {"\u00a01,2\n4,5\n", "line 1, column 1: \"\u00a01\"" + number + header},
             {"NA,2\n4,5\n", "line 1, column 1: \"NA\"" + number + header},
             {"1;2,5\n4;5\n", "line 1, column 2: \"2,5\"" + number + header},
             {",0,1\n0,5,6\n", "line 1, column 1: " + empty +
                                   ", or names in quotes, and no column of row numbers (pandas: "
                                   "index=False), if this line is a "
                                   "header"},
             {"1,,2\n0,5,6\n", "line 1, column 2: " + empty + header},
             {"1,2,setosa\n3,4,virginica\n", "line 1, column 3: \"setosa\"" + number + labels},
             {"a,b,species\n1,2,setosa\n3,4,virginica\n", "line 2, column 3: \"setosa\"" + number + labels},
             {"a,b,label\n1,text,x\n", "line 2, column 2: \"text\"" + number},
             {"1,2\nnan,4\n", "line 2, column 1: \"nan\"" + finite},
             {"1,2\n1,-inf\n", "line 2, column 2: \"-inf\"" + finite},
             {"1,2\n3,\"4\n", "line 2, column 2: " + open},
             {"1,2\n3,\"4\n5\t\"\n", "line 2, column 2: \"4 5 \"" + number},
             {"1,2\n3,\"4\"5\n", "line 2, column 2: " + open},
             {"\n\n", "has no rows; expected numbers, one row on each line"},
             {"a,b\n", "has no rows; expected numbers, one row on each line"},
             {wide, "has more than 65,536 columns; expected at most 65,536"}})
        CHECK(error(content) == expected);
    CHECK(error("label p0 p1\n0 1 2\n")
              .ends_with("such as 1.5, and a comma, semicolon or tab between columns"));
    CHECK(error("a\n").starts_with("line 1, column 1: \"a\"" + number));
    CHECK(error("a,NA\n").starts_with("line 1, column 1: \"a\"" + number));
    CHECK(error("1,12345678901234567890x123\n")
              .starts_with("line 1, column 2: \"12345678901234567890...\" is no"));
    CHECK(load(wide.substr(2)).dim == 65'536);
    CHECK(error("1,2\n3,4\n", {.free_bytes = 30}) ==
          "needs 40 bytes of memory, of which 30 are free; expected that much free memory, or fewer rows");
    CHECK(vectors_error(folder.write("y.bin", std::string("1,2\0", 4))) ==
          "is in none of the known formats; expected vectors as IDX, NPY, CSV, .fvecs, .bvecs, .ivecs, "
          ".fbin, .u8bin, .i8bin or .ibin, plain or gzip");
}

TEST_CASE_FIXTURE(CsvFolder, "csv: no control characters of two bytes") {
    CHECK(error("1,label\n1,a\xc2\x9b"
                "31m\n") ==
          "line 2: has the character U+009B, a control character; expected a text of ASCII or UTF-8");
    const std::string first = "1,label\n1,";  // its last byte is in the first piece that is read, 64 KiB
    CHECK(error(first + std::string(65'535 - first.size(), 'a') + "\xc2\x80\n")
              .starts_with("line 2: has the character U+0080, a control character"));
    CHECK(load("1,label\n1,\xc3\x9b\xc2\xa0\n").count == 1);
}

TEST_CASE_FIXTURE(CsvFolder, "csv: a header may have numbers in it, or quotes where numbers have none") {
    const VectorSet years = load("year,2019,2020\n1,2,3\n4,5,6\n");
    CHECK(years.count == 2);
    CHECK(values_of(years) == Doubles{1, 2, 3, 4, 5, 6});
    CHECK(load("\"0\",\"1\"\n1,2\n3,4\n").count == 2);
    CHECK(load("\"1\",\"2\"\n\"3\",\"4\"\n").count == 2);
    CHECK(load("0,1\n1,2\n").count == 2);
    CHECK(load("2019Q1,2019Q2\n1,2\n").count == 1);
    for (const char* name :
         {"\xc3\x84pfel", "\xce\xb1", "\xd0\xb4\xd0\xb0", "\xe5\x80\xbc", "_"})  // letters of UTF-8
        CHECK(load(std::string(name) + ",2\n1,2\n").count == 1);
    // A full-width 1, a half, a superscript 2, an Arabic 3, a euro, an emoji, a zero-width space, Latin-1, two byte order marks.
    for (const char* none : {"\xef\xbc\x91", "\xc2\xbd", "\xc2\xb2", "\xd9\xa3",
                             "\xe2\x82\xac"
                             "5",
                             "\xf0\x9f\x99\x82",
                             "\xe2\x80\x8b"
                             "1",
                             "\xc4pfel",
                             "\xef\xbb\xbf\xef\xbb\xbf"
                             "1"})
        CHECK(error(std::string(none) + ",2\n3,4\n").starts_with("line 1, column 1: "));
    // The column of labels says nothing about the first line.
    CHECK(load("1,2,setosa\n3,4,virginica\n", {.label_column = "3"}).count == 2);
    CHECK(load("1,2,a\n3,4,7\n", {.label_column = "3"}).count == 2);
    CHECK(load("year,2019\n1,2\n", {.label_column = "2019"}).labels.numbers.data()[0] == 2);
    CHECK(error("year,2019\n1,2\nx,3\n").starts_with("line 3, column 1: \"x\" is no number of 64 bits; "));
}

TEST_CASE_FIXTURE(CsvFolder, "csv: a column of row numbers is no coordinate") {
    for (const char* text :
         {",a\n1,2\n", "\"\",\"1\"\n1,2\n", ";0;1;label\n7;5;6;x\n", "Unnamed: 0,a\n0,5\n"})
        CHECK(error(text) ==
              "line 1, column 1: has no name, as a column of row numbers; expected a name, or a file without "
              "that column (pandas: index=False)");
    CHECK(load(",a\n1,2\n", {.label_column = "1"}).dim == 1);
    CHECK(load("a,\n1,2\n").dim == 2);
    for (const char* text : {",label\n0,3\n1,7\n", ",0\n0,3\n", "id;Class\n0;3\n", "0,7\n1,2\n"})
        CHECK(labels_error(folder.write("y.csv", text)) ==
              "has columns beside that of the labels; expected one label on each line");
    CHECK(labels_error(folder.write("y.csv", "one\n" + std::string(1001, 'x') + "\n")) ==
          "line 2, column 1: is a label of 1,001 bytes; expected at most 1,000");
    CHECK(contains(
        labels_error(folder.write("y.csv", "one\nM\xe4\nM\xf6\n")),
        "has labels that differ only in bytes that are not UTF-8; expected a text of ASCII or UTF-8"));
    CHECK(labels_error(folder.write("y.csv", "one\ntwo\" disk\nthree\nfour\" disk\n")) ==
          "line 2: a quote in it joins it with the lines below; expected a field in quotes, with \"\" for a "
          "quote");
}

TEST_CASE_FIXTURE(CsvFolder, "csv: numbers too small for 64 bits are the nearest one") {
    const Doubles tiny = values_of(load("1e-400,-1e-400,0.5\n0.00001e-320,1e-99999999999999999999,0e999\n"));
    CHECK(tiny == Doubles{0, 0, 0.5, 0, 0, 0});
    CHECK(std::signbit(tiny[1]));
}

TEST_CASE_FIXTURE(CsvFolder, "csv: a control character and line ends of old Macs are said") {
    const std::string expected = "; expected a text of ASCII or UTF-8";
    CHECK(error("x,label\n1,a\x1b\n2,b\n") == "line 2: has the byte 0x1B, a control character" + expected);
    CHECK(error(std::string("1,2\n3,4\n\0", 9)) ==
          "line 3: has the byte 0x00, a control character" + expected);
    std::string late;
    for (int i = 0; i < 5000; ++i)
        late += "1,\"2\"\n";
    CHECK(error(late + "3,\x1b\n") == "line 5,001: has the byte 0x1B, a control character" + expected);
    CHECK(load(late + "3,\x1b\n", {.first = 5}).count == 5);
    CHECK(labels_error(folder.write("x.csv", "a\n\x7\n")) ==
          "line 2: has the byte 0x07, a control character" + expected);

    const std::string ends =
        "its lines end with a carriage return (CR) alone; expected a line feed (LF, or CR and LF) after each "
        "row";
    CHECK(error("1,2\r3,4\r") == ends);
    CHECK(error("a,b\r1,2\r3,4") == ends);
    CHECK(labels_error(folder.write("x.csv", "1\r2\r")) == ends);
    std::string many;
    for (int i = 0; i < 70'000; ++i)
        many += "1,2\r";
    CHECK(error(many) == ends);
    CHECK(load("1,2\r\r\n3,4\r\n").count == 2);
}

TEST_CASE_FIXTURE(CsvFolder, "csv: what does not end is refused before much of it is read") {
    struct Endless {
        std::string unit, begin, error;
    };
    const std::string most = "16,777,216 bytes";
    for (const Endless& one :
         {Endless{"1,", "", "has more than 65,536 columns; expected at most 65,536"},
          Endless{"1;", "\n\n", "has more than 65,536 columns; expected at most 65,536"},
          Endless{"\n", "1,2\n", "line 2: more than " + most + " of blank lines begin; expected rows"},
          Endless{" ", "1,2\n", "line 2: more than " + most + " of blank lines begin; expected rows"},
          Endless{"1,\n", "1,2\n\"",
                  "line 2: its quotes do not end within " + most +
                      "; expected a field in quotes, with \"\" for a quote"},
          Endless{"1", "1\n2\n\n",
                  "line 4: is longer than " + most +
                      ", with the blank lines before it; expected a line feed after each row"},
          Endless{"1,", "1,2\n",
                  "line 2: is longer than " + most +
                      ", with the blank lines before it; expected a line feed after each row"}}) {
        CAPTURE(one.error);
        std::uint64_t given = 0;
        ByteSource source(
            [&](std::span<std::uint8_t> out) {
                for (std::uint8_t& byte : out) {
                    const std::string& from = given < one.begin.size() ? one.begin : one.unit;
                    const std::uint64_t at = given < one.begin.size() ? given : given - one.begin.size();
                    byte = static_cast<std::uint8_t>(from[static_cast<std::size_t>(at % from.size())]);
                    ++given;
                }
                return out.size();
            },
            std::nullopt, "x", "vectors");
        CHECK(error_of<DataError>([&] { read_vectors(source); }) == "x: " + one.error);
        CHECK(given < (one.error.find("columns") != one.error.npos ? 1 << 19 : 22 << 20));
    }
    // Rows too short for the columns of the first cost no memory.
    std::string wide = "1";
    for (int i = 1; i < 60'000; ++i)
        wide += ",1";
    for (int i = 0; i < 300'000; ++i)
        wide += "\n1";
    CHECK(error(wide, {.free_bytes = 1 << 30}) ==
          "line 2: has 1 column; expected 60,000 columns, as the first line has");
}

TEST_CASE_FIXTURE(CsvFolder, "csv: only the first rows are read") {
    CHECK(values_of(load("a\n1\n2\n3\n", {.first = 2})) == Doubles{1, 2});
    CHECK(values_of(load("1\n2\nx\n", {.first = 2})) == Doubles{1, 2});
    std::string long_file;
    for (int i = 0; i < 200'000; ++i)
        long_file += std::to_string(i % 250) + "\n";
    CHECK(load(long_file + "x\n", {.first = 5}).count == 5);
    CHECK(load(long_file + "x\n", {.first = 200'000}).count == 200'000);
    CHECK(error(long_file + "x\n") ==
          "line 200,001, column 1: \"x\" is no number of 64 bits; expected a number such as 1.5");
}

TEST_CASE_FIXTURE(CsvFolder, "csv: large files in pieces are the same for any number of threads") {
    std::string text = "a,label,b\n";
    Doubles numbers;
    std::vector<int> labels;
    for (int i = 0; i < 300'000; ++i) {
        text += std::to_string(i) + ",c" + std::to_string(i % 7) + ",0.5\n";
        numbers.push_back(i);
        numbers.push_back(0.5);
        labels.push_back(i % 7);
    }
    for (const int threads : {1, 2, 5}) {
        const VectorSet set = load(text, {.threads = threads});
        CHECK((values_of(set) == numbers));
        CHECK((numbers_of(set.labels) == labels));
    }
    text.insert(text.find("123456,"), "\"");
    CHECK(error(text, {.threads = 3}).starts_with("line 123,458, column 1: its quotes do not end"));
}

TEST_CASE_FIXTURE(CsvFolder, "labels: a text with one on each line") {
    const auto labels = [&](const std::string& content) {
        return load_labels(folder.write("x.txt", content));
    };
    CHECK(numbers_of(labels("3\n5\r\n\n3\n")) == std::vector{3, 5, 3});
    CHECK(labels("3\n5\n").classes.empty());
    CHECK(labels("label\nb, c\na\n").classes == Texts{"a", "b, c"});
    CHECK(numbers_of(labels("class\n3\n")) == std::vector{3});
    CHECK(numbers_of(load_labels(folder.write("x.ivecs", raw(std::vector<std::int32_t>{1, 300, 1, 5})))) ==
          std::vector{1, 0});
    CHECK(labels_error(folder.write("y.fbin", raw(std::vector<std::int32_t>{1, 1}) + raw(1.5F))) ==
          "row 1 is 1.5; expected labels: whole numbers");
    CHECK(labels_error(folder.write("y.u8bin", raw(std::vector<std::int32_t>{1, 2}) + "ab")) ==
          "has 2 columns; expected labels: one column of whole numbers");
}

TEST_CASE("labels: two sets get the same numbers for the same names") {
    Labels a{Bytes(2), {"x", "z"}}, b{Bytes(2), {"y", "z"}}, c{Bytes(1), {}};
    for (Labels* labels : {&a, &b}) {
        labels->numbers.data()[0] = 0;
        labels->numbers.data()[1] = 1;
    }
    c.numbers.data()[0] = 7;
    unify_classes(a, b, "f");
    CHECK(a.classes == Texts{"x", "y", "z"});
    CHECK(b.classes == a.classes);
    CHECK(numbers_of(a) == std::vector{0, 2});
    CHECK(numbers_of(b) == std::vector{1, 2});
    unify_classes(a, c, "f");
    CHECK(c.classes == Texts{"7", "x", "z"});
    CHECK(numbers_of(c) == std::vector{0});
}

TEST_CASE("labels: the file beside") {
    CHECK(labels_beside("a/iris.csv") == "a/iris-labels.csv");
    CHECK(labels_beside("iris.CSV.gz") == "iris-labels.csv");
    CHECK(labels_beside("x.v2.fbin") == "x.v2-labels.npy");
    CHECK(labels_beside("x.npy") == "x-labels.npy");
}

TEST_CASE("vectors: the type that holds two others") {
    using enum ElementType;
    CHECK(common_type(uint8, uint8) == uint8);
    CHECK(common_type(uint8, int8) == float32);
    CHECK(common_type(float32, int8) == float32);
    CHECK(common_type(float32, float64) == float64);
    CHECK(common_type(float64, int8) == float64);
}
