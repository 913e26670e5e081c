#include "app/console/progress.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "app/console/output.h"
#include "app/console/terminal.h"

namespace knn {

namespace {

constexpr std::string_view clear_line = "\r\x1b[K";

std::string padded(const std::string& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

}  // namespace

std::string duration(double seconds) {
    const auto s = std::llround(std::ceil(std::max(seconds, 0.0)));
    if (s < 60) return std::to_string(s) + " s";
    if (s < 3600) return std::to_string(s / 60) + " min " + std::to_string(s % 60) + " s";
    return std::to_string(s / 3600) + " h " + std::to_string(s % 3600 / 60) + " min";
}

std::string progress_line(std::int64_t done, std::int64_t total, double elapsed_s, int width,
                          const std::string& what) {
    constexpr int longest_bar = 40, shortest_bar = 8;
    const double part =
        total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 0;
    std::string text = padded(std::to_string(static_cast<int>(part * 100)), 3) + " %";
    if (part > 0) text += "  " + duration(elapsed_s * (1 - part) / part) + " left";
    // The last column stays free: some terminals wrap when it is written.
    const std::string head = what + "  ";
    const int available =
        width - 1 - static_cast<int>(head.size() + 4 + std::max<std::size_t>(text.size(), 20));
    if (available < shortest_bar) return text.substr(0, static_cast<std::size_t>(std::max(width - 1, 0)));
    const auto length = static_cast<std::size_t>(std::min(available, longest_bar));
    const auto filled = static_cast<std::size_t>(part * static_cast<double>(length));
    return head + '[' + std::string(filled, '#') + std::string(length - filled, '.') + "]  " + text;
}

Progress::~Progress() {
    if (drawn_) print_to_stderr(clear_line);
}

void Progress::update(std::int64_t done, std::int64_t total) {
    const Clock::time_point now = Clock::now();
    if (!shown_ || now - last_ < interval) return;
    last_ = now;
    drawn_ = true;
    const double elapsed_s = std::chrono::duration<double>(now - start_).count();
    print_to_stderr(std::string(clear_line) + progress_line(done, total, elapsed_s, terminal_width(), what_));
}

}  // namespace knn
