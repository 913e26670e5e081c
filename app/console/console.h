#pragma once
/// The console: signals that end the program, the output of results and files, progress bars and notes.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/cli/option_table.h"
#include "app/cli/options.h"
#include "data/core/clock.h"
#include "data/core/progress_token.h"
#include "data/file/atomic_file.h"
#include "data/set/locate.h"

namespace knn {

/// From now on the first SIGINT, SIGTERM or SIGHUP sets the flag, which also ends blocked transfers, and the
/// second ends the process at once. A SIGHUP that was ignored stays ignored (nohup).
/// A codec that crashes ends the process with an error of one line that names the picture, and exit code 1.
/// SIGPIPE and SIGXFSZ are ignored: a reader that went away and a file that grew too large are errors of write().
void watch_for_interrupts();

/// Set once the user asked to stop.
const std::atomic<bool>& stop_flag();

/// That signal; 0 before.
int stop_signal();

/// From now on the first signal lets work go on: it sets signal_flag() alone, and end_work() the other.
void finish_work_first();
const std::atomic<bool>& signal_flag();
void wait_for_signal();
void end_work();

/// Throws Interrupted if the user asked to stop.
void stop_if_asked();

/// While it lives, the process ends by itself 0.15 s after the user asked to stop, with exit code 130 and without
/// destructors: for work that does not look at the flag, such as that of picture codecs.
class StopDeadline {
  public:
    StopDeadline();

  private:
    std::jthread watcher_;  ///< none where the system refuses a thread: a stop then waits for the work
};

/// Whether the three functions below print nothing from here on: of several ranks one prints.
void silence_output(bool silenced);

/// Whether `OutputFiles::commit` says "wrote NAME" of each file on standard error.
void announce_files(bool announced);

/// To standard output, at once. A reader that went away is no error (`mnist-knn evaluate | head -1`): the
/// rest is dropped. Throws DataError if it cannot be written for another reason.
void print(std::string_view text);

/// A message of the library with its settings as options: §engine becomes --engine, §k becomes -k. What is no option, as in
/// the name of a file, stays.
std::string as_options(std::string_view message);

/// To standard error. `print_line_to_stderr` makes one line "mnist-knn: TEXT" of `harmless` characters.
void print_to_stderr(std::string_view text);
void print_line_to_stderr(std::string_view text);

/// Files that are written together: all are complete, or none is there. "-" is standard output, with the rules of `print`.
class OutputFiles {
  public:
    /// Throws as AtomicFile.
    std::ostream& open(const std::string& file);
    /// Throws if one of them could not be written: between parts, so that a full disk ends the work early.
    void check() const;
    /// Whether one of them is standard output.
    bool has_standard_output() const { return names_.size() < files_.size(); }
    /// Puts all in place. Throws Interrupted instead if the user asked to stop.
    void commit();

  private:
    std::vector<std::unique_ptr<AtomicFile>> files_;
    std::vector<std::string> names_;  ///< without standard output
};

/// One of several files.
struct OutputFile {
    std::string file;
    std::function<void(std::ostream&)> write =
        {};  ///< null: what an earlier run has written there is removed
};

/// Writes all files, or none. `folder` is made before, and removed again if it stays empty. Throws as OutputFiles.
void write_outputs_together(std::span<const OutputFile> files, const std::string& folder = "");
void write_output(const std::string& file, std::span<const std::uint8_t> bytes);

void put(std::ostream& out, std::span<const std::uint8_t> bytes);

/// Writes these files, except those that the user did not ask for, whose names are empty. Then prints `text`, also if they
/// could not be written, unless one of them is standard output, which then holds nothing else.
void write_results(std::vector<OutputFile> files, std::string_view text, const std::string& folder = "");

/// Throws UsageError if two of these files are one, under any spelling. Of those that options name `main` does.
void check_distinct(const std::vector<OutputPlace>& outputs);

/// Before the work begins. Throws DataError where an output is one of `inputs` under any name ("-" among them is standard
/// input), is the file of standard output, has a name by which a data set is read, would hide a part of one, would replace a file
/// that neither the command line names nor an earlier run wrote, or cannot be written.
void check_outputs(const std::vector<OutputPlace>& outputs, const std::vector<std::filesystem::path>& inputs);

/// Opens closed standard descriptors so that reading and writing them fails, and no file opened later gets
/// their number and their output.
void occupy_standard_descriptors();

/// Whether to print in color: `wanted`, or by itself on a terminal that TERM
/// names, that is not "dumb", and without NO_COLOR.
bool use_color(When wanted);

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

/// A note for the user if the data is synthetic, or if incomplete data sets were skipped; else empty. `of_pictures`: the command
/// compares a user's pictures with the data; what that costs without MNIST.
std::string data_notice(const DataLocation& location, bool of_pictures = false);

/// Prints "note: TEXT" on standard error, unless the text is empty; also with --quiet, for notes that change the
/// meaning of the results.
void note(const std::string& text);
/// The same, except with --quiet.
void note(const std::string& text, const OutputOptions& output);

}  // namespace knn
