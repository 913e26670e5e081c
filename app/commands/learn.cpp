/// `learn`: pictures whose names give their digits become images of a training set, for --extra.

#include <algorithm>
#include <ostream>

#include "app/cli/command_line.h"
#include "app/commands/loading.h"
#include "app/commands/pictures.h"
#include "app/console/console.h"
#include "app/report/csv.h"
#include "app/report/json.h"
#include "app/report/page.h"
#include "app/report/text.h"
#include "classifier/host.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/picture/picture_file.h"
#include "data/set/idx.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

/// Images of pictures.
struct Learned {
    std::vector<std::uint8_t> pixels, labels;
    std::vector<const PictureAnswer*> pictures;

    LabeledImages images() const {
        constexpr int side = DigitImage::side;
        const Rows rows{pixels.data(), std::ssize(labels), side * side};
        return copied(Training{rows, labels, {side, side}}, all_indices(rows.count));
    }
};

/// What has no digit-like ink gets an error. `none`: of pictures of no digit.
void learn_from(std::vector<PictureAnswer>& pictures, Learned& digits, Learned& none) {
    for (PictureAnswer& picture : pictures) {
        if (!picture.error.empty()) continue;
        const DigitImage& image = picture.digits.at(0).image;
        if (!image.refused.empty()) {
            picture.error = image.refused + "; expected one digit or sign";
            continue;
        }
        Learned& learned = picture.expected ? digits : none;
        learned.pixels.insert(learned.pixels.end(), image.pixels.begin(), image.pixels.end());
        learned.labels.push_back(static_cast<std::uint8_t>(picture.expected.value_or(0)));
        learned.pictures.push_back(&picture);
    }
}

void write_set(const std::string& folder, const Learned& digits, const Learned& none) {
    const LabeledImages images = digits.images(), no_digits = none.images();
    std::vector<OutputFile> files = idx_files(folder, images);
    // First: what a run that failed halfway has put there is known as its own by the next.
    files.insert(files.begin(),
                 OutputFile{fs::path(folder) / learned_files[2], [&](std::ostream& out) {
                                out << learned_header;
                                for (const Learned* one : {&digits, &none})
                                    for (std::size_t i = 0; i < one->pictures.size(); ++i)
                                        out << i << ','
                                            << (one == &none ? "?" : std::to_string(one->labels[i])) << ','
                                            << text_cell(report_path(one->pictures[i]->file), false) << '\n';
                            }});
    // Also without one: those of an earlier run are gone.
    files.push_back(
        {fs::path(folder) / no_digits_file, [&](std::ostream& out) { write_idx_images(out, no_digits); }});
    write_outputs_together(files, folder);
}

std::string counts_text(const Learned& digits) {
    std::string text;
    for (int digit = 0; digit < 10; ++digit)
        if (const auto n = std::ranges::count(digits.labels, digit); n > 0)
            text += (text.empty() ? "" : ", ") + with_commas(n) + " of label " + std::to_string(digit);
    return text;
}

}  // namespace

int learn(const Options& options, Clock::time_point) {
    if (!options.given.contains("out")) throw UsageError("learn: writes a training set; expected --out DIR");
    if (!pictures_available())
        throw DataError("learn: this build cannot read pictures; expected a build with OpenCV");
    check_outputs(output_places(options), {});  // before folders are searched
    const PictureSources found = find_pictures(options.operands, Subfolders::read);
    std::vector<fs::path> inputs;
    std::vector<PictureSource> named;
    for (const PictureSource& picture : found.pictures) {
        inputs.emplace_back(picture.file);
        std::error_code none;
        const bool is_missing = picture.file != "-" && !fs::exists(picture.file, none);  // reading it says so
        if (!picture.error.empty() || is_missing || expected_digit(picture.file) ||
            names_no_digit(picture.file))
            named.push_back(picture);
    }
    check_outputs(output_places(options), inputs);
    limit_codecs();
    std::vector<PictureAnswer> pictures;
    if (!named.empty())
        pictures = with_progress(options.output, "reading  ", [&](const ProgressToken& token) {
            return extract_pictures(named, options.classify, threads_or_all(options.request.threads), token);
        });
    for (PictureAnswer& picture : pictures)
        picture.expected = expected_digit(picture.file);
    Learned digits, none;
    learn_from(pictures, digits, none);
    const std::size_t failures = report_failures(pictures);
    for (const std::string& notice : found.notices)
        note(notice, options.output);
    if (digits.labels.empty() && failures > 0) return 1;
    if (digits.labels.empty())
        throw DataError(
            options.operands.front() +
            (none.pictures.empty() ? ": no picture to learn from" : ": only pictures of no digit") +
            "; expected pictures in folders 0 to 9, or with names such as four_4.png");
    write_set(options.learn.out, digits, none);
    const auto unnamed = static_cast<std::int64_t>(found.pictures.size() - named.size());
    if (unnamed > 0) note(counted(unnamed, "picture") + " left out: no digit in the name", options.output);
    if (!options.output.quiet)
        print(facts_text(
            {{"learned", counted(std::ssize(digits.labels), "digit") + ": " + counts_text(digits)},
             {"no digit", none.pictures.empty() ? "" : counted(std::ssize(none.pictures), "picture")},
             {"folder", harmless(options.learn.out) + ", for --extra"}}));
    return failures == 0 ? 0 : 3;
}

}  // namespace knn
