/// Writes pages and single digits made of MNIST's test images, with their labels, as a folder of pictures:
/// labels.csv (file,label,,damage), pages.csv (file,sequence with / between rows,,kind), and, of printed letters that
/// are like no digit, nondigits.csv (file,letter).
///
///     make_pictures FOLDER FIRST LAST [PAGES_OF_EACH_KIND [PICTURES_OF_EACH_DAMAGE [SEED]]]
///
/// FIRST and LAST: which test images. The same arguments write the same bytes.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "data/core/dataset.h"
#include "data/set/locate.h"
#include "tests/support/photo.h"

using namespace knn::test;
namespace fs = std::filesystem;

namespace {

/// JPEG of the quality that phones use, but for every third picture a PNG.
std::string name_of(const char* folder, const std::string& kind, int number) {
    std::string name = kind;
    for (char& letter : name)
        if (letter == ' ' || letter == ',' || letter == '%' || letter == '/') letter = '_';
    return std::string(folder) + '/' + name + '-' + std::to_string(number) +
           (number % 3 == 2 ? ".png" : ".jpg");
}

void make(const fs::path& folder, int first, int last, int pages, int pictures, unsigned seed) {
    knn::DataOptions options;
    if (const char* data = std::getenv("MNIST_KNN_DATA")) options.folder = data;
    const knn::Dataset data = knn::load(knn::locate(options));
    fs::create_directories(folder / "pages");
    fs::create_directories(folder / "digits");
    std::mt19937 random(seed);
    const NextDigit next = [&] {
        const std::int64_t index = first + std::int64_t(random() % unsigned(last - first));
        return std::pair{data.test.images().row(index), int(data.test.labels.data()[index])};
    };
    const std::vector<int> quality = {cv::IMWRITE_JPEG_QUALITY, 90};
    std::ofstream list(folder / "pages.csv");
    list << "file,sequence,source,note\n";
    for (const PageKind& kind : page_kinds())
        for (int i = 0; i < pages; ++i) {
            const MadePage page = made_page(kind, next, random);
            const std::string file = name_of("pages", kind.name, i);
            cv::imwrite(folder / file, page.gray, quality);
            list << file << ',' << page.digits << ",," << kind.name << '\n';
        }
    std::ofstream labels(folder / "labels.csv");
    labels << "file,label,source,note\n";
    for (const Damage& damage : damages())
        for (int i = 0; i < pictures; ++i) {
            const auto [pixels, label] = next();
            knn::Picture picture = photo_of(pixels, damage, random);
            const std::string file = name_of("digits", damage.name, i);
            cv::imwrite(folder / file, cv::Mat(picture.rows, picture.cols, CV_8U, picture.gray.data()),
                        quality);
            labels << file << ',' << label << ",," << damage.name << '\n';
        }
    fs::create_directories(folder / "nondigits");
    std::ofstream others(folder / "nondigits.csv");
    others << "file,what,lookalike,source,note\n";
    for (const char letter : std::string("ACEFHKMNPRTVWXYadefhkmnrtvwxy")) {
        cv::Mat page(200, 160, CV_8U, cv::Scalar(220));
        cv::putText(page, std::string(1, letter), {35, 140}, cv::FONT_HERSHEY_SIMPLEX, 4, 50, 9, cv::LINE_AA);
        const std::string file = std::string("nondigits/") + letter + ".png";
        cv::imwrite(folder / file, page);
        others << file << ',' << letter << ",0,,printed letter\n";
    }
}

}  // namespace

int main(int count, char** words) {
    const auto number = [&](int at, int otherwise) { return count > at ? std::atoi(words[at]) : otherwise; };
    if (count < 4 || number(2, 0) < 0 || number(3, 0) > 10000 || number(2, 0) >= number(3, 0)) {
        std::fputs("usage: make_pictures FOLDER FIRST LAST [PAGES [PICTURES [SEED]]]\n", stderr);
        return 2;
    }
    make(words[1], number(2, 0), number(3, 0), number(4, 6), number(5, 40), unsigned(number(6, 1)));
}
