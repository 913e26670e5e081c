#pragma once
/// The steps of digit_image.h in order. Included only by digit_image*.cpp.

#include <algorithm>
#include <opencv2/core.hpp>
#include <span>
#include <string>
#include <vector>

#include "data/file/transfer.h"
#include "data/picture/digit_image.h"

namespace knn::digit {

/// Darkness of the ink in each pixel, 0 (paper) to 1 (black), at working size; lengths below are in working
/// pixels.
struct Ink {
    cv::Mat amount;  ///< CV_32F
    cv::Matx33d to_picture =
        cv::Matx33d::eye();  ///< from working pixels to pixels of the picture, a homography
    double noise = 0;        ///< standard deviation of paper, in units of `amount`
    bool light = false;      ///< light ink on a dark background
    cv::Mat evened;          ///< CV_8U, dark on light, for display
    cv::Mat paper;           ///< CV_8U, brightness of the paper
};

/// From pixels of a picture at `scale` to those of the picture.
inline cv::Matx33d to_full_size(double scale) {
    return cv::Matx33d::diag({1 / scale, 1 / scale, 1});
}

/// A connected component.
struct Part {
    cv::Rect box;
    double area = 0;        ///< pixels
    double peak = 0;        ///< of the ink, 98th percentile
    double mass = 0;        ///< sum of the ink
    double pen = 0;         ///< width of the stroke, pixels
    int edges = 0;          ///< pixels on the picture's border
    int label = 0;          ///< in Parts::labels
    bool of_table = false;  ///< erased lines joined it to others, as a table, which holds four at least
    int whole = 0;          ///< equal for parts that fainter ink joins, as where the pen was lifted a little
};

struct Parts {
    cv::Mat labels;  ///< CV_32S, 0 = paper
    std::vector<Part> parts;
    double speck_mass = 0;  ///< of components that were too small
};

/// A page of digits at the size at which the digits have about 48 pixels.
struct Page {
    Ink ink;
    Parts parts;
    double size = 0;  ///< usual height of a digit, working pixels; 0: no ink was found
};

/// The middle one in order, of an even number the second of the two. There is one at least.
template <class Value>
Value median_of(std::vector<Value> values) {
    const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Calls work(rows) for bands of a large picture, and looks for a stop before each.
template <class Work>
void for_bands(int rows, const Work& work) {
    constexpr int band = 256;
    for (int y = 0; y < rows; y += band) {
        throw_if_stopped();
        work(cv::Range(y, std::min(rows, y + band)));
    }
}

inline constexpr double digit_side = 48;     ///< working pixels of a page's digit: 20 are needed in the end
inline constexpr double most_pixels = 16e6;  ///< of a page at that size

/// Of a picture or page: what more of them take grows with the square of their number.
inline constexpr std::size_t most_marks = 50'000;

/// The parts of one digit.
struct Group {
    std::vector<Part> parts;
    cv::Rect box;
    double mass = 0, peak = 0, pen = 0;
    int row = 0;  ///< of the page
};

/// Ink at working size: 0 elsewhere, 1 for full ink.
struct Strokes {
    cv::Mat levels;    ///< CV_32F
    cv::Point corner;  ///< working pixel of the first
    double pen = 0;    ///< width of the stroke
};

// digit_image_sheet.cpp

/// A sheet of paper, cut out of a picture. Around it, up to its bounding box, its paper is continued.
struct Sheet {
    cv::Mat gray;      ///< empty if the picture shows none, or nothing else
    cv::Point corner;  ///< of `gray` in the picture, its upper left pixel
};
Sheet find_sheet(const cv::Mat& gray);

// digit_image_ink.cpp

/// Working size, polarity, illumination of a picture of one digit.
Ink find_ink(const cv::Mat& gray);
/// The scale at which a page is looked at while the size of its digits is unknown: at most 1200 pixels a side.
double scale_of_page(const cv::Mat& gray);
/// Whether the ink is lighter than the paper, by three widths, as the size of the digits is unknown.
bool has_light_ink(const cv::Mat& work);
/// The page and the size of its digits.
Page find_page(const cv::Mat& gray);
/// A page whose digits have digit_side pixels; ink counts where `where` (CV_8U) is 255.
Page find_page_of_size(const cv::Mat& work, bool light, const cv::Mat& where);
/// A copy, resized by a factor; a side that would vanish keeps a pixel.
cv::Mat scaled(const cv::Mat& mat, double scale);

// digit_image_parts.cpp

/// Pixels of a mask that touch, also at corners.
struct Component {
    cv::Rect box;
    int label = 0, area = 0;
};
/// All of them, by label; `labels` (CV_32S) has 0 elsewhere. Throws DataError if their boxes overlap so much that looking at
/// each in its box would last, as those of shapes within shapes do.
std::vector<Component> components_of(const cv::Mat& mask, cv::Mat& labels);
/// Ink without paper and ruled lines, as connected components. `size`: of the digits of a page, or 0 for a
/// picture of one digit.
Parts find_parts(const Ink& ink, double size = 0);
/// The strongest ink near each pixel of `own` (CV_32F, 0 where there is other ink), the ink of a part with this box and
/// peak. A faint part of a stroke is measured by this, not by the digit's darkest part.
cv::Mat local_peak(const cv::Mat& own, const cv::Rect& box, double peak);

// digit_image_boxes.cpp

/// Erases the lines of boxes that are around other ink from `mask` (CV_8U, 255: ink).
void erase_boxes(cv::Mat& mask);
/// Removes the teeth of combs, short upright lines at equal distances, between digits of this height.
void erase_combs(std::vector<Part>& parts, double usual);
/// Without lines below digits.
void erase_underlines(std::vector<Part>& parts);

// digit_image_groups.cpp

/// The digit of a picture; `refused`: why there is none.
Group one_group(const Parts& parts, cv::Size size, std::string& refused);
/// The digits of a page in any order.
std::vector<Group> all_groups(const Page& page);
void join(Group& group, const Part& part);
/// Puts the groups into rows from the top, each from the left, and numbers the rows in `row`.
void sort_into_rows(std::vector<Group>& groups);
/// The value that a share of the ink of these parts reaches; 0 if there are none.
double reached_by(std::vector<Part> parts, double share, double (*value)(const Part& part));
/// Removes what is much fainter than the pen and no end of its strokes, such as print from the other side, of which there may
/// be more than of the pen.
void erase_faint(std::vector<Part>& parts);
/// Whether a part is a long thin stroke; a table's corner, a thumb or a stain are not.
bool is_stroke(const Part& part);
/// Whether a part runs along the picture's border, as the edge of a page does; a digit only touches it.
bool is_border(const Part& part, cv::Size size);
double size_of(const cv::Rect& box);

// digit_image_marks.cpp

/// A minus sign or a decimal point.
struct Mark {
    char sign;
    cv::Rect box;
    int row = 0;
};
/// Those of a page, which are taken out of its parts.
std::vector<Mark> take_marks(Page& page);
/// Sorts them by the rows of the digits, from the left; drops what is beside no digit.
void set_rows(std::vector<Mark>& marks, std::span<const Group> groups, double usual);

// digit_image_form.cpp

/// Numbers of boxes in lists of similar heights: the digits of each list fit one scale.
std::vector<std::vector<int>> boxes_by_height(std::span<const FormBox> boxes);
/// The form of a picture without perspective, its frame being the border, so large that the digits of its boxes have digit_side
/// pixels. Throws DataError where no frame is found.
Page find_form(const cv::Mat& gray, FormFrame frame, std::span<const FormBox> boxes);
/// The digits of a form, box by box from the left; `row`: the index of the box. Takes rests of the boxes' lines out of the parts.
std::vector<Group> groups_of_boxes(Page& page, std::span<const FormBox> boxes);

// digit_image_strokes.cpp

/// The ink of one group, without other ink.
Strokes strokes_of(const Ink& ink, const Parts& parts, const Group& group);
/// Strokes that may be several digits that touch: ways to cut them into 2 or more from the left, at most
/// three.
std::vector<std::vector<Strokes>> cuts_of(const Strokes& strokes, double usual);
/// The same with MNIST's stroke width; `pen`: the current width, in pixels of `levels`.
cv::Mat with_usual_pen(const cv::Mat& levels, double pen);
/// `levels` as 28×28 the way MNIST was made, the digit's longer side `longest` pixels. CV_8U.
cv::Mat placed(const cv::Mat& levels, int longest);
/// The bounding box of pixels above 0.5.
cv::Rect box_of(const cv::Mat& levels);

}  // namespace knn::digit
