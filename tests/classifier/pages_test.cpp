/// Pages made of MNIST's test images, read as `classify --many --reject off` reads them.

#include <doctest/doctest.h>

#include <algorithm>

#include "classifier/picture_answers.h"
#include "data/core/dataset.h"
#include "data/set/locate.h"
#include "tests/support/drawn.h"
#include "tests/support/photo.h"
#include "tests/support/search.h"
#include "tests/support/skip.h"

using namespace knn::test;
using knn::Answer;

namespace {

knn::Dataset mnist() {
    knn::DataOptions options;
    options.folder = mnist_folder();
    return knn::load(knn::locate(options));
}

/// The digits that are answered, rows separated by /.
std::string read(const knn::Dataset& data, const cv::Mat& page) {
    std::vector<Answer> digits;
    for (knn::DigitImage& image : knn::extract_digits(picture_of(page)))
        digits.emplace_back().image = std::move(image);
    knn::expand_readings(digits);
    std::vector<Answer*> all;
    for (Answer& digit : digits) {
        all.push_back(&digit);
        for (std::vector<Answer>& reading : digit.readings)
            for (Answer& part : reading)
                all.push_back(&part);
    }
    if (all.empty()) return "";
    std::vector<knn::DigitImage*> images;
    for (Answer* digit : all)
        images.push_back(&digit->image);
    const std::vector<std::uint8_t> rows = knn::rows_to_search(images);
    Request request;
    request.train = data.train.images();
    request.train_labels = data.train.labels.span();
    request.query = {rows.data(), std::int64_t(rows.size() / 784), 784};
    const knn::Results found = search_on_cpu(request);
    const std::vector<std::int64_t> chosen = knn::choose_sizes(images, request.measure, found.neighbors);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto neighbors = found.neighbors.row(chosen[i]);
        all[i]->neighbors.assign(neighbors.begin(), neighbors.end());
        all[i]->label = found.votes[std::size_t(chosen[i])].label;
    }
    knn::choose_readings(digits, request.train_labels, request.measure, knn::usual_distances({}));
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && digits[i].image.row != digits[i - 1].image.row) text += '/';
        text += char('0' + *digits[i].label);
    }
    return text;
}

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

TEST_CASE("pages made of MNIST: digits and rows that are wrong, missing or invented") {
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    const knn::Dataset data = mnist();
    for (const PageKind& kind : page_kinds()) {
        if (kind.text) continue;  // nothing is rejected here
        std::mt19937 random(11);
        const NextDigit next = [&] {
            const std::int64_t index = 5000 + std::int64_t(random() % 5000);
            return std::pair{data.test.images().row(index), int(data.test.labels.data()[index])};
        };
        std::size_t wrong = 0, digits = 0;
        const int pages = kind.name == "form" ? 1 : 3;
        for (int i = 0; i < pages; ++i) {
            const MadePage page = made_page(kind, next, random);
            wrong += edit_distance(page.digits, read(data, page.gray));
            digits += page.digits.size();
        }
        const double share = 100 * double(wrong) / double(digits);
        MESSAGE(kind.name, ": ", wrong, " of ", digits, " wrong, ", share, " %");
        const bool hard = kind.touching || kind.broken;
        CHECK(share <= (hard ? 30 : 10));
    }
}
