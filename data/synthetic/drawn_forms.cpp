#include "data/synthetic/drawn_forms.h"

#include <functional>

#include "data/file/transfer.h"
#include "data/synthetic/handwriting.h"

namespace knn {

namespace {

/// Rows of a form of weight 1: of no digit, of a digit.
constexpr int rows_of_no_digit = 34, rows_of_digit = 24;

/// Of the digit that pictures have after their strokes were brought to MNIST's width.
constexpr PenWidth width_in_pictures{3, 0.3f};

constexpr std::uint64_t seed_of_forms = 1, set_of_forms = 2;

// clang-format off
constexpr DrawnForm all_forms[] = {
    {0, "", 2, "50 21 05 18 49 77 83 71 50 / 82 07"},
    {0, "", 2, "50 21 05 18 49 77 83 71 50 / 90 09"},
    {0, "", 1, "82 60 30 11 05 17 39 69 87 83 71"},
    {1, "", 3, "05 50! 59"},
    {1, "", 3, "04 60! 59"},
    {1, "", 2, "07 50! 49"},
    {1, "", 1, "08 60! 69"},
    {1, "", 3, "12 40! 49 / 09 89"},
    {1, "", 2, "03 40! 49 / 19 79"},
    {1, "", 1, "21 40! 49 / 19 69"},
    {1, "", 1, "03 22 40! 49"},
    {1, "", 2, "04 34 60! 69"},
    {1, "", 1, "40 49 / 19 79"},
    {2, "", 2, "12 30 60 72 64 09! 79"},
    {2, "", 1, "01 70! 09! 89"},
    {3, "", 3, "00 80! 44! 75 77 59 29 07"},
    {3, "", 2, "10 70! 33! 65 77 49 08"},
    {3, "", 2, "02 11 71 83 64 24! 64 86 78 28 07"},
    {4, "", 2, "60 06! 96 / 60! 69"},
    {4, "", 2, "20 05! 85 / 63 69"},
    {4, "", 2, "60 05! 85 / 73 49"},
    {4, "", 1, "51 05! 85 / 61 58"},
    {4, "", 1, "30 05! 75 / 62 59"},
    {5, "", 2, "80 20! 14! 44 76 78 49 07"},
    {5, "", 1, "20 14! 44 76 78 49 07 / 20 90"},
    {6, "", 2, "60 14 07 29 59 77 65 35 07"},
    {6, "", 2, "10 06 29 68 75 45 06"},
    {6, "", 2, "71 30 05 08 49 78 75 45 06"},
    {6, "", 1, "80 10! 08! 79! 75! 15"},
    {7, "", 3, "00 80! 39 / 24 74"},
    {7, "", 2, "03 00! 80! 39 / 15 75"},
    {7, "", 2, "02 00! 80 55 19 / 25 75"},
    {7, "", 2, "00 90! 09 / 24 84"},
    {7, "", 2, "10 80! 49 / 04 84"},
    {7, "", 2, "02 00! 80! 39"},
    {7, "", 2, "11 30 80! 65 29 / 27 87"},
    {7, "", 1, "12 31 70! 64 29 / 16 96"},
    {7, "", 2, "12 20! 60 81 64 29 / 07 97"},
    {7, "", 1, "03 11! 70 82 55 19 / 17 86"},
    {8, "", 2, "80 40 12 33 66 78 49 17 26 61"},
    {8, "", 2, "72 40 12 34 66 78 49 17 25 62"},
    {8, "", 1, "40 22 44 62 40 / 44 17 49 77 44"},
    {8, "", 1, "61 40 22 44 67 58 38 27 45 71"},
    {9, "", 2, "30 12 14 34 62 70! 75 68 29 08"},
    {9, "", 2, "71 40 12 24 54 71! 77 59 28 07"},
    {9, "", 2, "70 40 12 24 54 72 70! 69"},
    {9, "", 1, "71 40 12 24 53 72 / 70 69"},
    {9, "", 1, "60 31 23 44 63 71 60! 79"},
    {no_digit, "the letter A", 2, "09 40! 89 / 16 76"},
    {no_digit, "the letter A", 1, "09 23 50! 77 89 / 26 76"},
    {no_digit, "the letter A", 1, "19 15 31 50 71 85 89 / 15 85"},
    {no_digit, "the letter A", 1, "09 30 50 89 / 06 96"},
    {no_digit, "the letter A", 1, "09 30! 69 / 05 95"},
    {no_digit, "the letter C", 2, "82 61 40 21 05 18 49 69 87"},
    {no_digit, "the letter C", 1, "71 40 12 06 28 59 97"},
    {no_digit, "the letter C", 1, "60 30 12 05 28 59 79"},
    {no_digit, "the letter C", 1, "50 20 15 27 58 98"},
    {no_digit, "the letter D", 2, "20! 29! 49 78 85 81 50 20"},
    {no_digit, "the letter D", 1, "10 19 / 00 40 82 85 68 49 09"},
    {no_digit, "the letter D", 1, "20 29 / 20 51 74 76 58 29"},
    {no_digit, "the letter E", 2, "80 10! 19! 89 / 14 64"},
    {no_digit, "the letter E", 1, "70 10 / 10 19 / 15 55 / 19 79"},
    {no_digit, "the letter E", 1, "82 50 21 33 54! 24 06 28 59 87"},
    {no_digit, "the letter F", 2, "80 10! 19 / 14 64"},
    {no_digit, "the letter F", 1, "19 10 / 00 80 / 15 65"},
    {no_digit, "the letter F", 1, "00 80 / 30 39 / 14 64"},
    {no_digit, "the letter F", 1, "20 28! 48 / 20 70 / 14 64"},
    {no_digit, "the letter G", 2, "82 50 21 05 18 49 77 75! 45"},
    {no_digit, "the letter G", 2, "71 40 12 06 28 59 78 85! 55 / 85 89"},
    {no_digit, "the letter G", 1, "71 40 12 06 28 48 76! 46 / 75 79"},
    {no_digit, "the letter H", 1, "00 09 / 80 89 / 04 84"},
    {no_digit, "the letter H", 1, "10 09 / 80 79 / 05 84"},
    {no_digit, "the letter H", 1, "10 19 / 70 69 / 15 65"},
    {no_digit, "the letter J", 2, "30 90 / 60 67 49 28 07"},
    {no_digit, "the letter J", 1, "60 67 48 29 07"},
    {no_digit, "the letter J", 1, "20 60 67 49 28"},
    {no_digit, "the letter J", 1, "10 70 / 50 56 48 28 16 / 34 74"},
    {no_digit, "the letter K", 2, "10 19 / 80 14! 89"},
    {no_digit, "the letter K", 1, "00 09 / 70 15 / 35 89"},
    {no_digit, "the letter k", 1, "10 19 / 64 16! 79"},
    {no_digit, "the letter k", 1, "20 19! 15 54 55 16! 59 88"},
    {no_digit, "the letter k", 1, "30 29! 26 63 / 37 58 98"},
    {no_digit, "the letter L", 2, "10 19! 79"},
    {no_digit, "the letter L", 1, "30 26 09! 48 88"},
    {no_digit, "the letter M", 2, "09 10! 46! 80! 89"},
    {no_digit, "the letter M", 1, "09 00! 46! 90! 99"},
    {no_digit, "the letter m", 1, "02 09! 04 32 44 49! 45 72 84 89"},
    {no_digit, "the letter N", 2, "09 00! 89! 80"},
    {no_digit, "the letter n", 2, "12 19! 14 42 73 79"},
    {no_digit, "the letter n", 1, "03 22 19! 14 52 73 78 98"},
    {no_digit, "the letter P", 2, "19 10! 50 72 63 15"},
    {no_digit, "the letter P", 1, "20 19 / 02 30 70 82 64 15"},
    {no_digit, "the letter p", 1, "12 19 / 13 32 63 65 47 16"},
    {no_digit, "the letter Q", 2, "50 21 05 28 58 85 81 50 / 56 89"},
    {no_digit, "the letter R", 2, "19 10! 50 72 54 15! 89"},
    {no_digit, "the letter R", 1, "10 19 / 01 40 71 63 24! 45 79"},
    {no_digit, "the letter r", 1, "12 19! 15 33 62 82"},
    {no_digit, "the letter r", 1, "02 12 19 / 15 42 82 83"},
    {no_digit, "the letter T", 2, "00 90 / 50 59"},
    {no_digit, "the letter T", 1, "10 80 / 40 39"},
    {no_digit, "the letter U", 2, "10 16 38 68 86 80"},
    {no_digit, "the letter u", 1, "10 16 38 68 86 80 89"},
    {no_digit, "the letter u", 1, "00 06 28 57 80! 76 99"},
    {no_digit, "the letter u", 1, "00 05 37 65 80 79"},
    {no_digit, "the letter V", 2, "00 49! 80"},
    {no_digit, "the letter V", 1, "01 10 49! 80 91"},
    {no_digit, "the letter W", 2, "00 29! 42! 69! 90"},
    {no_digit, "the letter w", 1, "00 07 29 47 43! 47 69 87 80"},
    {no_digit, "the letter X", 2, "00 89 / 80 09"},
    {no_digit, "the letter X", 1, "00 40 46 88 98 / 80 60 45 08"},
    {no_digit, "the letter Y", 2, "00 44 / 80 44 49"},
    {no_digit, "the letter Y", 1, "00 45! 90 / 45 49"},
    {no_digit, "the letter Y", 1, "02 44 / 70 44 39"},
    {no_digit, "the letter y", 2, "80 09 / 00 45"},
    {no_digit, "the letter y", 1, "00 03 35 65 80! 76 59 29 08"},
    {no_digit, "the letter y", 1, "00 35 54 / 80 66 39 09"},
    {no_digit, "the letter y", 2, "01 11 24 44 63 80! 78 59 38 17"},
    {no_digit, "the letter y", 1, "00 03 24 54 80 79"},
    {no_digit, "the letter a", 2, "72 40 12 05 28 58 75 71! 78 99"},
    {no_digit, "the letter a", 1, "72 42 14 07 29 58 74 / 71 76 89"},
    {no_digit, "the letter a", 2, "11 40 71 77 99 / 74 24 07 29 58 76"},
    {no_digit, "the letter a", 1, "80 68 99 / 72 42 14 07 28 57 82"},
    {no_digit, "the letter a", 1, "60 30 12 05 28 48 75 81! 87 99"},
    {no_digit, "the letter d", 2, "75 44 16 28 59 77 80! 79"},
    {no_digit, "the letter d", 1, "65 34 06 18 49 67 / 70 79"},
    {no_digit, "the letter e", 2, "15 75 72 50 21 05 18 49 88"},
    {no_digit, "the letter e", 1, "07 45 72 50 21 05 28 59 87"},
    {no_digit, "the letter f", 2, "81 60 42 49 / 24 74"},
    {no_digit, "the letter f", 1, "91 70 52 48 29 / 24 84"},
    {no_digit, "the letter f", 1, "70 40 31 39 / 04 74"},
    {no_digit, "the letter h", 2, "10 19 / 15 34 64 75 79"},
    {no_digit, "the letter h", 1, "20 19! 16 45 65 68 98"},
    {no_digit, "the letter i", 1, "33 39 / 30 31"},
    {no_digit, "the letter i", 1, "14 33! 37 49 77 / 40 41"},
    {no_digit, "the letter j", 1, "53 57 49 28 / 50 51"},
    {no_digit, "the letter t", 2, "40 47 59 78 / 13 73"},
    {no_digit, "the letter t", 1, "40 49 / 13 83"},
    {no_digit, "the letter alpha", 3, "90 75 48 19 06 13 31 54 89"},
    {no_digit, "the letter alpha", 2, "92 66 38 18 06 14 32 53 78 97"},
    {no_digit, "the letter alpha", 1, "81 66 29 08 06 23 43 66 88"},
    {no_digit, "the letter alpha", 1, "90 75 47 28 07 14 32 53 78 98"},
    {no_digit, "the letter beta", 3, "09 13 30 61 63 34! 65 77 58 27"},
    {no_digit, "the letter beta", 2, "19 12 31 60 72 44! 75 78 59 28"},
    {no_digit, "the letter beta", 2, "08 26 42 60 72 54! 66 68 47 26"},
    {no_digit, "the letter beta", 1, "19 11 / 12 30 70 72 54 24 / 54 85 77 58 28"},
    {no_digit, "the letter beta", 1, "19 12 30 52 44 63 66 47 27"},
    {no_digit, "the letter beta", 1, "29 22 40 62 34 65 67 38"},
    {no_digit, "the letter gamma", 3, "01 20 44 58 49 37 46 80"},
    {no_digit, "the letter gamma", 3, "00 30 45 49 / 80 45"},
    {no_digit, "the letter gamma", 2, "01 11 35 49! 46 80"},
    {no_digit, "the letter gamma", 2, "02 11 31 45 38 27 45 80"},
    {no_digit, "the letter gamma", 1, "00 45! 80 / 45 39"},
    {no_digit, "the letter gamma", 2, "01 11 25 45 / 81 45 49"},
    {no_digit, "the letter gamma", 2, "02 11 34 54! 80 / 54 39"},
    {no_digit, "the letter gamma", 1, "00 20 34 55! 90 / 55 36 39"},
    {no_digit, "the letter epsilon", 2, "71 40 22 44! 16 38 78"},
    {no_digit, "the letter epsilon", 2, "82 50 22 33 54! 24 06 18 49 88"},
    {no_digit, "the letter epsilon", 1, "81 40 12 05 18 49 88 / 04 64"},
    {no_digit, "the letter epsilon", 1, "81 40 12 06 28 68 77 45 06"},
    {no_digit, "the letter theta", 2, "50 21 05 18 49 77 83 71 50 / 14 84"},
    {no_digit, "the letter theta", 1, "50 21 05 18 49 77 83 71 50 / 34 64"},
    {no_digit, "the letter theta", 1, "60 31 15 18 39 57 73 71 50 / 15 84"},
    {no_digit, "the letter theta", 1, "60 31 15 18 39 57 73 71 50 / 05 94"},
    {no_digit, "the letter theta", 1, "40 21 05 18 39 57 62 40 / 05 94"},
    {no_digit, "the letter theta", 1, "60 31 15 18 39 57 73 71 50 / 24 84"},
    {no_digit, "the letter lambda", 2, "10 30 89 / 45 09"},
    {no_digit, "the letter lambda", 1, "20 40 68 99 / 45 09"},
    {no_digit, "the letter lambda", 2, "11 30 42 65 89 / 45 08"},
    {no_digit, "the letter lambda", 1, "12 30 50 45 09 / 45 66 98"},
    {no_digit, "the letter pi", 2, "01 91 / 31 29 / 71 68 89"},
    {no_digit, "the letter pi", 1, "02 20 80 91 / 30 29 / 60 69"},
    {no_digit, "the letter phi", 2, "50 59 / 43 14 16 38 68 86 84 63 43"},
    {no_digit, "the letter psi", 1, "50 59 / 01 04 36 66 94 91"},
    {no_digit, "the letter omega", 2, "20 04 08 29 47 43! 47 69 98 94 70"},
    {no_digit, "the letter Omega", 1, "09 39! 15 12 40 70 92 95 69! 99"},
    {no_digit, "the letter mu", 1, "00 09 / 05 26 56 80! 76 98"},
    {no_digit, "the letter eta", 1, "02 20 28 / 24 42 72 79"},
    {no_digit, "the letter Delta", 1, "09 40! 89! 09"},
    {no_digit, "the sign plus", 3, "04 94 / 40 49"},
    {no_digit, "the sign minus", 2, "04 94"},
    {no_digit, "the sign equals", 1, "03 93 / 07 97"},
    {no_digit, "an asterisk", 1, "40 49 / 11 88 / 81 18"},
    {no_digit, "the sign hash", 1, "30 29 / 70 69 / 03 93 / 06 96"},
    {no_digit, "a question mark", 1, "12 30 61 53 45 46 / 48 49"},
    {no_digit, "the sign percent", 1, "80 09 / 11 20 31 22 11 / 67 76 87 78 67"},
    {no_digit, "an ampersand", 1, "98 31 20 41 33 06 28 58 96"},
    {no_digit, "the sign less", 1, "80 04! 89"},
    {no_digit, "a wave", 1, "05 23 45 66 94"},
    {no_digit, "the sign euro", 1, "81 50 22 15 28 59 88 / 04 64 / 06 66"},
    {no_digit, "a check mark", 1, "05 29! 80"},
    {no_digit, "a star", 1, "29! 40! 69! 03! 83! 29"},
    {no_digit, "a square", 1, "00! 80! 88! 08! 00"},
    {no_digit, "a house", 1, "04 40! 84 / 14 19! 79! 74"},
    {no_digit, "a spiral", 1, "45 54 43 34 36 57 75 72 50 21 05 28 69"},
    {no_digit, "a scribble", 2, "00 80! 02! 83! 05! 86! 08! 89"},
    {no_digit, "a scribble", 1, "09 20! 29! 40! 49! 60! 69! 80"},
    {no_digit, "a heart", 1, "42 20 02 05 49! 85 82 60 42"},
    {no_digit, "a smile", 1, "50 21 05 18 49 77 83 71 50 / 33 34 / 53 54 / 26 47 66"},
    {no_digit, "the sign times", 1, "01 88 / 80 09"},
    // Later ones stand last: a row is drawn by its number.
    {1, "", 4, "04 70! 59"},
    {1, "", 2, "32 41! 48 / 09 98"},
    {7, "", 2, "03 30! 24 54 81! 39 / 36 86"},
    {3, "", 5, "30 80! 42! 73 96 98 79 29 07"},
};
// clang-format on

int rows_of(const DrawnForm& form) {
    return form.weight * (form.label == no_digit ? rows_of_no_digit : rows_of_digit);
}

}  // namespace

std::span<const DrawnForm> drawn_forms() {
    return all_forms;
}

std::vector<Stroke> strokes_of(const DrawnForm& form) {
    std::vector<Stroke> strokes(1);
    for (const char* at = form.strokes; *at != '\0'; ++at) {
        if (*at == ' ') continue;
        if (*at == '/') {
            strokes.emplace_back();
        } else if (*at == '!') {
            strokes.back().back().corner = true;
        } else {
            const auto place = [](char digit) { return static_cast<float>(digit - '0') / 9; };
            strokes.back().push_back({place(at[0]), place(at[1])});
            ++at;
        }
    }
    return strokes;
}

std::string drawn_edition() {
    std::string all = std::to_string(rows_of_no_digit) + ' ' + std::to_string(rows_of_digit);
    for (const DrawnForm& form : all_forms)
        all += '\n' + std::to_string(form.label) + ' ' + std::to_string(form.weight) + ' ' + form.strokes;
    return "drawn forms 1 " + std::to_string(std::hash<std::string>()(all));
}

const DrawnForm* form_of_row(std::int64_t row) {
    for (const DrawnForm& form : all_forms)
        if ((row -= rows_of(form)) < 0) return &form;
    return nullptr;
}

LabeledImages drawn_rows() {
    std::vector<const DrawnForm*> forms;
    for (const DrawnForm& form : all_forms)
        forms.insert(forms.end(), static_cast<std::size_t>(rows_of(form)), &form);
    LabeledImages images = LabeledImages::sized(std::ssize(forms), {digit_side, digit_side});
    const auto dim = static_cast<std::size_t>(images.dim());
    for_pieces(images.count, 0, [&](std::int64_t row) {
        const auto at = static_cast<std::size_t>(row);
        Random random = stream_of(seed_of_forms, set_of_forms, row);
        write_by_hand(strokes_of(*forms[at]), width_in_pictures, random,
                      {images.pixels.data() + at * dim, dim});
        images.labels.data()[at] = forms[at]->label;
    });
    return images;
}

}  // namespace knn
