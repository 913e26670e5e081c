#include "tests/support/photo.h"

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

namespace knn::test {

namespace {

double uniform(std::mt19937& random, double from, double to) {
    return from + (to - from) * double(random()) / double(std::mt19937::max());
}

/// The ink, 0 to 1, on a sheet larger than the image.
cv::Mat sheet_of(const std::uint8_t* pixels, const Damage& damage, double times, std::mt19937& random) {
    const cv::Mat image(28, 28, CV_8U, const_cast<std::uint8_t*>(pixels));
    cv::Mat large, ink;
    const int side = int(28 * times);
    cv::resize(image, large, cv::Size(side, side), 0, 0, cv::INTER_CUBIC);
    large.convertTo(ink, CV_32F, 1 / 255.0);
    if (const int width = int(std::lround(std::abs(damage.pen) * times)); width > 0) {
        const cv::Mat shape = cv::getStructuringElement(cv::MORPH_ELLIPSE, cv::Size(width + 1, width + 1));
        cv::morphologyEx(ink, ink, damage.pen > 0 ? cv::MORPH_DILATE : cv::MORPH_ERODE, shape);
    }
    const double degrees = uniform(random, -damage.rotation, damage.rotation);
    cv::warpAffine(ink, ink,
                   cv::getRotationMatrix2D(cv::Point2f(float(side) / 2, float(side) / 2), degrees, 1),
                   ink.size());
    if (damage.blur > 0) cv::GaussianBlur(ink, ink, cv::Size(), damage.blur * times);

    const auto room = [&] {
        return int(side * damage.margin * (damage.off_center ? uniform(random, 0.2, 3) : 1));
    };
    const int left = room(), right = room(), top = room(), bottom = room();
    cv::copyMakeBorder(ink, ink, top, bottom, left, right, cv::BORDER_CONSTANT, 0);
    return ink;
}

}  // namespace

std::vector<Damage> damages() {
    std::vector<Damage> all = {{.name = "3 to 40 times larger"},
                               {.name = "exactly 3 times larger", .smallest = 3, .largest = 3},
                               {.name = "white on black", .white_on_black = true},
                               {.name = "paper gradient 50 %", .gradient = 0.5},
                               {.name = "noise 12", .noise = 12},
                               {.name = "noise 25", .noise = 25},
                               {.name = "blur 0.7", .blur = 0.7},
                               {.name = "JPEG quality 60", .jpeg = true},
                               {.name = "on a page, off center", .margin = 0.8, .off_center = true}};
    Damage both{.name = "all of it, upright",
                .gradient = 0.4,
                .noise = 8,
                .blur = 0.5,
                .jpeg = true,
                .margin = 0.5,
                .off_center = true};
    all.push_back(both);
    both.name += ", white on black", both.white_on_black = true;
    all.push_back(both);
    all.push_back({.name = "turned by up to 10 degrees", .rotation = 10});
    both = all[9];
    both.name = "all of it, turned by up to 10 degrees", both.rotation = 10;
    all.push_back(both);
    all.push_back({.name = "pen thinner by 1 pixel of 28", .smallest = 10, .pen = -1});
    all.push_back({.name = "pen thicker by 2 pixels of 28", .smallest = 10, .pen = 2});
    return all;
}

Picture photo_of(const std::uint8_t* pixels, const Damage& damage, std::mt19937& random) {
    const double times = damage.smallest * std::pow(damage.largest / damage.smallest, uniform(random, 0, 1));
    const cv::Mat ink = sheet_of(pixels, damage, times, random);
    const double paper = 225, black = 35;
    cv::Mat photo(ink.size(), CV_32F), noise(ink.size(), CV_32F), gray;
    for (int y = 0; y < ink.rows; ++y)
        for (int x = 0; x < ink.cols; ++x) {
            const double far = 0.5 * (double(x) / ink.cols + double(y) / ink.rows);
            const double share = ink.at<float>(y, x);
            const double tone =
                damage.white_on_black ? black + (paper - black) * share : paper + (black - paper) * share;
            photo.at<float>(y, x) = float(tone * (1 - damage.gradient * far));
        }
    if (damage.noise > 0) {
        cv::RNG generator(random());
        generator.fill(noise, cv::RNG::NORMAL, 0, damage.noise);
        photo += noise;
    }
    photo.convertTo(gray, CV_8U);
    if (damage.jpeg) {
        std::vector<std::uint8_t> bytes;
        cv::imencode(".jpg", gray, bytes, {cv::IMWRITE_JPEG_QUALITY, 60});
        gray = cv::imdecode(bytes, cv::IMREAD_GRAYSCALE);
    }
    Picture picture{gray.rows, gray.cols, std::vector<std::uint8_t>(gray.total())};
    gray.copyTo(cv::Mat(gray.rows, gray.cols, CV_8U, picture.gray.data()));
    return picture;
}

}  // namespace knn::test
