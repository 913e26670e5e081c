#pragma once
/// Output of results, notices and errors.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace knn {

/// From here on the three functions below print nothing, until `unsilence_output`: of several ranks one prints.
void silence_output();
void unsilence_output();

/// To standard output, at once. A reader that went away is no error (`mnist-knn evaluate | head -1`): the
/// rest is dropped. Throws DataError if it cannot be written for another reason.
void print(std::string_view text);

/// To standard error. `print_line_to_stderr` makes one line "mnist-knn: TEXT" of `harmless` characters.
void print_to_stderr(std::string_view text);
void print_line_to_stderr(std::string_view text);

/// Lets `write` fill `file`, whole or not at all; "-" is standard output, with the rules of `print`. Throws
/// Interrupted, and leaves no file, if the user asks to stop meanwhile. `before_in_place` runs after
/// everything is written and before the file is renamed; if it throws, the file is not renamed.
void write_output(const std::string& file, const std::function<void(std::ostream&)>& write,
                  const std::function<void()>& before_in_place = {});
void write_output(const std::string& file, std::string_view text);
void write_output(const std::string& file, std::span<const std::uint8_t> bytes);

/// One of several files.
struct OutputFile {
    std::string file;
    std::function<void(std::ostream&)> write;
};

/// Those that the user asked for: an option that was not given leaves the name empty.
std::vector<OutputFile> asked_for(std::vector<OutputFile> files);

/// Whether one of them is standard output, which then holds nothing else.
bool take_standard_output(std::span<const OutputFile> files);

/// All files, or none if one cannot be written or the user asks to stop: each is put in its place only
/// when all are written. What is no regular file is written straight. Throws as `write_output`.
void write_outputs_together(std::span<const OutputFile> files);

/// Files that are written at the same time, part by part.
class OutputStreams {
  public:
    std::ostream& operator[](std::size_t i) const { return *streams_[i]; }
    /// To be called between parts, so that a full disk ends the work early: `write_outputs_at_once` then throws.
    void check() const;

  private:
    friend void write_outputs_at_once(std::span<const std::string> files,
                                      const std::function<void(const OutputStreams&)>& work);
    void open_next(std::span<const std::string> files, const std::function<void(const OutputStreams&)>& work);
    std::vector<std::ostream*> streams_;
    std::vector<bool> may_end_early_;  ///< standard output, whose reader may go away
};

/// Lets `work` fill all files at once, in their order; all are put in their places when it is done, or none if
/// it throws or one cannot be written. Throws as `write_output`, and whatever `work` throws.
void write_outputs_at_once(std::span<const std::string> files,
                           const std::function<void(const OutputStreams&)>& work);

/// Whether `file` is "-", or one of the system's names for standard output.
bool is_standard_output(const std::string& file);

/// Check before a long search that the outputs can be written. Throw DataError.
void check_output_file(const std::string& file);
void check_output_folder(const std::string& folder);

}  // namespace knn
