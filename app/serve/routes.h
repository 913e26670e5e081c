#pragma once
/// What the server answers to each request, without sockets, and what with: the command opens it.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/serve/access.h"
#include "app/serve/batcher.h"
#include "app/serve/decoder.h"
#include "app/serve/http.h"
#include "app/serve/metrics.h"
#include "app/serve/workers.h"
#include "classifier/evaluation.h"
#include "classifier/picture_answers.h"

namespace knn::web {

/// The classified test set.
struct TestAnswers {
    const Evaluation* evaluation = nullptr;
    /// Finds the neighbors of these test images, unless they are known.
    std::function<void(const std::vector<std::int64_t>&)> complete;
    std::shared_ptr<const void> owner;
};

struct Model {
    PictureAnswers frame;  ///< the training set and the method; no pictures
    bool rejects = true;   ///< pictures without a digit are not searched
    /// Searches for all digits at once and writes the answers into them; from several threads.
    std::function<void(std::span<Answer* const>)> search;
    /// Then, of all digits of the pictures, chooses the answers.
    std::function<void(std::span<PictureAnswer>)> choose;
    nlohmann::ordered_json info;  ///< of GET /v1/info
    /// Classifies the test set, which takes seconds. Throws DataError where there is none.
    std::function<TestAnswers()> classify_test_set;
};

struct Route;

class Routes {
  public:
    /// Called once for each request, by any thread.
    using Done = std::function<void(Response)>;

    /// `reads_pictures`: false without OpenCV, or without the module of pictures.
    Routes(Access access, bool reads_pictures);
    /// Answers all that waits.
    ~Routes();

    /// From now on requests for digits are answered, not with 503. Once.
    void open(Model model);
    /// From now on /readyz says that there is no new work to send here.
    void close() { closing_ = true; }

    /// Before the body is read: throws Problem where the request would be refused whatever it is.
    void check(const Head& head) const;
    /// Answers a request that passed `check`.
    void answer(Request request, const Done& done);

    Metrics& metrics() { return metrics_; }
    /// Of the route, for metrics.
    static std::string name_of(const Head& head);

  private:
    friend struct Route;
    using Later = std::function<Response()>;

    using Handler = void(Request request, const Done& done);
    Handler readyz, metrics_text, info, predict, classify, classify_form, mistakes, confusion;

    void work(const Done& done, std::function<Response(int thread)> answer);
    PictureAnswers answers_to(std::string_view picture, bool many, int thread);
    void with_test_answers(const Done& done, Later answer);
    void classify_test_set();

    const Access access_;
    const bool reads_pictures_;
    std::atomic<bool> ready_ = false, closing_ = false;
    Model model_;  ///< once `ready_`
    Metrics metrics_;

    std::mutex mutex_;  ///< of the three below
    bool is_classifying_ = false;
    std::optional<Problem> no_test_answers_;
    std::vector<std::function<void()>> waiting_;  ///< for test_answers_
    std::mutex test_mutex_;                       ///< of what is in test_answers_
    TestAnswers test_answers_;
    std::atomic<bool> has_test_answers_ = false;

    std::array<Decoder, 2> decoders_;  ///< of each worker
    Batcher batcher_;
    std::optional<Workers> workers_;
    std::thread test_thread_;
};

}  // namespace knn::web
