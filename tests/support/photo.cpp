#include "tests/support/photo.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "tests/support/codecs.h"
#include "tests/support/drawn.h"

namespace knn::test {

namespace {

double uniform(std::mt19937& random, double from, double to) {
    return from + (to - from) * double(random()) / double(std::mt19937::max());
}

/// Makes strokes wider, or narrower below 0, by `pen` times `scale` pixels.
void change_pen(cv::Mat& ink, double pen, double scale) {
    const int width = int(std::lround(std::abs(pen) * scale));
    if (width == 0) return;
    const cv::Mat shape = cv::getStructuringElement(cv::MORPH_ELLIPSE, {width + 1, width + 1});
    cv::morphologyEx(ink, ink, pen > 0 ? cv::MORPH_DILATE : cv::MORPH_ERODE, shape);
}

/// The ink, 0 to 1, on a sheet larger than the image.
cv::Mat sheet_of(const std::uint8_t* pixels, const Damage& damage, double times, std::mt19937& random) {
    const cv::Mat image(28, 28, CV_8U, const_cast<std::uint8_t*>(pixels));
    cv::Mat large, ink;
    const int side = int(28 * times);
    cv::resize(image, large, cv::Size(side, side), 0, 0, cv::INTER_CUBIC);
    large.convertTo(ink, CV_32F, 1 / 255.0);
    change_pen(ink, damage.pen, times);
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

/// The ink of a digit, 0 to 1, without empty rows and columns; its longer side is `height` pixels.
cv::Mat ink_of(const std::uint8_t* pixels, double height, const PageKind& kind, double pen,
               std::mt19937& random) {
    const double times = height / 20;
    cv::Mat ink;
    cv::Mat(28, 28, CV_8U, const_cast<std::uint8_t*>(pixels)).convertTo(ink, CV_32F, 1 / 255.0);
    // At least 8 times larger, so that the pen can change by parts of a pixel of 28.
    const double fine = std::max(8.0, times);
    cv::resize(ink, ink, {}, fine, fine, cv::INTER_CUBIC);
    change_pen(ink, pen, fine);
    if (kind.broken) {
        const cv::Point2d middle(ink.cols / 2.0, ink.rows / 2.0);
        const double angle = uniform(random, 0, CV_PI);
        const cv::Point2d way(ink.cols * std::cos(angle), ink.rows * std::sin(angle));
        cv::line(ink, middle, middle + way, 0.0, int(1.5 * fine));
    }
    if (fine > times) cv::resize(ink, ink, {}, times / fine, times / fine, cv::INTER_AREA);
    ink = cv::min(cv::max(ink, 0.0), 1.0);
    const cv::Rect box = cv::boundingRect(ink > 0.3);
    return box.empty() ? ink : ink(box).clone();
}

void put(cv::Mat& sheet, const cv::Mat& ink, cv::Point at) {
    const cv::Rect place(at, ink.size()), seen = place & cv::Rect({}, sheet.size());
    if (seen.empty()) return;
    cv::Mat target = sheet(seen);
    cv::max(target, ink(seen - at), target);
}

/// Lines of the paper, 0 to 1 of their darkness.
cv::Mat lines_of(cv::Size size, int kind, const cv::Size2d& cell, cv::Point2d corner, int width) {
    cv::Mat lines = cv::Mat::zeros(size, CV_32F);
    const cv::Size2d pitch = kind == 3 ? cell : cv::Size2d(cell.height * 0.55, cell.height * 0.55);
    const auto whole = [](double value) { return int(std::lround(value)); };
    const double right = corner.x + std::floor((size.width - corner.x) / pitch.width - 0.2) * pitch.width;
    const double low = corner.y + std::floor((size.height - corner.y) / pitch.height - 0.2) * pitch.height;
    for (double y = kind == 3 ? corner.y : pitch.height / 2; y < size.height; y += pitch.height)
        cv::line(lines, {kind == 3 ? whole(corner.x) : 0, whole(y)},
                 {kind == 3 ? whole(right) : size.width, whole(y)}, 1.0, width);
    for (double x = kind == 3 ? corner.x : pitch.width / 2; kind >= 2 && x < size.width; x += pitch.width)
        cv::line(lines, {whole(x), kind == 3 ? whole(corner.y) : 0},
                 {whole(x), kind == 3 ? whole(low) : size.height}, 1.0, width);
    return lines;
}

/// A dark thing that lies on the page's edge.
void lay_beside(cv::Mat& photo, const std::string& what, std::mt19937& random, double margin) {
    const int w = photo.cols, h = photo.rows;
    const auto at = [&](double x, double y) { return cv::Point(int(x), int(y)); };
    if (what == "desk") {
        const double tone = uniform(random, 25, 90), deep = uniform(random, 0.4, 0.9) * margin;
        const double skew = uniform(random, -0.3, 0.3) * margin;
        if (random() % 2 == 0)
            cv::fillConvexPoly(photo, std::vector{at(0, 0), at(deep + skew, 0), at(deep - skew, h), at(0, h)},
                               tone, cv::LINE_AA);
        if (random() % 2 == 0)
            cv::fillConvexPoly(photo,
                               std::vector{at(w, 0), at(w - deep, 0), at(w - deep + skew, h), at(w, h)}, tone,
                               cv::LINE_AA);
        cv::fillConvexPoly(photo, std::vector{at(0, h), at(0, h - deep), at(w, h - deep + skew), at(w, h)},
                           tone, cv::LINE_AA);
    } else if (what == "phone") {
        const double x = w - uniform(random, 0.6, 0.95) * margin, y = uniform(random, 0, 0.5) * h;
        cv::rectangle(photo, at(x, y), at(w, y + 0.4 * h), 30, cv::FILLED);
        cv::rectangle(photo, at(x + 0.2 * margin, y + 0.05 * h), at(w, y + 0.35 * h), 70, cv::FILLED);
    } else if (what == "finger") {
        const double tone = uniform(random, 90, 140), angle = uniform(random, -15, 15);
        cv::ellipse(photo, at(uniform(random, 0.2, 0.8) * w, h),
                    cv::Size(int(0.7 * margin), int(0.9 * margin)), angle, 0, 360, tone, cv::FILLED,
                    cv::LINE_AA);
    }
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
        codecs().imencode(".jpg", gray, bytes, {cv::IMWRITE_JPEG_QUALITY, 60});
        gray = codecs().imdecode(bytes, cv::IMREAD_GRAYSCALE);
    }
    return picture_of(gray);
}

std::vector<PageKind> page_kinds() {
    return {{.name = "plain"},
            {.name = "sloping rows", .rows = 3, .cols = 7, .slope = 10},
            {.name = "shadow", .rows = 3, .shadow = 0.5},
            {.name = "dark desk", .rows = 3, .beside = "desk"},
            {.name = "phone", .rows = 3, .beside = "phone"},
            {.name = "finger", .rows = 3, .beside = "finger"},
            {.name = "ruled", .rows = 3, .ruled = 1, .faintest = 0.6},
            {.name = "squared", .rows = 3, .ruled = 2, .faintest = 0.6},
            {.name = "table", .rows = 5, .cols = 6, .ruled = 3},
            {.name = "form", .rows = 25, .cols = 46, .smallest = 24, .largest = 36, .ruled = 3, .blur = 0.5},
            {.name = "touching", .touching = true},
            {.name = "broken", .broken = true},
            {.name = "text", .text = true},
            {.name = "small digits", .rows = 6, .cols = 12, .smallest = 14, .largest = 20, .blur = 0.4},
            {.name = "large photo",
             .rows = 3,
             .cols = 7,
             .smallest = 150,
             .largest = 350,
             .slope = 3,
             .noise = 6,
             .blur = 3},
            {.name = "chalk", .rows = 3, .light = true, .noise = 6},
            {.name = "felt pen", .pen = {1, 2.5}},
            {.name = "pencil", .noise = 4, .faintest = 0.2, .pen = {-1, 0}}};
}

MadePage made_page(const PageKind& kind, const NextDigit& next, std::mt19937& random) {
    const double height = uniform(random, kind.smallest, kind.largest);
    const double pen = uniform(random, kind.pen.first, kind.pen.second);
    const double slope = std::tan(uniform(random, -kind.slope, kind.slope) * CV_PI / 180);
    const bool table = kind.ruled == 3, beside = !kind.beside.empty();
    // Each random number in a statement of its own: compilers evaluate arguments in different orders.
    const double high = table ? 1.4 : uniform(random, 1.6, 2.2), wide = table ? 1.4 : uniform(random, 1.1, 2);
    const cv::Size2d cell(height * wide, height * high);
    const double margin = height * (beside ? 2.5 : 1);
    const double rise = std::abs(slope) * kind.cols * cell.width;
    const double words = kind.text ? 2 * height : 0;
    cv::Mat ink = cv::Mat::zeros(int(2 * margin + kind.rows * cell.height + rise + words),
                                 int(2 * margin + kind.cols * cell.width), CV_32F);
    MadePage page;
    for (int row = 0; row < kind.rows; ++row) {
        double after = 0;  // where the digit before ends
        for (int col = 0; col < kind.cols; ++col) {
            const auto [pixels, label] = next();
            const double own = height * uniform(random, table ? 0.75 : 0.85, table ? 0.95 : 1.1);
            const cv::Mat digit = ink_of(pixels, own, kind, pen, random);
            double x = margin + (col + 0.5) * cell.width;
            const double y = margin + words + (slope < 0 ? rise : 0) + (row + 0.5) * cell.height +
                             slope * col * cell.width + uniform(random, -0.05, 0.05) * height;
            double left = std::max(x - digit.cols / 2.0, after + (col > 0 && !table ? 0.15 * height : 0));
            if (kind.touching && col % 2 == 1) left = after - 0.04 * height;
            put(ink, digit, {int(left), int(y - digit.rows / 2.0)});
            after = left + digit.cols;
            page.digits += char('0' + label);
        }
        if (row + 1 < kind.rows) page.digits += '/';
    }
    if (kind.text)
        cv::putText(ink, "the answer follows", cv::Point(int(margin), int(margin + 0.7 * height)),
                    cv::FONT_HERSHEY_COMPLEX, height / 45, 1.0, std::max(1, int(height / 25)), cv::LINE_AA);
    const double ground = kind.light ? 60 : uniform(random, 150, 235);
    const double contrast = uniform(random, kind.faintest, 0.85);
    cv::Mat photo(ink.size(), CV_32F, cv::Scalar(ground));
    if (kind.ruled != 0) {
        const double dark = table ? uniform(random, 0.4, 0.8) : uniform(random, 0.15, 0.4);
        const int width = std::max(1, int(std::lround(height / 40)));
        cv::Mat lines = lines_of(ink.size(), kind.ruled, cell, {margin, margin}, width);
        photo = photo.mul(1 - dark * lines);
    }
    if (kind.light)
        photo += contrast * (255 - ground) * ink;
    else
        photo = cv::min(photo, ground * (1 - contrast * ink));
    lay_beside(photo, kind.beside, random, margin);
    if (kind.shadow > 0) {
        const double edge = uniform(random, 0.2, 0.8) * photo.cols, lean = uniform(random, -0.5, 0.5);
        const double soft = uniform(random, 2, 60);
        for (int y = 0; y < photo.rows; ++y)
            for (int x = 0; x < photo.cols; ++x)
                photo.at<float>(y, x) *=
                    float(1 - kind.shadow / (1 + std::exp((x - edge - lean * y) / soft)));
    }
    cv::GaussianBlur(photo, photo, {}, kind.blur);
    cv::Mat grain(photo.size(), CV_32F);
    cv::RNG(random()).fill(grain, cv::RNG::NORMAL, 0, kind.noise);
    photo += grain;
    photo.convertTo(page.gray, CV_8U);
    return page;
}

MadePage made_grid(int side, const NextDigit& next, std::mt19937& random) {
    constexpr int cell = 60, margin = 60, desk = 120;
    const int grid = side * cell, sheet = grid + 2 * margin, all = sheet + 2 * desk;
    MadePage page;
    page.gray = cv::Mat(all, all, CV_8U, cv::Scalar(80));
    page.gray(cv::Rect(desk, desk, sheet, sheet)).setTo(230);
    const cv::Point corner(desk + margin, desk + margin);
    for (int i = 0; i <= side; ++i) {
        const int pen = i % 3 == 0 ? 5 : 2;
        cv::line(page.gray, corner + cv::Point(i * cell, 0), corner + cv::Point(i * cell, grid), 60, pen);
        cv::line(page.gray, corner + cv::Point(0, i * cell), corner + cv::Point(grid, i * cell), 60, pen);
    }
    for (int i = 0; i < side * side; ++i) {
        if (random() % 5 >= 2) {
            page.digits += '.';
            continue;
        }
        const auto [pixels, label] = next();
        page.digits += char('0' + label);
        cv::Mat ink;
        const double height = uniform(random, 28, 40), times = height / 20;
        cv::Mat(28, 28, CV_8U, const_cast<std::uint8_t*>(pixels)).convertTo(ink, CV_32F, 1 / 255.0);
        ink = ink(cv::Rect(4, 4, 20, 20));
        cv::resize(ink, ink, {}, times, times, cv::INTER_CUBIC);
        const int room = cell - ink.cols, left = int(room / 2 + uniform(random, -5, 5)),
                  top = int(room / 2 + uniform(random, -5, 5));
        const cv::Rect at(corner + cv::Point(i % side * cell + left, i / side * cell + top), ink.size());
        cv::Mat paper;
        page.gray(at).convertTo(paper, CV_32F);
        paper -= cv::max(ink, 0).mul(paper - 50);
        paper.convertTo(page.gray(at), CV_8U);
    }
    const double turn = uniform(random, -12, 12) * CV_PI / 180, middle = all / 2.0;
    std::array<cv::Point2f, 4> from, to;
    for (std::size_t i = 0; i < 4; ++i) {
        from[i] = cv::Point2f(i == 1 || i == 2 ? float(all) : 0, i >= 2 ? float(all) : 0);
        const double x = from[i].x - middle, y = from[i].y - middle, most = 0.06 * all;
        to[i] = cv::Point2f(
            float(middle + 0.85 * (x * std::cos(turn) - y * std::sin(turn)) + uniform(random, -most, most)),
            float(middle + 0.85 * (x * std::sin(turn) + y * std::cos(turn)) + uniform(random, -most, most)));
    }
    cv::warpPerspective(page.gray, page.gray, cv::getPerspectiveTransform(from.data(), to.data()),
                        page.gray.size(), cv::INTER_LINEAR, cv::BORDER_CONSTANT, 80);
    cv::Mat noise(page.gray.size(), CV_16S);
    cv::RNG numbers(random());
    numbers.fill(noise, cv::RNG::NORMAL, 0, 4);
    cv::add(page.gray, noise, page.gray, cv::noArray(), CV_8U);
    cv::GaussianBlur(page.gray, page.gray, {}, 0.7);
    return page;
}

}  // namespace knn::test
