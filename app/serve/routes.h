#pragma once
/// What the server answers to each request, without sockets, and what with: the command opens it; the network around it.

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

    void work(Workers& threads, const Abandoned& abandoned, const Done& done,
              std::function<Response(int thread)> answer);
    PictureAnswers answers_to(std::string_view picture, bool many, int thread, const Abandoned& abandoned);
    TestAnswers& test_answers();

    const Access access_;
    const bool reads_pictures_;
    std::atomic<bool> ready_ = false, closing_ = false;
    Model model_;  ///< once `ready_`
    Metrics metrics_;

    std::optional<TestAnswers> test_answers_;  ///< of the one thread of test_worker_

    std::array<Decoder, 2> decoders_;  ///< of each worker
    Batcher batcher_;
    std::optional<Workers> workers_, test_worker_;
};

// Readers of what a request carries, which all throw Problem (400), for any bytes; and the bodies of responses.

/// "a=1&b=2" by name, decoded. Names other than these, given twice or without a value are refused.
class Parameters {
  public:
    Parameters(std::string_view query, std::initializer_list<std::string_view> names);

    /// A whole number from `low` to `high`; `otherwise` where it was not given.
    int number(const std::string& name, int low, int high, int otherwise) const;
    bool flag(const std::string& name) const { return number(name, 0, 1, 0) == 1; }

  private:
    std::map<std::string, std::string> values_;
};

/// The pixels of `predict`, n × 784 bytes with n at least 1: the body itself, or that of an .npy file of uint8,
/// n × 28 × 28 or n × 784.
std::string pixels_of(std::string body);

/// Of POST /v1/classify: the JSON of `classify`, with the size of the picture, the lines of a page and base64 of pixels.
/// `limit`: neighbors of each digit; 0: all. `neighbor_pixels`: those of each neighbor too.
std::string classify_body(const PictureAnswers& answers, int limit, bool neighbor_pixels);

/// Of POST /v1/predict.
std::string predict_body(const std::vector<Predicted>& answers);

/// Of GET /v1/confusion.
std::string confusion_body(const Evaluation& evaluation);

/// How many of them a request gets that does not say.
inline constexpr int usual_mistakes = 24;

/// The misclassified test images, the most confident first; `truth`, `predicted`: labels, or -1 for any.
std::vector<std::int64_t> mistakes_of(const Evaluation& evaluation, int truth, int predicted);

/// Of GET /v1/mistakes: these images, whose neighbors are known, of `total`.
std::string mistakes_body(const Evaluation& evaluation, const std::vector<std::int64_t>& images,
                          std::int64_t total);

/// The network: connections, time limits, stopping. One thread.
class Server {
  public:
    /// Listens at a numeric address; port 0: any free one. Throws DataError, UsageError.
    Server(const std::string& address, int port);
    ~Server();

    /// The numeric address and the port where it listens; an address of IPv6 as it is in URLs, in brackets.
    std::string address() const;
    std::string host() const;
    int port() const;

    /// Answers requests until `stop` is set; then those that have begun, for some seconds. `routes` may call back until the
    /// server is destroyed.
    void run(Routes& routes, const std::atomic<bool>& stop);

  private:
    class Connection;
    struct Network;

    std::unique_ptr<Network> network_;
};

}  // namespace knn::web
