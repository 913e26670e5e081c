#pragma once
/// Output of results, notices and errors, and the files that a command writes.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/option_table.h"
#include "data/file/atomic_file.h"

namespace knn {

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
    /// Puts all in place. Throws Interrupted instead if the user asked to stop.
    void commit();

  private:
    std::vector<std::unique_ptr<AtomicFile>> files_;
    std::vector<std::string> names_;  ///< without standard output
};

/// One of several files.
struct OutputFile {
    std::string file;
    std::function<void(std::ostream&)> write;
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

}  // namespace knn
