#pragma once
/// What standard output and standard error are connected to, and what is shown there beside the results: progress bars
/// and notes.

#include <cstdint>
#include <string>
#include <utility>

#include "app/cli/options.h"
#include "app/console/interrupt.h"
#include "data/core/clock.h"
#include "data/core/progress_token.h"
#include "data/set/locate.h"

namespace knn {

/// Opens closed standard descriptors so that reading and writing them fails, and no file opened later gets
/// their number and their output.
void occupy_standard_descriptors();

/// Whether to print in color: `wanted`, or by itself on a terminal that TERM
/// names, that is not "dumb", and without NO_COLOR.
bool use_color(When wanted);

/// Whether the locale writes UTF-8, by the variables that decide it, in their order.
bool is_utf8_locale();

/// Whether to draw a progress bar: `wanted`, or by itself where standard error is such a terminal.
bool use_progress(When wanted);

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
    static constexpr auto interval = std::chrono::milliseconds(100);
    std::string what_;
    bool shown_, drawn_ = false;
    Clock::time_point start_ = Clock::now(), last_;
};

/// When a bar is drawn: --quiet means never, unless --progress says otherwise.
inline When progress_when(const OutputOptions& output) {
    return output.quiet && output.progress == When::automatic ? When::never : output.progress;
}

/// For work that shows no progress: it ends early where the user asks to stop.
inline ProgressToken stoppable() {
    return {.progress = nullptr, .stop = &stop_flag()};
}

/// Runs `work` with a token that draws a bar on the terminal if it takes long enough, and handles Ctrl-C.
/// `what`: "searching".
template <class Work>
auto with_progress(const OutputOptions& output, const char* what, const Work& work) {
    constexpr int delay_ms = 300;
    const When wanted = progress_when(output);
    Progress progress(use_progress(wanted), wanted == When::always ? 0 : delay_ms, what);
    ProgressToken token = stoppable();
    token.progress = [&](std::int64_t done, std::int64_t total) { progress.update(done, total); };
    return work(token);
}

/// A note for the user if the data is synthetic, or if incomplete data sets were skipped; else empty.
std::string data_notice(const DataLocation& location);

/// The same for commands that compare a user's pictures with the data: what that costs without MNIST, and how to get it.
std::string data_notice_of_pictures(const DataLocation& location);

/// Prints "note: TEXT" on standard error, unless the text is empty; also with --quiet, for notes that change the
/// meaning of the results.
void note(const std::string& text);
/// The same, except with --quiet.
void note(const std::string& text, const OutputOptions& output);

}  // namespace knn
