/// Separates ink from paper, finds connected components.

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "data/picture/digit_image_steps.h"

namespace knn::digit {

namespace {

constexpr double min_contrast = 0.07;  // pencil on gray paper; the texture of paper is below
constexpr double share_of_peak = 0.4;  // edge of a part: close to the edge of the stroke, blurred or not
constexpr double peak_reach = 0.12;    // how far the peak of a part reaches, of its size
constexpr double faintest = 0.35;      // peak of the faintest stroke of a part, of the part's

/// Value at a share of the histogram of `amount` where `labels` is `label`.
double percentile(const cv::Mat& amount, const cv::Mat& labels, const cv::Rect& box, int label,
                  double share) {
    std::array<int, 256> counts{};
    int total = 0;
    for (int y = box.y; y < box.br().y; ++y)
        for (int x = box.x; x < box.br().x; ++x)
            if (labels.at<int>(y, x) == label) {
                ++counts[static_cast<std::size_t>(255 * amount.at<float>(y, x))];
                ++total;
            }
    int left = int(share * total);
    for (std::size_t level = 0; level < counts.size(); ++level)
        if ((left -= counts[level]) < 0) return (double(level) + 0.5) / 255;
    return 1;
}

/// A bound on the darkness of nearly all ink of `lines`.
double darkness(const cv::Mat& amount, const cv::Mat& lines) {
    cv::Mat labels;
    lines.convertTo(labels, CV_32S, 1 / 255.0);
    return percentile(amount, labels, {0, 0, lines.cols, lines.rows}, 1, 0.9);
}

Part measured(const cv::Mat& amount, const cv::Mat& labels, const cv::Rect& box, int label) {
    Part part;
    part.box = box;
    part.label = label;
    part.peak = percentile(amount, labels, box, label, 0.98);
    cv::Mat own = labels(box) == label, padded, depth;
    part.area = cv::countNonZero(own);
    part.mass = cv::mean(amount(box), own)[0] * part.area;
    cv::copyMakeBorder(own, padded, 1, 1, 1, 1, cv::BORDER_CONSTANT, 0);
    cv::distanceTransform(padded, depth, cv::DIST_L2, 3);
    // The mean depth of a stroke of width w is w/4.
    part.pen = 4 * cv::mean(depth, padded)[0] - 1;
    const auto edge = [&](bool at, const cv::Mat& line) { part.edges += at ? cv::countNonZero(line) : 0; };
    edge(box.y == 0, own.row(0));
    edge(box.x == 0, own.col(0));
    edge(box.br().y == labels.rows, own.row(own.rows - 1));
    edge(box.br().x == labels.cols, own.col(own.cols - 1));
    return part;
}

/// Keeps the pixels of each component that are darker than a share of its own peak: pencil next to a black
/// mark is still ink, the halo of a black mark is not. If the pen is much darker than the `lines` of the
/// paper, pixels no darker than these belong to a line.
cv::Mat sharpened(const cv::Mat& amount, const cv::Mat& mask, double lines) {
    cv::Mat labels, result = cv::Mat::zeros(mask.size(), CV_8U);
    for (const auto& [box, label, area] : components_of(mask, labels)) {
        if (area < 6) continue;
        const double peak = percentile(amount, labels, box, label, 0.98);
        cv::Mat own = cv::Mat::zeros(box.size(), CV_32F);
        amount(box).copyTo(own, labels(box) == label);
        const cv::Mat peaks =
            cv::min(local_peak(own, peak_reach * std::max(box.width, box.height), faintest * peak), peak);
        const cv::Mat least = cv::max(share_of_peak * peaks, std::min(1.2 * lines, 0.6 * peak));
        result(box).setTo(255, own > least);
    }
    return result;
}

}  // namespace

cv::Mat local_peak(const cv::Mat& own, double reach, double least) {
    const int step = std::max(1, int(reach / 3));
    cv::Mat small((own.rows + step - 1) / step, (own.cols + step - 1) / step, CV_32F, cv::Scalar(least));
    for (int y = 0; y < own.rows; ++y) {
        const float* from = own.ptr<float>(y);
        float* to = small.ptr<float>(y / step);
        for (int x = 0; x < own.cols; ++x)
            to[x / step] = std::max(to[x / step], from[x]);
    }
    const int width = 2 * int(std::ceil(reach / step)) + 1;
    cv::dilate(small, small, cv::Mat::ones(width, width, CV_8U));
    cv::GaussianBlur(small, small, {}, 1);
    cv::Mat result;
    cv::resize(small, result, own.size(), 0, 0, cv::INTER_LINEAR);
    return result;
}

std::vector<Component> components_of(const cv::Mat& mask, cv::Mat& labels) {
    cv::Mat stats, centers;
    const int count = cv::connectedComponentsWithStats(mask, labels, stats, centers, 8);
    std::vector<Component> all;
    for (int i = 1; i < count; ++i) {
        const int* stat = stats.ptr<int>(i);
        all.push_back({{stat[0], stat[1], stat[2], stat[3]}, i, stat[cv::CC_STAT_AREA]});
    }
    return all;
}

Parts find_parts(const Ink& ink, double size) {
    const double least = std::max(min_contrast, 4.5 * ink.noise);
    cv::Mat mask = sharpened(ink.amount, ink.amount > least, 0);
    const cv::Mat lines = size > 0 ? erase_page_lines(mask, size) : erase_ruled_lines(mask);
    // A shadow edge across the lines connects everything, and the peak is then not the pen's.
    if (cv::countNonZero(lines) > 0) mask = sharpened(ink.amount, mask, darkness(ink.amount, lines));
    Parts result;
    const double speck = size > 0 ? 0.003 * size * size : 12 + 1e-5 * double(mask.total());
    for (const auto& [box, label, area] : components_of(mask, result.labels)) {
        if (area < speck)
            result.speck_mass += area;
        else
            result.parts.push_back(measured(ink.amount, result.labels, box, label));
    }
    return result;
}

}  // namespace knn::digit
