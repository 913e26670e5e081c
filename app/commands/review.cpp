#include "app/commands/pictures.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <ostream>

#include "app/console/console.h"
#include "data/core/format.h"

namespace fs = std::filesystem;

namespace knn {

namespace {

constexpr double sure = 0.9;
constexpr int digit_side = DigitImage::side;

bool is_doubtful(const Answer& answer) {
    return !answer.neighbors.empty() && (!answer.label || answer.confidence < sure);
}

/// The first characters of a line of standard input, without blanks; "q" at the end of the input.
std::string ask() {
    std::string line;
    for (;;) {
        pollfd input = {STDIN_FILENO, POLLIN, 0};
        do
            stop_if_asked();
        while (::poll(&input, 1, 100) <= 0);
        char byte = 0;
        if (::read(STDIN_FILENO, &byte, 1) != 1) {
            print_to_stderr("\n");
            return "q";
        }
        if (byte == '\n') return line;
        if (byte != '\r' && byte != ' ' && line.size() < 2) line += byte;
    }
}

/// A name in the folder that nothing has yet; not hidden, as `learn` would not find it, nor longer than a name may be.
fs::path free_name(const fs::path& folder, const std::string& picture) {
    std::string stem = picture == "-" ? "stdin" : fs::path(picture).stem().string();
    stem = stem.substr(std::min(stem.find_first_not_of('.'), stem.size()), 200);
    for (int number = 1;; ++number) {
        const fs::path file = folder / (stem + '-' + std::to_string(number) + ".png");
        std::error_code none;
        if (!fs::exists(fs::symlink_status(file, none))) return file;
    }
}

void keep(const Answer& answer, const fs::path& folder, const std::string& picture) {
    const auto png = encode_png(answer.image.pixels.data(), digit_side, digit_side, 1);
    write_outputs_together(std::array{OutputFile{free_name(folder, picture).string(),
                                                 [&](std::ostream& out) { put(out, png); }}},
                           folder.string());
}

}  // namespace

std::int64_t review(const PictureAnswers& answers, const std::string& folder, Blocks blocks) {
    std::int64_t doubtful = 0, number = 0, kept = 0;
    for (const PictureAnswer& picture : answers.pictures)
        doubtful += std::ranges::count_if(picture.digits, is_doubtful);
    for (const PictureAnswer& picture : answers.pictures)
        for (const Answer& answer : picture.digits) {
            if (!is_doubtful(answer)) continue;
            std::string shown;
            for (const std::string& line :
                 block_lines(answer.image.pixels.data(), digit_side, digit_side, blocks))
                shown += line + '\n';
            const std::optional<int> best = answer.label ? answer.label : answer.guess;
            print_to_stderr(shown + harmless(picture.file) + ", " + std::to_string(++number) + " of " +
                            with_commas(doubtful) + ": " + (best ? std::to_string(*best) : "?") + ", " +
                            percent(answer.confidence, 0) + ". Which digit is it?");
            std::string line;
            do {
                print_to_stderr(" 0 to 9, ?: no digit, Enter: skip, q: quit > ");
                line = ask();
            } while (line.size() == 2 || line.find_first_not_of("0123456789?q") != std::string::npos);
            if (line == "q") return kept;
            if (line.empty()) continue;
            keep(answer, fs::path(folder) / line, picture.file);
            ++kept;
        }
    return kept;
}

}  // namespace knn
