#pragma once
/// A picture drawn with OpenCV. Included only by files that a build without OpenCV omits.

#include <cstdint>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

namespace knn {

using Color = cv::Scalar;  ///< blue, green, red

/// From 0xRRGGBB.
Color rgb(int hex);

inline const Color paper = rgb(0xffffff), ink = rgb(0x1d2733), faint_ink = rgb(0x5d6b7a);
inline const Color right_ink = rgb(0x1f5fa6), wrong_ink = rgb(0xb8390d);

/// Alignment of text relative to its x.
enum class Side { left, center, right };

/// Draws `fine` times larger and reduces at the end, which smooths OpenCV's stroke font.
/// All arguments are in pixels of the finished picture; text is placed by its baseline and sized by the
/// height of its capitals.
class Canvas {
  public:
    Canvas(double width, double height, int fine = 4, const Color& ground = paper);

    void box(double x, double y, double width, double height, const Color& color);
    void text(const std::string& words, double x, double y, double height, const Color& color = faint_ink,
              Side side = Side::left, double stroke = 0.13);
    /// Printable text that is at most `max_width` pixels wide: reduced to `share` of its height, then shortened. Returns its
    /// width.
    double fitted(const std::string& words, double x, double y, double height, double max_width, double share,
                  const Color& color = faint_ink, Side side = Side::left, double stroke = 0.13);
    /// Reads from bottom to top, centered at (x, y).
    void text_upward(const std::string& words, double x, double y, double height,
                     const Color& color = faint_ink);
    /// An arrow to the right that starts at x, on the middle of capitals of this height with baseline y.
    void arrow(double x, double y, double length, double height);
    void line(double x1, double y1, double x2, double y2, double width, const Color& color);
    /// A filled circle around (x, y).
    void disc(double x, double y, double radius, const Color& color);
    /// rows × cols of 8-bit gray as a square of `side` pixels, aspect preserved, on black.
    void image(const std::uint8_t* gray, int rows, int cols, double x, double y, double side);

    /// Width of text of this height, in pixels.
    static double width_of(const std::string& words, double height);

    /// The finished picture: 8-bit blue, green, red, without gaps.
    cv::Mat picture() const;

  private:
    int fine_;
    cv::Mat mat_;
};

/// rows × cols of 8-bit gray, read only.
cv::Mat gray_mat(int rows, int cols, const std::uint8_t* gray);

/// Enlarged without interpolation, so that every pixel can be seen, or reduced by averaging; at least one pixel.
cv::Mat zoomed(const cv::Mat& picture, double zoom);

/// Copies what of `part` lies in `whole` if its corner is put there.
void paste(cv::Mat& whole, const cv::Mat& part, cv::Point corner);

/// Pixels of 8-bit gray, or blue, green, red, as a PNG in color.
std::vector<std::uint8_t> png_of(const cv::Mat& picture);

/// Text for OpenCV's font: each unsupported character, of any number of bytes, becomes one question mark.
std::string printable(const std::string& text);

/// The printable text, cut off after the last letter that fits in `max_width` pixels, with three dots.
std::string shortened(const std::string& text, double height, double max_width);

}  // namespace knn
