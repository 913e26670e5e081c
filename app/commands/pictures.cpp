#include "app/commands/pictures.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <set>
#include <span>

#include "app/cli/values.h"
#include "app/console/console.h"
#include "app/report/answers.h"
#include "app/report/json_part.h"
#include "classifier/host.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/transfer.h"
#include "data/picture/picture_file.h"
#include "data/picture/picture_header.h"
#include "data/picture/picture_module.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

constexpr const char* picture_kinds = "a PNG, JPEG, BMP, TIFF, WebP or PNM file";

bool has_picture_ending(const fs::path& file) {
    constexpr std::array endings = {".png",  ".jpg", ".jpeg", ".bmp", ".tif", ".tiff",
                                    ".webp", ".pgm", ".ppm",  ".pbm", ".pnm"};
    const std::string name = file.string();
    return std::ranges::any_of(endings, [&](const char* ending) { return has_ending(name, ending); });
}

/// The bytes that tell the format of a file; none where reading would wait, as /proc/kmsg does, a regular file by its type.
std::vector<std::uint8_t> start_of(const fs::path& file) {
    std::vector<std::uint8_t> start(32);
    const FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    const ssize_t got = ::read(opened.number(), start.data(), start.size());
    start.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return start;
}

/// What of a folder is left out.
struct LeftOut {
    int folders = 0, links = 0;  ///< links: to folders
    int files = 0;               ///< of well-known formats that are not supported
    std::string file;            ///< "b.gif, a GIF file": one of them
};

/// Adds the pictures in a folder to `found`, with `recursive` also those in its folders, and folders that cannot be read.
void list_folder(const fs::path& folder, bool recursive, std::vector<PictureSource>& found,
                 LeftOut& left_out) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        stop_if_asked();
        std::error_code ignored;
        const fs::path& file = entry->path();
        if (file.filename().string().starts_with('.')) continue;
        const bool is_file = entry->is_regular_file(ignored);
        if (entry->is_directory(ignored)) {
            // A link to a folder above would never end.
            const bool is_link = entry->is_symlink(ignored);
            if (recursive && !is_link)
                list_folder(file, true, found, left_out);
            else
                ++(is_link ? left_out.links : left_out.folders);
        } else if (has_picture_ending(file)) {
            const bool leads_nowhere = entry->is_symlink(ignored) && !entry->exists(ignored);
            if (is_file || leads_nowhere) found.push_back({file.string(), ""});  // reading it tells
        } else if (is_file) {
            const std::vector<std::uint8_t> start = start_of(file);
            const std::string format = foreign_format(start);
            if (picture_header(start)) {
                found.push_back({file.string(), ""});
            } else if (!format.empty() && !format.ends_with("XML file")) {  // which may be about the pictures
                ++left_out.files;
                left_out.file = file.filename().string() + ", " + format;
            }
        }
    }
    if (error) found.push_back({folder.string(), error.message() + "; expected a folder that can be read"});
}

void add_folder(const std::string& folder, Subfolders subfolders, PictureSources& sources) {
    std::vector<PictureSource> found;
    LeftOut left_out;
    list_folder(folder, subfolders == Subfolders::read, found, left_out);
    const bool may_ask = subfolders == Subfolders::with_r;
    const std::string folders = counted(left_out.folders, "folder");
    const std::string links = counted(left_out.links, "linked folder");
    const std::string files = counted(left_out.files, "file") + " of other formats (" + left_out.file + ")";
    const auto fail = [&](const std::string& why) { sources.pictures.push_back({folder, why}); };
    if (found.empty() && left_out.files > 0)
        return fail("holds no pictures but " + files + "; expected " + picture_kinds +
                    ": convert them first");
    if (found.empty() && left_out.folders > 0)
        return fail("holds no pictures but " + folders + "; expected " +
                    (may_ask ? "-r to go into folders" : "pictures in it"));
    if (found.empty() && left_out.links > 0)
        return fail("holds no pictures but " + links +
                    "; expected the folder itself: links are not followed");
    if (found.empty())
        return fail(std::string("holds no pictures; expected a folder with at least ") + picture_kinds);
    const auto tell = [&](const std::string& what) { sources.notices.push_back(folder + ": " + what); };
    if (left_out.files > 0) tell(files + " left out; convert them to PNG first");
    if (left_out.folders > 0) tell(folders + " in it left out" + (may_ask ? "; -r goes into them" : ""));
    if (left_out.links > 0) tell(links + " in it left out; links are not followed");
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.file < b.file; });
    std::move(found.begin(), found.end(), std::back_inserter(sources.pictures));
}

/// "FILE: what; expected ..." without the file, which is stored separately.
std::string without_name(const std::string& message, const std::string& file) {
    const std::string start = file + ": ";
    return message.starts_with(start) ? message.substr(start.size()) : message;
}

void extract(PictureAnswer& answer, const ClassifyOptions& options, const Form* form, bool explained) {
    Picture picture = answer.file == "-" ? read_picture(STDIN_FILENO, "-") : read_picture(answer.file);
    if (options.rotate != Turn::none) picture = turned(std::move(picture), static_cast<int>(options.rotate));
    answer.rows = picture.rows;
    answer.cols = picture.cols;
    std::vector<Step>* steps = explained ? &answer.steps : nullptr;
    std::vector<DigitImage> digits;
    if (form != nullptr)
        digits = extract_form(picture, form->frame, form->boxes, steps);
    else if (options.reads_pages())
        digits = extract_digits(picture, steps, options.numbers ? &answer.marks : nullptr);
    else
        digits.push_back(extract_digit(picture, steps));
    for (DigitImage& digit : digits)
        answer.digits.emplace_back().image = std::move(digit);
    for (Step& step : answer.steps)
        reduce_step(step, options.reads_pages());
}

/// What a page takes at its working size, of 16 megapixels at most.
constexpr std::int64_t page_bytes = 500'000'000;

/// An error in one picture does not affect the others.
void try_to_extract(PictureAnswer& answer, const ClassifyOptions& options, const Form* form, bool explained,
                    PictureMemory& memory) {
    const auto clear = [&] {
        answer.digits.clear();
        answer.marks.clear();
        answer.steps.clear();
    };
    try {
        memory.decode(answer.file, options.reads_pages() ? page_bytes : 0, [&] {
            clear();
            extract(answer, options, form, explained);
        });
        return;
    } catch (const Interrupted&) {
        throw;
    } catch (const std::bad_alloc&) {
        answer.error = "needs more memory than there is; expected more free memory, or a smaller picture";
    } catch (const std::exception& error) {
        answer.error = without_name(error.what(), answer.file);
    }
    clear();
}

constexpr std::int64_t most_digits = 100;
constexpr std::size_t most_boxes = 2'500;
constexpr std::size_t longest_name = 100;  ///< bytes; the names of all fields are padded to the longest

double positive(const JsonPart& part) {
    const double number = part.number();
    if (!(number > 0)) part.wrong("not above 0");
    return number;
}

/// [x, y, width, height] within `width` × `height`, as parts of these.
FormBox read_box(const JsonPart& part, double width, double height) {
    const std::vector<JsonPart> numbers = part.items();
    if (numbers.size() != 4) part.wrong("not four numbers: x, y, width, height");
    const FormBox box{numbers[0].number() / width, numbers[1].number() / height, positive(numbers[2]) / width,
                      positive(numbers[3]) / height};
    constexpr double slack = 1e-9;
    if (!(box.x >= 0 && box.y >= 0 && box.x + box.w <= 1 + slack && box.y + box.h <= 1 + slack))
        part.wrong("not within the form's size");
    return box;
}

/// A digit is read in one box alone. Boxes side by side may overlap by a tenth.
void check_apart(const JsonPart& part, const Form& form, std::size_t first) {
    constexpr double most = 0.1;
    const auto shared = [](double begin, double length, double other, double other_length) {
        return std::max(0.0, std::min(begin + length, other + other_length) - std::max(begin, other));
    };
    for (const FormBox& one : std::span(form.boxes).subspan(first))
        for (const FormBox& other : std::span(form.boxes).first(first))
            if (shared(one.x, one.w, other.x, other.w) * shared(one.y, one.h, other.y, other.h) >
                most * std::min(one.w * one.h, other.w * other.h))
                part.wrong("over the box of another field, so that a digit would be in both");
}

void read_field(const JsonPart& part, double width, double height, Form& form) {
    part.check_keys({"name", "box", "digits", "boxes", "allowed", "checksum"});
    FormField field;
    field.name = part.at("name").text();
    if (field.name.empty() || field.name.size() > longest_name)
        part.at("name").wrong("not 1 to 100 bytes long");
    field.first_box = form.boxes.size();
    const FormBox box = read_box(part.at("box"), width, height);
    if (part.has("digits")) field.digits = static_cast<int>(part.at("digits").whole(1, most_digits));
    if (part.has("boxes")) field.n_boxes = static_cast<std::size_t>(part.at("boxes").whole(1, most_digits));
    if (part.has("boxes") && field.digits > static_cast<int>(field.n_boxes))
        part.at("digits").wrong("more than its boxes, with one digit in each");
    if (part.has("allowed")) field.allowed = part.at("allowed").text();
    const std::set<char> allowed(field.allowed.begin(), field.allowed.end());
    if (allowed.empty() || allowed.size() != field.allowed.size() ||
        field.allowed.find_first_not_of("0123456789") != std::string::npos)
        part.at("allowed").wrong("not some of the digits 0 to 9, each once");
    if (part.has("checksum")) field.checksum = part.at("checksum").named_value<Checksum>();
    const double step = box.w / double(field.n_boxes);
    for (std::size_t i = 0; i < field.n_boxes; ++i)
        form.boxes.push_back({box.x + double(i) * step, box.y, step, box.h, part.has("boxes")});
    form.fields.push_back(std::move(field));
}

/// The digit, or ?, that the name of a file tells.
std::optional<char> told_by(const std::string& file) {
    const auto sign_of = [](const std::string& text) -> std::optional<char> {
        if (text.empty() || std::string_view("0123456789?").find(text.back()) == std::string_view::npos)
            return std::nullopt;
        if (text.size() > 1 && text[text.size() - 2] != '_' && text[text.size() - 2] != '-')
            return std::nullopt;
        return text.back();
    };
    const fs::path path(file);
    // "a.png" and "./a.png" lie in the current folder, whatever it is called.
    std::error_code none;
    const fs::path whole = file == "-" ? path : fs::absolute(path, none).lexically_normal();
    const std::string folder = whole.parent_path().filename().string();
    if (folder.size() == 1)
        if (const std::optional<char> sign = sign_of(folder)) return sign;
    return sign_of(path.stem().string());
}

}  // namespace

std::optional<int> expected_digit(const std::string& file) {
    const std::optional<char> sign = told_by(file);
    if (!sign || *sign == '?') return std::nullopt;
    return *sign - '0';
}

bool names_no_digit(const std::string& file) {
    return told_by(file) == '?';
}

PictureSources find_pictures(const std::vector<std::string>& names, Subfolders subfolders) {
    if (std::count(names.begin(), names.end(), "-") > 1)
        throw UsageError("-: given more than once; expected standard input once");
    PictureSources sources;
    for (const std::string& name : names) {
        std::error_code none;
        if (name != "-" && fs::is_directory(name, none))
            add_folder(name, subfolders, sources);
        else
            sources.pictures.push_back({name, name.empty() ? "empty name; expected a picture file" : ""});
    }
    return sources;
}

std::vector<PictureAnswer> extract_pictures(const std::vector<PictureSource>& sources,
                                            const ClassifyOptions& options, int threads,
                                            const ProgressToken& token, const Form* form) {
    const StopDeadline deadline;
    picture_module();  // what cannot be loaded is no error of each picture
    std::vector<PictureAnswer> answers(sources.size());
    const auto count = static_cast<std::int64_t>(sources.size());
    const std::size_t explained = options.explain.empty() ? 0 : max_explained;
    PictureMemory memory;
    Team team(static_cast<int>(std::min<std::int64_t>(threads, count)), token, count, 1);
    team.run_pieces(count, 1, [&](int thread, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            const auto at = static_cast<std::size_t>(i);
            answers[at].file = sources[at].file;
            answers[at].error = sources[at].error;
            if (sources[at].error.empty()) try_to_extract(answers[at], options, form, at < explained, memory);
            team.advance(thread, 1);
        }
    });
    return answers;
}

std::size_t report_failures(std::span<const PictureAnswer> pictures) {
    std::size_t failures = 0;
    for (const PictureAnswer& picture : pictures) {
        if (picture.error.empty()) continue;
        ++failures;
        print_line_to_stderr("error: " + quoted_if_blank(picture.file) + ": " + picture.error);
    }
    return failures;
}

Form read_form(const std::string& file) {
    const JsonSource source{file, "a template as docs/classify.md and the man page have it"};
    const nlohmann::json root = source.parse(read_text(file, 1 << 20, source.expected));
    const JsonPart part(source, root);
    part.check_keys({"schema", "frame", "size", "fields"});
    part.check_schema("mnist-knn/template/1");
    Form form;
    if (part.has("frame")) form.frame = part.at("frame").named_value<FormFrame>();
    double width = 1, height = 1;
    if (part.has("size")) {
        const std::vector<JsonPart> size = part.at("size").items();
        if (size.size() != 2) part.at("size").wrong("not two numbers: width, height");
        width = positive(size[0]), height = positive(size[1]);
    }
    std::set<std::string> names;
    for (const JsonPart& field : part.at("fields").items()) {
        read_field(field, width, height, form);
        if (form.boxes.size() > most_boxes) source.fail("has more than 2,500 boxes");
        check_apart(field.at("box"), form, form.fields.back().first_box);
        if (!names.insert(form.fields.back().name).second) field.wrong("one of two with the same name");
    }
    if (form.fields.empty()) source.fail("has no fields");
    return form;
}

}  // namespace knn
