#include "app/serve/batcher.h"
#include "tests/support/test.h"

using namespace knn;
using namespace knn::web;

namespace {

/// n images, of which the first pixel is a digit: `first`, first + 1 ... modulo 10.
std::string images_from(int first, std::size_t n) {
    std::string pixels(n * 784, '\0');
    for (std::size_t i = 0; i < n; ++i)
        pixels[i * 784] = static_cast<char>((static_cast<std::size_t>(first) + i) % 10);
    return pixels;
}

/// "Searches": the first pixel is the answer; 5 is rejected.
void answer_by_first_pixel(std::span<Answer* const> digits) {
    for (Answer* digit : digits) {
        const int value = digit->image.pixels[0];
        (value == 5 ? digit->guess : digit->label) = value;
        digit->confidence = value / 10.0;
    }
}

}  // namespace

TEST_CASE("batches: each request gets its own answers, in order, whatever waits beside it") {
    std::vector<std::future<std::vector<Predicted>>> futures;
    std::vector<std::size_t> sizes;
    std::promise<void> go;
    std::shared_future<void> gate = go.get_future().share();
    std::atomic<std::size_t> most = 0;
    {
        Batcher batcher;
        batcher.start([&](std::span<Answer* const> digits) {
            gate.wait();  // until all are there
            most = std::max(most.load(), digits.size());
            answer_by_first_pixel(digits);
        });
        for (int i = 0; i < 60; ++i) {
            const std::size_t n =
                i % 7 == 3 ? 2000 + static_cast<std::size_t>(i) : 1 + static_cast<std::size_t>(i % 3);
            const auto promise = std::make_shared<std::promise<std::vector<Predicted>>>();
            futures.push_back(promise->get_future());
            sizes.push_back(n);
            CHECK(batcher.add(images_from(i, n), nullptr,
                              [promise](std::vector<Predicted> answers, std::exception_ptr) {
                                  promise->set_value(std::move(answers));
                              }));
        }
        go.set_value();
    }  // the end answers all
    for (std::size_t i = 0; i < futures.size(); ++i) {
        const std::vector<Predicted> answers = futures[i].get();
        REQUIRE(answers.size() == sizes[i]);
        bool right = true;
        for (std::size_t j = 0; j < answers.size(); ++j) {
            const int digit = static_cast<int>((i + j) % 10);
            right = right && answers[j].digit == digit && answers[j].rejected == (digit == 5) &&
                    answers[j].confidence == digit / 10.0;
        }
        CHECK(right);
    }
    CHECK(most == Batcher::max_batch);
}

TEST_CASE("batches: what waits together is searched together, and a large request holds up no small one") {
    std::promise<void> go, begun;
    std::shared_future<void> gate = go.get_future().share();
    std::vector<std::string> order;
    std::vector<std::size_t> batches;
    {
        Batcher batcher;
        batcher.start([&](std::span<Answer* const> digits) {
            if (batches.empty()) begun.set_value();
            gate.wait();
            batches.push_back(digits.size());
            answer_by_first_pixel(digits);
        });
        const auto named = [&](const std::string& name) {
            return [&order, name](std::vector<Predicted>, std::exception_ptr) { order.push_back(name); };
        };
        CHECK(batcher.add(images_from(0, 1), nullptr, named("first")));
        begun.get_future().wait();
        for (const char* name : {"a", "b", "c", "d", "e"})
            CHECK(batcher.add(images_from(0, 10'000), nullptr, named(name)));
        for (int i = 0; i < 32; ++i)
            CHECK(batcher.add(images_from(0, 1), nullptr, named("small")));
        go.set_value();
    }
    REQUIRE(order.size() == 38);
    for (std::size_t i = 1; i <= 32; ++i)
        CHECK(order[i] == "small");
    CHECK(batches[0] == 1);
    CHECK(batches[1] == Batcher::max_batch);
    CHECK(batches[2] == Batcher::max_batch);  // the fifth, the small ones, and the others again
}

TEST_CASE("batches: a failure reaches all of its batch, and no other") {
    std::vector<bool> failed;
    {
        std::atomic<int> calls = 0;
        std::promise<void> go;
        std::shared_future<void> gate = go.get_future().share();
        Batcher batcher;
        batcher.start([&](std::span<Answer* const> digits) {
            gate.wait();
            if (++calls == 1) throw std::runtime_error("no memory");
            answer_by_first_pixel(digits);
        });
        const auto done = [&](const std::vector<Predicted>&, std::exception_ptr error) {
            failed.push_back(error != nullptr);
        };
        CHECK(batcher.add(images_from(0, 3000), nullptr, done));
        go.set_value();
        while (batcher.batches() == 0)
            std::this_thread::yield();
        CHECK(batcher.add(images_from(0, 1), nullptr, done));
    }
    CHECK(failed == std::vector<bool>{true, false});
}

TEST_CASE("batches: what nobody waits for is searched no further") {
    const auto abandoned = std::make_shared<std::atomic<bool>>(false);
    std::size_t searched = 0;
    std::vector<bool> failed;
    {
        Batcher batcher;
        batcher.start([&](std::span<Answer* const> digits) {
            searched += digits.size();
            *abandoned = true;
            answer_by_first_pixel(digits);
        });
        const auto done = [&](const std::vector<Predicted>&, std::exception_ptr error) {
            failed.push_back(error != nullptr);
        };
        CHECK(batcher.add(images_from(0, 10'000), abandoned, done));
        while (batcher.batches() == 0)
            std::this_thread::yield();
        CHECK(batcher.add(images_from(0, Batcher::max_waiting), nullptr, done));  // nothing waits any more
    }
    CHECK(searched == Batcher::share + Batcher::max_waiting);
    CHECK(failed == std::vector<bool>{true, false});
}

TEST_CASE("batches: more than can wait is refused, a single request of any size is not") {
    std::promise<void> go;
    std::shared_future<void> gate = go.get_future().share();
    Batcher batcher;
    batcher.start([&](std::span<Answer* const> digits) {
        gate.wait();
        answer_by_first_pixel(digits);
    });
    const auto ignored = [](std::vector<Predicted>, std::exception_ptr) {};
    CHECK(batcher.add(images_from(0, Batcher::max_waiting + 1), nullptr, ignored));
    CHECK(!batcher.add(images_from(0, 1), nullptr, ignored));
    go.set_value();
}
