/// `learn`: pictures whose names give their digits become images of a training set, for --extra.

#include <array>
#include <ostream>

#include "app/cli/command_line.h"
#include "app/commands/loading.h"
#include "app/commands/pictures.h"
#include "app/console/console.h"
#include "app/report/csv.h"
#include "app/report/json.h"
#include "app/report/picture.h"
#include "app/report/text.h"
#include "classifier/host.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/picture/picture_file.h"
#include "data/set/idx.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

/// The digits of pictures, and where each is from.
struct Learned {
    std::vector<std::uint8_t> pixels, labels;
    std::vector<const PictureAnswer*> pictures;
    std::array<std::int64_t, 10> per_digit{};
    std::vector<std::uint8_t> no_digits;  ///< pixels of what is none
    std::vector<const PictureAnswer*> pictures_of_none;
};

/// What has no digit-like ink gets an error.
Learned learned_from(std::vector<PictureAnswer>& pictures) {
    Learned learned;
    for (PictureAnswer& picture : pictures) {
        if (!picture.error.empty()) continue;
        const DigitImage& image = picture.digits.at(0).image;
        if (!image.refused.empty()) {
            picture.error = image.refused + "; expected one digit or sign";
            continue;
        }
        if (!picture.expected) {
            learned.no_digits.insert(learned.no_digits.end(), image.pixels.begin(), image.pixels.end());
            learned.pictures_of_none.push_back(&picture);
            continue;
        }
        const auto digit = static_cast<std::uint8_t>(*picture.expected);
        learned.pixels.insert(learned.pixels.end(), image.pixels.begin(), image.pixels.end());
        learned.labels.push_back(digit);
        learned.pictures.push_back(&picture);
        ++learned.per_digit[digit];
    }
    return learned;
}

void write_set(const std::string& folder, const Learned& learned) {
    constexpr int side = DigitImage::side;
    const auto images_of = [](const std::vector<std::uint8_t>& pixels, std::span<const std::uint8_t> labels) {
        const Rows rows{pixels.data(), std::ssize(pixels) / (side * side), side * side};
        return copied(Training{rows, labels, {side, side}}, all_indices(rows.count));
    };
    const LabeledImages images = images_of(learned.pixels, learned.labels);
    const LabeledImages no_digits =
        images_of(learned.no_digits, std::vector<std::uint8_t>(learned.pictures_of_none.size()));
    std::vector<OutputFile> files = idx_files(folder, images);
    // First: what a run that failed halfway has put there is known as its own by the next.
    files.insert(files.begin(),
                 OutputFile{(fs::path(folder) / learned_files[2]).string(), [&](std::ostream& out) {
                                out << learned_header;
                                for (std::size_t i = 0; i < learned.pictures.size(); ++i)
                                    out << i << ',' << int{learned.labels[i]} << ','
                                        << text_cell(report_path(learned.pictures[i]->file), false) << '\n';
                                for (std::size_t i = 0; i < learned.pictures_of_none.size(); ++i)
                                    out << i << ",?,"
                                        << text_cell(report_path(learned.pictures_of_none[i]->file), false)
                                        << '\n';
                            }});
    // Also without one: those of an earlier run are gone.
    files.push_back({(fs::path(folder) / no_digits_file).string(),
                     [&](std::ostream& out) { write_idx_images(out, no_digits); }});
    write_outputs_together(files, folder);
}

std::string counts_text(const Learned& learned) {
    std::string text;
    for (std::size_t digit = 0; digit < learned.per_digit.size(); ++digit)
        if (learned.per_digit[digit] > 0)
            text += (text.empty() ? "" : ", ") + with_commas(learned.per_digit[digit]) + " of " +
                    std::to_string(digit);
    return text;
}

}  // namespace

int learn(const Options& options, Clock::time_point) {
    if (!options.given.contains("out")) throw UsageError("learn: writes a training set; expected --out DIR");
    if (!pictures_available())
        throw DataError("learn: this build cannot read pictures; expected a build with OpenCV");
    const PictureSources found = find_pictures(options.classify.images, true);
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
    const Learned learned = learned_from(pictures);
    const std::size_t failures = report_failures(pictures);
    if (learned.labels.empty() && failures > 0) return 1;
    if (learned.labels.empty())
        throw DataError(options.classify.images.front() +
                        (learned.pictures_of_none.empty() ? ": no picture to learn from"
                                                          : ": only pictures of no digit") +
                        "; expected pictures in folders 0 to 9, or with names such as four_4.png");
    write_set(options.learn.out, learned);
    const auto unnamed = static_cast<std::int64_t>(found.pictures.size() - named.size());
    if (unnamed > 0) note(counted(unnamed, "picture") + " left out: no digit in the name", options.output);
    if (!options.output.quiet)
        print(facts_text(
            {{"learned", counted(std::ssize(learned.labels), "digit") + ": " + counts_text(learned)},
             {"no digit", learned.pictures_of_none.empty()
                              ? ""
                              : counted(std::ssize(learned.pictures_of_none), "picture")},
             {"folder", harmless(options.learn.out) + ", for --extra"}}));
    return failures == 0 ? 0 : 3;
}

}  // namespace knn
