#pragma once
/// What the server answers to each request, without sockets, and what with: the command opens it.

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/serve/batcher.h"
#include "app/serve/decoder.h"
#include "app/serve/http.h"
#include "classifier/evaluation.h"
#include "classifier/picture_answers.h"

namespace knn {

/// GET /, /app.css and /app.js: the files of app/serve/page/, embedded by CMake. The style sheet begins with that of the report, the
/// script with the helpers of its page. GET /openapi.json: the description of the routes.
extern const std::string_view serve_html, serve_css, serve_js, openapi_json;

}  // namespace knn

namespace knn::web {

/// The names by which browsers may know this server. A page of another site reaches it under a name of that site, which was
/// made to point here (DNS rebinding), and every name but "localhost" may be such a one; numeric addresses are not.
class Access {
  public:
    /// `address`: numeric, where the server listens. An empty token: none is asked for.
    Access(const std::string& address, int port, std::string token);

    /// Throws Problem (403) for a Host that is no name of this server, and for a page of another origin, which the browser
    /// tells in Origin or Sec-Fetch-Site.
    void check_origin(const Head& head) const;
    /// Throws Problem (401) unless the Authorization field is "Bearer TOKEN".
    void check_token(const Head& head) const;

    /// Whether only this machine reaches the address.
    static bool is_loopback(const std::string& address);

  private:
    bool is_own(const std::string& host) const;

    std::string address_;
    bool any_address_, loopback_;
    std::string port_, token_;
};

/// What the server counts, in the text format of Prometheus.
class Metrics {
  public:
    /// One more response; `path`: of the route, "other" where there is none.
    void count(const std::string& path, int status, double seconds);
    void count_digits(std::int64_t digits);
    /// The open connections.
    void set_connections(std::int64_t connections);

    std::string text(std::int64_t batches, bool ready) const;

  private:
    /// Upper bounds of the classes of response times, in seconds; the last class has none.
    static constexpr std::array bounds = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0};
    struct Times {
        std::array<std::int64_t, bounds.size() + 1> classes{};
        double sum = 0;
    };

    mutable std::mutex mutex_;
    std::map<std::pair<std::string, int>, std::int64_t> responses_;
    std::map<std::string, Times> times_;
    std::int64_t digits_ = 0, connections_ = 0;
};

/// Threads for requests that take long, and what waits for them.
class Workers {
  public:
    /// A job gets the number of its thread, from 0.
    using Job = std::function<void(int thread)>;

    Workers(int threads, std::size_t max_waiting);
    /// Does all jobs that wait.
    ~Workers();

    /// False if too many wait already. A job throws nothing.
    bool add(Job job);

  private:
    void run(int thread);

    const std::size_t max_waiting_;
    std::mutex mutex_;  ///< of `jobs_` and `closed_`
    std::condition_variable changed_;
    std::deque<Job> jobs_;
    bool closed_ = false;
    std::vector<std::thread> threads_;
};

/// The classified test set.
struct TestAnswers {
    const Evaluation* evaluation = nullptr;
    /// Finds the neighbors of these test images, unless they are known.
    std::function<void(const std::vector<std::int64_t>&)> complete;
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
    using Handler = void(Request request, const Done& done);
    Handler readyz, metrics_text, info, predict, classify, mistakes, confusion;

    void work(Workers& threads, const Done& done, std::function<Response(int thread)> answer);
    PictureAnswers answers_to(std::string_view picture, bool many, int thread);
    TestAnswers& test_answers();

    const Access access_;
    const bool reads_pictures_;
    std::atomic<bool> ready_ = false, closing_ = false;
    Model model_;  ///< once `ready_`
    Metrics metrics_;

    // Of the one thread of test_worker_: at most one is set.
    std::optional<TestAnswers> test_answers_;
    std::optional<Problem> no_test_answers_;

    std::array<Decoder, 2> decoders_;  ///< of each worker
    Batcher batcher_;
    std::optional<Workers> workers_, test_worker_;
};

}  // namespace knn::web
