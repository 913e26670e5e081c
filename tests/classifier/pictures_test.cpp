/// Pictures made of MNIST's test images and photos of digits, read as `classify --reject off` reads them.

#include "classifier/form.h"
#include "classifier/index.h"
#include "classifier/picture_answers.h"
#include "data/picture/picture_file.h"
#include "tests/support/drawn.h"
#include "tests/support/mnist.h"
#include "tests/support/photo.h"
#include "tests/support/test.h"

using namespace knn::test;
using knn::Answer;
using knn::DigitImage;

namespace {

/// MNIST, and the classifier that answers. Several threads may ask it.
struct Reader {
    const knn::Dataset data = mnist();
    const knn::Training training{data.train.images(), data.train.labels.span(), data.train.shape()};
    const knn::Index index{
        training, {}, knn::resolve_on_cpu(knn::Method().problem(training, data.test.count), 0)};

    void answer(const std::vector<Answer*>& digits) const {
        if (digits.empty()) return;
        std::vector<DigitImage*> images;
        for (Answer* digit : digits)
            images.push_back(&digit->image);
        const std::vector<std::uint8_t> rows = knn::rows_to_search(images);
        const knn::Results found =
            index.search(knn::Rows{rows.data(), std::int64_t(rows.size() / 784), training.rows.dim});
        const std::vector<std::int64_t> chosen = knn::choose_sizes(images, {}, found.neighbors);
        for (std::size_t i = 0; i < digits.size(); ++i) {
            const auto neighbors = found.neighbors.row(chosen[i]);
            digits[i]->neighbors.assign(neighbors.begin(), neighbors.end());
            digits[i]->label = found.votes[std::size_t(chosen[i])].label;
        }
    }

    /// The digits of a page, rows separated by /.
    std::string text_of(const cv::Mat& page) const {
        std::vector<Answer> digits;
        for (DigitImage& image : knn::extract_digits(picture_of(page)))
            digits.emplace_back().image = std::move(image);
        knn::expand_hypotheses(digits);
        std::vector<Answer*> all;
        for (Answer& digit : digits) {
            all.push_back(&digit);
            for (std::vector<Answer>& reading : digit.hypotheses)
                for (Answer& part : reading)
                    all.push_back(&part);
        }
        answer(all);
        knn::choose_hypotheses(digits, training.labels, {}, knn::typical_distances(knn::LeaveOneOut{}));
        std::string text;
        for (std::size_t i = 0; i < digits.size(); ++i) {
            if (i > 0 && digits[i].image.row != digits[i - 1].image.row) text += '/';
            text += char('0' + *digits[i].label);
        }
        return text;
    }

    /// The cells of a grid from the left, rows from the top; . for an empty one.
    std::string cells_of(const cv::Mat& page, const knn::Form& form) const {
        std::vector<Answer> digits;
        for (DigitImage& image : knn::extract_form(picture_of(page), form.frame, form.boxes))
            digits.emplace_back().image = std::move(image);
        std::vector<Answer*> all;
        for (Answer& digit : digits)
            all.push_back(&digit);
        answer(all);
        std::string cells;
        for (const knn::FieldAnswer& field : knn::read_fields(form, digits))
            cells += field.text.empty() ? "." : field.text;
        return cells;
    }

    /// Any of the second half of the test images.
    NextDigit next(std::mt19937& random) const {
        return [this, &random] {
            const auto i = static_cast<std::int64_t>(5000 + random() % 5000);
            return std::pair{data.test.images().row(i), int(data.test.labels.data()[i])};
        };
    }

    /// Of the first n test images, the percentage that `label_of` gets right.
    template <class LabelOf>
    double percentage(std::int64_t n, const LabelOf& label_of) const {
        int right = 0;
        for (std::int64_t i = 0; i < n; ++i)
            right += label_of(std::size_t(i)) == data.test.labels.data()[i];
        return 100.0 * right / double(n);
    }
};

std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> before(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        before[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::vector<std::size_t> now = {i};
        for (std::size_t j = 1; j <= b.size(); ++j)
            now.push_back(std::min({before[j] + 1, now[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1])}));
        before = now;
    }
    return before.back();
}

}  // namespace

TEST_CASE("digit image: the sample photos") {
    if (mnist_folder().empty()) return skip(no_mnist);
    if (photos_folder().empty()) return skip("there are no photos: set MNIST_KNN_PHOTOS");
    const Reader reader;
    for (const auto& entry : std::filesystem::directory_iterator(photos_folder())) {
        const std::filesystem::path& file = entry.path();
        CAPTURE(file.string());
        Answer digit;
        digit.image = knn::extract_digit(knn::read_picture(file.string()));
        CHECK(digit.image.refused.empty());
        reader.answer({&digit});
        CHECK(*digit.label == file.stem().string().back() - '0');
    }
}

TEST_CASE("digit image: MNIST's test images as photos") {
    if (mnist_folder().empty()) return skip(no_mnist);
    const Reader reader;
    // All distortions together are tested on 200 images, each alone on 60, and all at the same time, to keep the
    // test within minutes.
    const auto count = [](const Damage& damage) {
        return damage.name.starts_with("all of it, upright") ? 200 : 60;
    };
    std::vector<Damage> all = damages();
    if (has_sanitizer) all.resize(all.size() / 4);
    std::vector<std::future<std::vector<Answer>>> photos;
    for (const Damage& damage : all)
        photos.push_back(std::async(std::launch::async, [&] {
            std::mt19937 random(7);
            std::vector<Answer> digits(std::size_t(count(damage)));
            for (std::size_t i = 0; i < digits.size(); ++i)
                digits[i].image = knn::extract_digit(
                    photo_of(reader.data.test.images().row(std::int64_t(i)), damage, random));
            return digits;
        }));
    const auto raw_votes = reader.index.search(reader.data.test.images().first(200)).votes;
    for (std::size_t d = 0; d < all.size(); ++d) {
        std::vector<Answer> digits = photos[d].get();
        std::vector<Answer*> asked;
        for (Answer& digit : digits)
            asked.push_back(&digit);
        reader.answer(asked);
        const int n = count(all[d]);
        const double raw = reader.percentage(n, [&](std::size_t i) { return int{raw_votes[i].label}; });
        const double found = reader.percentage(n, [&](std::size_t i) { return *digits[i].label; });
        const auto refused = std::count_if(digits.begin(), digits.end(),
                                           [](const Answer& digit) { return !digit.image.refused.empty(); });
        MESSAGE(all[d].name, ": ", found, " % of ", n, " (raw ", raw, " %), refused: ", refused);
        // Rotation and other stroke widths differ from MNIST; they may lose more.
        const bool changed = all[d].rotation > 0 || all[d].pen != 0;
        CHECK(found >= raw - (changed ? 4 : 1.5));
        CHECK(refused <= 5);
    }
}

TEST_CASE("pages made of MNIST: digits and rows that are wrong, missing or invented") {
    if (mnist_folder().empty()) return skip(no_mnist);
    const Reader reader;
    std::vector<PageKind> kinds = page_kinds();
    std::erase_if(kinds, [](const PageKind& kind) {  // nothing is rejected here
        return kind.text || (has_sanitizer && kind.name == "form");
    });
    struct Counts {
        std::size_t wrong = 0, digits = 0;
    };
    std::vector<std::future<Counts>> read;
    for (const PageKind& kind : kinds)
        read.push_back(std::async(std::launch::async, [&] {
            std::mt19937 random(11);
            Counts counts;
            for (int i = 0; i < (kind.name == "form" ? 1 : 3); ++i) {
                const MadePage page = made_page(kind, reader.next(random), random);
                counts.wrong += edit_distance(page.digits, reader.text_of(page.gray));
                counts.digits += page.digits.size();
            }
            return counts;
        }));
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const Counts counts = read[i].get();
        const double share = 100 * double(counts.wrong) / double(counts.digits);
        MESSAGE(kinds[i].name, ": ", counts.wrong, " of ", counts.digits, " wrong, ", share, " %");
        CHECK(share <= (kinds[i].touching || kinds[i].broken ? 30 : 10));
    }
}

TEST_CASE("grids made of MNIST, photographed askew: cells that are wrong") {
    if (mnist_folder().empty()) return skip(no_mnist);
    const Reader reader;
    const knn::Form form = knn::grid_form(9, 9);
    const int n_grids = has_sanitizer ? 3 : 20;
    std::mt19937 random(13);
    std::size_t wrong = 0, cells = 0;
    for (int i = 0; i < n_grids; ++i) {
        const MadePage grid = made_grid(9, reader.next(random), random);
        const std::string found = reader.cells_of(grid.gray, form);
        REQUIRE(found.size() == grid.digits.size());
        for (std::size_t j = 0; j < found.size(); ++j)
            wrong += found[j] != grid.digits[j];
        cells += found.size();
    }
    MESSAGE(wrong, " of ", cells, " cells wrong");
    CHECK(1000 * wrong <= (has_sanitizer ? 30 : 14) * cells);
}
