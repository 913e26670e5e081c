#include "app/console/console.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <exception>
#include <filesystem>
#include <ostream>
#include <thread>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/transfer.h"
#include "data/set/locate.h"
#include "data/vectors/vectors.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

/// Whether nothing is printed: another rank does.
bool silent = false;
bool announces = false;
/// What the command reads, as far as `check_outputs` was told.
std::vector<fs::path> read_files;

void check_writable(const fs::path& folder, const std::string& file) {
    std::error_code none;
    const fs::path place = folder.empty() ? "." : folder;
    if (!fs::exists(place, none))
        throw DataError(file + ": its folder is missing; expected a name in an existing folder");
    if (!fs::is_directory(place, none))
        throw DataError(file + ": " + place.string() +
                        " is no folder; expected a name in an existing folder");
    // Permissions do not tell: in /proc root may write, but make nothing.
    std::string made = place / ".mnist-knn-XXXXXX";
    if (::mkdtemp(made.data()) == nullptr || ::rmdir(made.c_str()) != 0) fail_to_write(file, errno);
}

/// While it is open, no other run puts files into the folder of `file`, so that files that belong together are those of one run.
/// Only for a moment: renaming takes no longer, and the lock may be that of a script around this program.
FileDescriptor locked_folder_of(const std::string& file) {
    const fs::path folder = follow_links(file).parent_path();
    FileDescriptor lock(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int i = 0; i < 500 && lock.is_open() && ::flock(lock.number(), LOCK_EX | LOCK_NB) != 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return lock;
}

/// New folders, which are removed again if nothing was written into them.
struct NewFolders {
    std::vector<fs::path> made;  ///< the innermost first

    NewFolders() = default;
    NewFolders(const NewFolders&) = delete;
    NewFolders& operator=(const NewFolders&) = delete;
    ~NewFolders() {
        std::error_code not_empty;
        for (const fs::path& folder : made)
            fs::remove(folder, not_empty);
    }

    void make(const fs::path& folder) {
        std::error_code error;
        for (fs::path part = folder; !part.empty() && !fs::exists(part, error); part = part.parent_path())
            made.push_back(part);
        fs::create_directories(folder, error);
        if (error)
            throw DataError(folder.string() + ": cannot be made: " + error.message() + "; expected a folder");
    }
};

/// The same for all spellings of one file.
fs::path place_of(const std::string& file) {
    if (is_standard_output(file)) return "-";
    std::error_code none;
    const fs::path end = fs::absolute(follow_links(file), none);
    const fs::path place = fs::weakly_canonical(end, none);
    const fs::path known = none ? end.lexically_normal() : place;
    return known.has_filename() ? known : known.parent_path();  // "folder/" is "folder"
}

/// Throws DataError where the system does not say whether it is there, as of too long a name.
bool is_there(const std::string& file, struct stat& status) {
    if (::stat(file.c_str(), &status) == 0) return true;
    if (errno != ENOENT && errno != ENOTDIR) fail_to_write(file, errno);
    return false;
}

/// Whether it is mounted by itself, as containers do: no other file can get its name.
bool is_mount(const std::string& file) {
    struct statx place = {};
    return ::statx(AT_FDCWD, file.c_str(), 0, 0, &place) == 0 &&
           (place.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/// Throw DataError if an output cannot be written, before a long search.
void check_output_file(const std::string& file) {
    if (const int number = descriptor_of(file); number >= 0) {
        if ((::fcntl(number, F_GETFL) & O_ACCMODE) == O_RDONLY)
            fail_to_write(number == STDOUT_FILENO ? "standard output" : file, EBADF);
        return;
    }
    struct stat status = {};
    const bool exists = is_there(file, status);
    if (exists && S_ISDIR(status.st_mode)) throw DataError(file + ": is a folder; expected a file");
    if (exists && S_ISBLK(status.st_mode)) throw DataError(file + ": is a disk; expected a file");
    if (exists && ::access(file.c_str(), W_OK) != 0) fail_to_write(file, errno);
    if (exists && !S_ISREG(status.st_mode)) return;  // a device or a pipe is written in place
    if (exists && is_mount(file))
        throw DataError(
            file + ": is mounted by itself, and cannot be replaced; expected a file in a mounted folder");
    check_writable(follow_links(file).parent_path(), file);
}

void check_not_read(const std::string& file, const std::string& option, const std::vector<fs::path>& inputs) {
    const fs::path written = is_standard_output(file) ? "/proc/self/fd/1" : file;
    std::error_code none;
    if (!fs::is_regular_file(written, none)) return;
    for (const fs::path& input : inputs)
        if (fs::equivalent(written, input == "-" ? fs::path("/proc/self/fd/0") : input, none))
            throw DataError(file + ": is read by this command (" + input.string() +
                            "); expected another file for " + option);
}

/// Throws DataError where `file` is what standard output was redirected to, so that one would replace the other.
void check_not_printed_to(const std::string& file, const std::string& option) {
    std::error_code none;
    if (!is_standard_output(file) && fs::is_regular_file(file, none) &&
        fs::equivalent(file, "/proc/self/fd/1", none))
        throw DataError(file + ": is standard output too; expected another file for " + option + ", or -");
}

/// The same of the folder alone: a link stays one.
fs::path entry_of(const fs::path& file) {
    return place_of(file.has_parent_path() ? file.parent_path() : ".") / file.filename();
}

/// The vectors whose labels are looked for under this name: of `inputs`, or others that are there and not written themselves.
fs::path vectors_read_with(const fs::path& name, const std::vector<OutputPlace>& outputs,
                           const std::vector<fs::path>& inputs) {
    for (const fs::path& input : inputs)
        for (const fs::path& labels : label_names(input))
            if (labels.filename() == name.filename() && entry_of(labels) == name) return input;
    for (const fs::path& vectors : vectors_of_labels(name)) {
        const auto is_it = [&](const OutputPlace& output) {
            return place_of(output.file) == place_of(vectors);
        };
        if (std::ranges::none_of(outputs, is_it)) return vectors;
    }
    return {};
}

/// Throws DataError where a data set would be read from what is written, unless it is written as one; or where it would then hide a
/// file of another spelling, or be hidden by it.
void check_no_data_set(const OutputPlace& output, const std::vector<OutputPlace>& outputs,
                       const std::vector<fs::path>& inputs) {
    if (is_standard_output(output.file)) return;
    std::error_code none;
    const fs::path entry = entry_of(output.file);
    for (const fs::path& name : {entry, place_of(output.file)}) {
        const std::vector<fs::path> spellings = other_spellings(name);
        const bool as_set = output.in_folder && name == entry;
        if (!as_set && !spellings.empty())
            throw DataError(output.file +
                            ": is a name by which a data set is read; expected another name for " +
                            output.option);
        for (const fs::path& other : spellings)
            if (fs::exists(fs::symlink_status(other, none)))
                throw DataError((fs::path(output.file).parent_path() / other.filename()).string() +
                                ": would be hidden by " + output.file + "; expected another folder for " +
                                output.option);
        if (const fs::path vectors = vectors_read_with(name, outputs, inputs); !vectors.empty())
            throw DataError(output.file + ": is a name by which the labels of " +
                            vectors.filename().string() + " are read; expected another name for " +
                            output.option);
    }
}

/// Throws DataError where a file is there that neither the command line names nor an earlier run wrote.
void check_own(const OutputPlace& output) {
    if (!output.is_own) return;
    std::error_code none;
    const auto refuse_if = [&](bool wrong, const char* what) {
        if (wrong)
            throw DataError(output.file + ": is " + what + "; expected another " +
                            (output.in_folder ? "folder" : "name") + " for " + output.option);
    };
    // The file that a link leads to is somebody's, and writing to a pipe would wait for a reader.
    refuse_if(fs::is_symlink(output.file, none), "a link, which no earlier run made");
    refuse_if(fs::is_other(output.file, none), "no regular file, as an earlier run makes it");
    refuse_if(fs::is_regular_file(output.file, none) && !output.is_own(),
              "there, and not from an earlier run");
}

void check_output_folder(const std::string& folder) {
    struct stat status = {};
    is_there(folder, status);
    std::error_code none;
    fs::path existing = fs::absolute(folder, none);
    if (none) fail_to_write(folder, none.value());  // the working folder is gone
    while (!fs::exists(existing, none) && !fs::is_symlink(existing, none) && existing.has_relative_path()) {
        const bool is_up = existing.filename() == "..";
        existing = existing.parent_path();
        if (is_up && !fs::exists(existing, none))
            throw DataError(
                folder + ": " + existing.string() +
                " is missing, and has no folder above it; expected a name without '..' behind it");
    }
    if (!fs::exists(existing, none) && fs::is_symlink(existing, none))
        throw DataError(folder + ": " + (fs::is_symlink(folder, none) ? "is" : existing.string() + " is") +
                        " a link to " + fs::read_symlink(existing, none).string() +
                        ", which is not there; expected a folder");
    if (!fs::is_directory(existing, none))
        throw DataError(folder + ": " + (fs::exists(folder, none) ? "is" : existing.string() + " is") +
                        " a file; expected a folder");
    check_writable(existing, folder);
}

}  // namespace

void silence_output(bool silenced) {
    silent = silenced;
}

void announce_files(bool announced) {
    announces = announced;
}

void print(std::string_view text) {
    if (!silent) write_output("-", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void print_to_stderr(std::string_view text) {
    if (silent) return;
    write_all(STDERR_FILENO, text);  // a failure cannot be reported
}

std::string as_options(std::string_view message) {
    std::string shown(message);
    for (std::size_t at = 0; (at = shown.find(setting_mark, at)) != shown.npos; at += setting_mark.size()) {
        const std::string name(setting_at(shown, at));
        const std::string option = (name.size() == 1 ? "-" : "--") + name;
        Options ignored;
        if (std::ranges::count(options_of(ignored), option, &Option::shown) > 0)
            shown.replace(at, setting_mark.size() + name.size(), option);
    }
    return shown;
}

void print_line_to_stderr(std::string_view text) {
    print_to_stderr("mnist-knn: " + harmless(as_options(text)) + '\n');
}

std::ostream& OutputFiles::open(const std::string& file) {
    stop_if_asked();
    if (!is_standard_output(file)) names_.push_back(file);
    return files_.emplace_back(std::make_unique<AtomicFile>(file))->stream();
}

void OutputFiles::check() const {
    for (const auto& file : files_)
        file->check();
}

void OutputFiles::commit() {
    for (const auto& file : files_)
        file->finish();
    for (const std::string& name : names_)  // which may have become a link since the work began
        check_not_read(name, "the output", read_files);
    const FileDescriptor lock = names_.size() > 1 ? locked_folder_of(names_.front()) : FileDescriptor();
    stop_if_asked();
    for (const auto& file : files_)
        file->put_in_place();
    if (!announces) return;
    for (const std::string& name : names_)
        print_line_to_stderr("wrote " + name);
}

void write_outputs_together(std::span<const OutputFile> files, const std::string& folder) {
    NewFolders made;
    if (!folder.empty()) made.make(folder);
    OutputFiles opened;
    for (const auto& [file, write] : files) {
        if (!write) continue;
        write(opened.open(file));
        opened.check();
    }
    opened.commit();
    for (const auto& [file, write] : files) {
        std::error_code error;
        if (!write) fs::remove(file, error);
        if (error)
            throw DataError(file + ": " + error.message() +
                            "; expected to remove what an earlier run has left");
    }
}

void write_output(const std::string& file, std::span<const std::uint8_t> bytes) {
    write_outputs_together(std::array{OutputFile{file, [&](std::ostream& out) { put(out, bytes); }}});
}

void write_results(std::vector<OutputFile> files, std::string_view text, const std::string& folder) {
    std::erase_if(files, [](const OutputFile& one) { return one.file.empty(); });
    const bool has_standard_output = std::any_of(
        files.begin(), files.end(), [](const OutputFile& one) { return is_standard_output(one.file); });
    std::exception_ptr failure;
    try {
        write_outputs_together(files, folder);
    } catch (const DataError&) {
        failure = std::current_exception();
    }
    if (!has_standard_output) print(text);
    if (failure) std::rethrow_exception(failure);
}

void put(std::ostream& out, std::span<const std::uint8_t> bytes) {
    out.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

void check_distinct(const std::vector<OutputPlace>& outputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i)
        for (const OutputPlace& other : std::span(outputs).first(i))
            if (place_of(outputs[i].file) == place_of(other.file))
                throw UsageError(other.option + ' ' + other.file + " and " + outputs[i].option + ' ' +
                                 outputs[i].file + ": the same place; expected two");
}

void check_outputs(const std::vector<OutputPlace>& outputs, const std::vector<fs::path>& inputs) {
    read_files.insert(read_files.end(), inputs.begin(), inputs.end());
    for (const OutputPlace& output : outputs) {
        check_not_read(output.file, output.option, inputs);
        check_not_printed_to(output.file, output.option);
    }
    check_not_read("-", "standard output", inputs);  // what is printed
    std::error_code none;
    for (const OutputPlace& output : outputs) {
        check_no_data_set(output, outputs, inputs);
        check_own(output);
        if (output.is_folder)
            check_output_folder(output.file);
        else if (!output.in_folder || fs::is_directory(fs::path(output.file).parent_path(), none))
            check_output_file(output.file);
    }
}

}  // namespace knn
