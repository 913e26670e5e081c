#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <opencv2/imgproc.hpp>

#include "data/core/errors.h"
#include "data/file/transfer.h"
#include "data/picture/picture_file.h"
#include "tests/support/decoded.h"
#include "tests/support/test.h"

using namespace knn::test;
using knn::DataError;
using knn::Picture;

namespace {

using Bytes = std::vector<std::uint8_t>;

/// Standard error is a file as long as this lives.
class ErrorsTo {
  public:
    explicit ErrorsTo(const std::filesystem::path& log)
        : before_(::dup(STDERR_FILENO)), file_(::open(log.c_str(), O_WRONLY | O_APPEND)) {
        REQUIRE(::dup2(file_.number(), STDERR_FILENO) == STDERR_FILENO);
    }
    ~ErrorsTo() { ::dup2(before_.number(), STDERR_FILENO); }

  private:
    knn::FileDescriptor before_, file_;
};

/// 40 whole JPEGs and 40 that end in the middle of their pixels, with the marker of the end behind it, in
/// turns.
std::vector<Bytes> good_and_damaged() {
    std::vector<Bytes> files;
    for (int i = 0; i < 40; ++i) {
        cv::Mat noisy(200 + i, 300, CV_8UC1);
        cv::RNG(std::uint64_t(i + 1)).fill(noisy, cv::RNG::UNIFORM, 0, 255);
        files.push_back(encoded(".jpg", noisy));
        Bytes damaged(files.back().begin(), files.back().begin() + std::ptrdiff_t(files.back().size() / 2));
        damaged.insert(damaged.end(), {0xff, 0xd9});
        files.push_back(std::move(damaged));
    }
    return files;
}

/// 'g' for each file that is read, 'd' for each that is refused, with several threads at once.
std::string verdicts(const std::vector<Bytes>& files, int threads) {
    std::string result(files.size(), '?');
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> team;
    for (int i = 0; i < threads; ++i)
        team.emplace_back([&] {
            for (std::size_t at; (at = next++) < files.size();)
                result[at] = error_of(files[at]).empty() ? 'g' : 'd';
        });
    team.clear();
    return result;
}

}  // namespace

TEST_CASE_FIXTURE(InFolder, "picture file: every format, known by its content, the first page of several") {
    for (const char* format : {".png", ".jpg", ".bmp", ".tiff", ".webp", ".pgm"}) {
        CAPTURE(format);
        const Bytes bytes = encoded(format, marked());
        const auto file = folder.write("wrong.txt", std::string(bytes.begin(), bytes.end()));
        const Picture picture = knn::read_picture(file.string());
        CHECK(picture.cols == 48);
        CHECK(picture.rows == 32);
        CHECK(picture.gray.size() == 48 * 32);
        CHECK(corners(picture) == "bgww");
    }
    const std::string pages = (folder / "pages.tiff").string();
    REQUIRE(
        codecs().imwrite(pages, std::vector<cv::Mat>{marked(), cv::Mat(10, 10, CV_8U, cv::Scalar(0))}, {}));
    CHECK(corners(knn::read_picture(pages)) == "bgww");
}

TEST_CASE("picture file: depth, color and transparency") {
    // Ink with the picture in its opacity, on transparent pixels of the same color.
    const auto ink = [](int gray, int opaque, int half) {
        cv::Mat mat(32, 48, CV_8UC4, cv::Scalar(gray, gray, gray, 0));
        mat(cv::Rect(0, 0, 16, 16)).setTo(cv::Scalar(gray, gray, gray, opaque));
        mat(cv::Rect(32, 0, 16, 16)).setTo(cv::Scalar(gray, gray, gray, half));
        return mat;
    };
    struct Row {
        std::vector<const char*> formats;
        cv::Mat mat;
        const char* corners;
        std::vector<int> options = {};
    };
    for (const Row& row : {Row{{".png", ".tiff"}, marked(CV_16UC1, 65535), "bgww"},
                           {{".png", ".tiff"}, marked(CV_16UC3, 65535), "bgww"},
                           {{".png"}, marked() > 60, "bwww", {cv::IMWRITE_PNG_BILEVEL, 1}},
                           {{".jpg"}, marked(), "bgww", {cv::IMWRITE_JPEG_PROGRESSIVE, 1}},
                           {{".png", ".tiff", ".webp"}, ink(0, 255, 128), "bgww"},  // on white
                           {{".png", ".webp"}, ink(230, 255, 128), "wgbb"},  // light ink would not show on it
                           {{".png", ".webp"}, ink(255, 255, 128), "wgbb"},
                           // A tenth of black is little, but on black it is nothing.
                           {{".png"}, ink(0, 25, 0), "wwww"}})
        for (const char* format : row.formats) {
            CAPTURE(format);
            CHECK(corners(knn::decode_picture(encoded(format, row.mat, row.options), "it")) == row.corners);
        }
}

TEST_CASE("picture file: what has no end and is no picture is refused by its beginning") {
    CHECK_THROWS_WITH_AS(knn::read_picture("/dev/zero"), doctest::Contains("is not a picture in"), DataError);
    // A file of 1 GB takes no memory, on the disk nor here.
    const TempFolder folder;
    const auto file = folder.write("long.png", "text");
    std::filesystem::resize_file(file, 1'000'000'000);
    rusage before = {}, after = {};
    ::getrusage(RUSAGE_SELF, &before);
    CHECK_THROWS_WITH_AS(knn::read_picture(file), doctest::Contains("is not a picture in"), DataError);
    ::getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 100'000);  // KB
}

TEST_CASE("picture file: a pipe that gives a few bytes at a time") {
    for (const char* format : {".png", ".bmp"}) {
        const Bytes whole = encoded(format, marked());
        int ends[2] = {};
        REQUIRE(::pipe(ends) == 0);
        const std::jthread writer([&] {
            for (std::size_t at = 0; at < whole.size(); at += 7)
                if (::write(ends[1], whole.data() + at, std::min<std::size_t>(7, whole.size() - at)) < 0)
                    break;
            ::close(ends[1]);
        });
        CHECK(corners(knn::read_picture(ends[0], "it")) == "bgww");
        ::close(ends[0]);
    }
}

TEST_CASE("picture file: what is no picture, or too large, or lies") {
    CHECK(contains(error_of({}), "is empty"));
    CHECK(contains(error_of({'h', 'e', 'l', 'l', 'o'}), "is not a picture"));
    Bytes png = encoded(".png", marked());
    png[16] = 0, png[17] = 1;  // 65,584 pixels wide
    png[20] = 0, png[21] = 1;
    CHECK(contains(error_of(png), "has 65584x65568 pixels; expected at most 100 megapixels"));
    png[16] = png[17] = png[20] = png[21] = 0;
    png[17] = 0x10;  // 1,048,624 x 32
    CHECK(contains(error_of(png), "expected at most 1,000,000 in a row or column"));
    Bytes pgm = {'P', '5', '\n', '9', '9', '9', ' ', '9', '9', '9', '\n', '2', '5', '5', '\n', 1, 2, 3};
    CHECK(contains(error_of(pgm), "is cut short"));
    const Bytes jpeg = encoded(".jpg", marked());  // ends before its size: not of no size
    CHECK(contains(error_of(Bytes(jpeg.begin(), jpeg.begin() + 30)), "is cut short"));
    const TempFolder folder;
    CHECK_THROWS_WITH_AS(knn::read_picture(folder.path().string()),
                         doctest::Contains("is a folder; expected a picture"), DataError);
    CHECK_THROWS_WITH_AS(knn::read_picture((folder.path() / "none.png").string()),
                         doctest::Contains("cannot be read: No such file"), DataError);
}

TEST_CASE("picture file: a TIFF whose tiles are larger than any picture") {
    Bytes tiff = {'I', 'I', '*', 0, 8, 0, 0, 0, 4, 0};
    for (const int tag : {0, 1, 0x42, 0x43})  // the sides of the picture, 28, and of its tiles, 16384
        for (const int byte : {tag, 1, 4, 0, 1, 0, 0, 0, tag > 1 ? 0 : 28, tag > 1 ? 64 : 0, 0, 0})
            tiff.push_back(static_cast<std::uint8_t>(byte));
    CHECK(contains(error_of(tiff), "has tiles of 16384x16384 pixels; expected at most 100 megapixels"));
}

TEST_CASE("picture file: a TIFF of few bytes whose pixels have 16 bytes each") {
    const auto of_samples = [](int samples) {
        Bytes tiff = {'I', 'I', '*', 0, 8, 0, 0, 0, 4, 0};
        for (const auto& [tag, value] : {std::pair(0, 10'000), {1, 10'000}, {2, 32}, {0x15, samples}})
            for (const int byte : {tag, 1, 4, 0, 1, 0, 0, 0, value % 256, value / 256, 0, 0})
                tiff.push_back(static_cast<std::uint8_t>(byte));
        return error_of(tiff);
    };
    CHECK(contains(of_samples(4), "has 10000x10000 pixels of 16 bytes; expected at most 800 MB"));
    CHECK(!contains(of_samples(2), "800 MB"));
}

TEST_CASE("picture file: a JPEG of so many scans that decoding would last") {
    // Side by side; each scan is empty, so none of the files can be decoded.
    const auto of_scans = [](int scans, unsigned char side_256) {
        Bytes jpeg = {0xff, 0xd8, 0xff, 0xc2, 0, 11, 8, side_256, 8, side_256, 8, 1, 1, 0x11, 0};
        for (int i = 0; i < scans; ++i)
            for (const int byte : {0xff, 0xda, 0, 8, 1, 1, 0, 0, 1, 0, 0x55})
                jpeg.push_back(static_cast<std::uint8_t>(byte));
        jpeg.push_back(0xff);
        jpeg.push_back(0xd9);
        return error_of(jpeg);
    };
    CHECK(contains(of_scans(2000, 0), "has 2,000 scans; expected a JPEG of this size with at most 100"));
    CHECK(contains(of_scans(101, 0), "has 101 scans"));
    CHECK(!contains(of_scans(100, 0), "scans"));
    // 9992x9992 pixels
    CHECK(contains(of_scans(21, 39), "has 21 scans; expected a JPEG of this size with at most 20"));
}

TEST_CASE("picture file: several threads find the damage that one finds, and standard error stays") {
    const std::vector<Bytes> files = good_and_damaged();
    std::string expected;
    for (std::size_t i = 0; i < files.size() / 2; ++i)
        expected += "gd";
    // Standard error is a file while pictures are read; it must contain exactly what this thread writes.
    const TempFolder folder;
    const auto log = folder.write("log", "");
    std::size_t written = 0;
    std::vector<std::string> found;
    {
        const ErrorsTo file(log);
        const std::jthread writer([&](const std::stop_token& stop) {
            for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::microseconds(50)))
                if (::write(STDERR_FILENO, "x", 1) == 1) ++written;
        });
        for (const int threads : {1, 4, 4, 4, 4, 4})
            found.push_back(verdicts(files, threads));
    }
    for (const std::string& verdict : found)
        CHECK(verdict == expected);
    CHECK((read_file(log) == std::string(written, 'x')));  // not printed: it is long
}

TEST_CASE_FIXTURE(InFolder, "picture file: what others write to standard error still appears") {
    const auto log = folder.write("log", "");
    CHECK(contains(error_of(good_and_damaged()[1]), "is damaged or cut short"));
    {
        const ErrorsTo file(log);
        std::fputs("from C, ", stderr);
        std::cerr << "from C++ " << 1;
    }
    CHECK(read_file(log) == "from C, from C++ 1");
}
