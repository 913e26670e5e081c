#pragma once
/// The progress bar of a search.

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace knn {

/// One line of at most `width` characters: "searching  [#####.....]  50 %  3 s left".
std::string progress_line(std::int64_t done, std::int64_t total, double elapsed_s, int width,
                          const std::string& what = "searching");

/// "3 s", "2 min 5 s", "1 h 10 min".
std::string duration(double seconds);

/// Draws on standard error, at most ten times per second; the destructor clears the line.
class Progress {
  public:
    /// `delay_ms`: no bar for shorter work.
    explicit Progress(bool shown, int delay_ms = 0, std::string what = "searching")
        : what_(std::move(what)),
          shown_(shown),
          last_(start_ - interval + std::chrono::milliseconds(delay_ms)) {}
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    void update(std::int64_t done, std::int64_t total);

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr auto interval = std::chrono::milliseconds(100);
    std::string what_;
    bool shown_, drawn_ = false;
    Clock::time_point start_ = Clock::now(), last_;
};

}  // namespace knn
