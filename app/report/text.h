#pragma once
/// The report for people, and the phrases that all reports have in common.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "classifier/evaluation.h"
#include "data/core/format.h"

namespace knn {

/// What the rows of a data set are called, "image" or "row", and how large they are: "28 x 28", "4 float64 columns".
std::string row_noun(const Dataset& data);
std::string row_text(const Dataset& data);

/// The name of a class where there is little room.
std::string class_text(const std::string& name, std::size_t most = 20);
/// The names of the first five classes, "a, b, c, d, e, ..."; the whole names.
std::string classes_text(const Dataset& data, std::span<const std::uint8_t> labels);

/// "20 of 40 images"; of all of them "40 images".
std::string counted_of(std::int64_t count, std::int64_t all, const std::string& one);

/// A part of a whole as "12.34 %".
std::string share_text(std::int64_t part, std::int64_t whole);

/// The p of a test with three digits; more where these would lie on the other side of `significance`.
std::string p_text(double p);

/// A rate in three digits; nothing of one that is not known.
std::string rate_text(double value);

/// Spaces before the text, up to this width.
std::string aligned_right(const std::string& text, std::size_t width);

/// Escape sequences of terminals.
namespace ansi {
inline constexpr const char *plain = "\x1b[0m", *bold = "\x1b[1m", *dim = "\x1b[2m", *green = "\x1b[32m",
                            *red = "\x1b[31m", *bold_red = "\x1b[1;31m", *bold_green = "\x1b[1;32m",
                            *bold_yellow = "\x1b[1;33m";
}
/// The text in a style if there is color.
std::string styled(const std::string& text, const char* style, bool color);

/// Lines of a name and what is said of it, indented by `indent` spaces; without those of which nothing is said.
using Facts = std::vector<std::pair<std::string, std::string>>;
std::string facts_text(const Facts& facts, std::size_t indent = 0);

/// "search 1.2 ms, load 3.4 ms, other 1.0 ms, whole run 5.6 ms".
std::string times_text(double search_ms, double load_ms, double wall_ms);

/// Text for HTML and SVG, on one line.
std::string escaped(const std::string& text);

/// Everything: data set, device, settings, accuracy, confusion matrix, classes, times.
std::string text_report(const Evaluation& evaluation, bool color);

/// The output of -q: one line with the accuracy.
std::string accuracy_line(const Score& score);

/// The confusion matrix, rows true and columns predicted; with too many classes for a screen, the most
/// frequent confusions instead.
std::string confusion_text(const Score& score, bool color);

/// All of a method: "transform gradients, k = 5, metric l2, weights uniform, tie smallest".
std::string settings_text(const Method& method);

/// What is short enough for a picture: "method accurate, k = 4"; all settings of a method that has no name.
std::string short_method_text(const Method& method);

/// A device, an engine with its kernels, and a metric in one line each.
std::string device_text(const Device& device);
std::string engine_text(const Plan& plan);
std::string metric_text(const Measure& measure);

/// How several devices or ranks share the search; empty for one.
std::string spread_text(const Plan& plan);
/// How much longer the slowest of them searched; empty for one.
std::string imbalance_text(const Timeline& timeline);

/// What settings begin with: "transform LIST, ", or nothing if pixels are compared.
std::string features_text(const TransformSpec& transform);

/// One line per stage, and the sums.
std::string timing_text(const Evaluation& evaluation);

struct Inventory;
/// What `info` shows.
std::string inventory_text(const Inventory& inventory);

// Distances, computed from scores.

/// "squared distance", "L1 distance", "cosine distance" ..., where there is a transform "... of features"; "distance with shifted
/// pixels" by distortion, cells or both.
std::string distance_name(const Method& method);

/// The distance with just enough digits to identify it: for metrics that are not integral (see is_integral)
/// the number whose shortest decimal form is written to files.
double distance_number(const Measure& measure, std::uint32_t score);
/// The same of distance_of(); of real rows, whose distances are exact, it is the distance.
double number_for_files(const Measure& measure, double distance);

/// For display: whole integers, optionally with commas; others rounded, so that columns align.
std::string distance_text(const Measure& measure, std::uint32_t score, bool commas = false);

/// ASCII in lines that fit, at least one, each broken after a blank or a slash in its second half, or anywhere where there is none.
std::vector<std::string> wrapped(std::string_view text,
                                 const std::function<bool(const std::string& line)>& fits);

}  // namespace knn
