#include "app/serve/routes.h"

#include <arpa/inet.h>

#include <algorithm>
#include <new>

#include "app/console/console.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/core/names.h"

namespace knn::web {

/// One row for each request that is answered; a GET answers HEAD too.
struct Route {
    enum class Body { none, picture, pixels };

    const char *method, *path;
    void (Routes::*answer)(Request, const Routes::Done&);  ///< null: with `text`
    bool needs_token = false, needs_index = false;
    Body body = Body::none;
    const char* type = nullptr;
    const std::string_view* text = nullptr;

    static const Route* find(const Head& head);
    static std::span<const Route> all();
};

namespace {

constexpr std::size_t max_waiting_jobs = 32;
constexpr const char* plain_text = "text/plain; charset=utf-8";
constexpr std::string_view alive = "alive\n";
constexpr const char* no_pictures = "This server cannot read pictures; its own messages say why.";
/// The rows of one picture that are searched: 4 seconds by the slowest method of the table on two cores.
constexpr std::size_t max_marks = 4000;

/// Capital letters of the text count as small ones.
bool begins(const std::string& text, std::string_view with) {
    return lower_case(text.substr(0, with.size())) == with;
}

bool takes(Route::Body body, const std::string& type) {
    const std::string media = lower_case(type.substr(0, type.find_first_of("; \t")));
    return type.empty() || media == "application/octet-stream" ||
           (body == Route::Body::picture && begins(type, "image/"));
}

/// What became of `work`; of any exception a problem.
template <class Work>
Response response_of(const Work& work) {
    try {
        return work();
    } catch (const Problem& problem) {
        return problem_response(problem);
    } catch (const Interrupted&) {
        return problem_response(try_later(503, "The server is stopping."));
    } catch (const std::bad_alloc&) {
        return problem_response(try_later(503, "The server has not enough memory at the moment."));
    } catch (const std::exception& error) {
        print_line_to_stderr(std::string("error: ") + error.what());
        return problem_response(Problem(500, "The server failed; its own messages say why."));
    }
}

bool is_numeric(int family, const std::string& text) {
    in6_addr address{};  // the larger one
    return ::inet_pton(family, text.c_str(), &address) == 1;
}

/// Takes the same time for every text of one length.
bool equal(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        difference |= static_cast<unsigned char>(a[i] ^ b[i]);
    return difference == 0;
}

}  // namespace

std::span<const Route> Route::all() {
    static constexpr Route rows[] = {
        {"GET", "/", nullptr, false, false, Body::none, "text/html; charset=utf-8", &serve_html},
        {"GET", "/app.css", nullptr, false, false, Body::none, "text/css; charset=utf-8", &serve_css},
        {"GET", "/app.js", nullptr, false, false, Body::none, "text/javascript; charset=utf-8", &serve_js},
        {"GET", "/livez", nullptr, false, false, Body::none, plain_text, &alive},
        {"GET", "/readyz", &Routes::readyz, false, true},
        {"GET", "/openapi.json", nullptr, false, false, Body::none, "application/json", &openapi_json},
        {"GET", "/metrics", &Routes::metrics_text, true},
        {"GET", "/v1/info", &Routes::info, true, true},
        {"GET", "/v1/mistakes", &Routes::mistakes, true, true},
        {"GET", "/v1/confusion", &Routes::confusion, true, true},
        {"POST", "/v1/classify", &Routes::classify, true, true, Body::picture},
        {"POST", "/v1/predict", &Routes::predict, true, true, Body::pixels},
    };
    return rows;
}

const Route* Route::find(const Head& head) {
    std::string allowed;
    for (const Route& route : all()) {
        if (head.path != route.path) continue;
        const bool is_get = std::string_view(route.method) == "GET";
        if (head.method == route.method || (is_get && head.method == "HEAD")) return &route;
        allowed = is_get ? "GET, HEAD" : route.method;
    }
    if (allowed.empty()) throw Problem(404, "The server has nothing here; /openapi.json lists what it has.");
    throw Problem(405, "The method does not fit this path; expected " + allowed + ".", "Allow", allowed);
}

Workers::Workers(int threads, std::size_t max_waiting) : max_waiting_(max_waiting) {
    for (int thread = 0; thread < threads; ++thread)
        threads_.emplace_back([this, thread] { run(thread); });
}

Workers::~Workers() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

bool Workers::add(Job job) {
    {
        const std::lock_guard lock(mutex_);
        if (jobs_.size() >= max_waiting_) return false;
        jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
    return true;
}

void Workers::run(int thread) {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return closed_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        const Job job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job(thread);
        lock.lock();
    }
}

Routes::Routes(Access access, bool reads_pictures)
    : access_(std::move(access)), reads_pictures_(reads_pictures) {}

void Routes::open(Model model) {
    model_ = std::move(model);
    if (reads_pictures_)
        for (Decoder& decoder : decoders_)
            decoder.start();
    batcher_.start(model_.search);
    workers_.emplace(static_cast<int>(decoders_.size()), max_waiting_jobs);
    test_worker_.emplace(1, max_waiting_jobs);
    ready_ = true;
}

std::string Routes::name_of(const Head& head) {
    for (const Route& route : Route::all())
        if (head.path == route.path) return route.path;
    return "other";
}

void Routes::check(const Head& head) const {
    access_.check_origin(head);
    const Route& route = *Route::find(head);
    if (route.needs_token) access_.check_token(head);
    const bool has_body = head.chunked || head.content_length.value_or(0) > 0;
    if (route.body == Route::Body::none) {
        if (has_body) throw Problem(400, "The request has a body; expected none.");
    } else {
        if (!head.chunked && !head.content_length)
            throw Problem(411, "The request has no length; expected Content-Length or chunks.");
        if (!takes(route.body, head.content_type))
            throw Problem(415, std::string("The body has another type than this path takes; expected ") +
                                   (route.body == Route::Body::pixels ? "application/octet-stream."
                                                                      : "image/*, such as image/png."));
        if (!head.content_encoding.empty() && head.content_encoding != "identity")
            throw Problem(415, "The body has a content coding such as gzip; expected it without.");
    }
    if (route.needs_index && !ready_)
        throw try_later(503, "The server is starting: its index is not open yet.");
}

void Routes::answer(Request request, const Done& done) {
    const Route& route = *Route::find(request.head);
    if (route.text != nullptr) return done({200, route.type, std::string(*route.text)});
    try {
        (this->*route.answer)(std::move(request), done);
    } catch (...) {
        done(response_of([]() -> Response { throw; }));
    }
}

void Routes::readyz(Request, const Done& done) {
    if (closing_) throw try_later(503, "The server is stopping.");
    done({200, plain_text, "ready\n"});
}

void Routes::metrics_text(Request, const Done& done) {
    done({200, "text/plain; version=0.0.4; charset=utf-8", metrics_.text(batcher_.batches(), ready_)});
}

void Routes::info(Request request, const Done& done) {
    const Parameters none(request.head.query, {});
    done({200, "application/json", model_.info.dump() + '\n'});
}

void Routes::predict(Request request, const Done& done) {
    const Parameters none(request.head.query, {});
    const bool added =
        batcher_.add(pixels_of(std::move(request.body)), request.abandoned,
                     [this, done](const std::vector<Predicted>& answers, std::exception_ptr failure) {
                         metrics_.count_digits(failure ? 0 : std::ssize(answers));
                         done(response_of([&]() -> Response {
                             if (failure) std::rethrow_exception(failure);
                             return {200, "application/json", predict_body(answers)};
                         }));
                     });
    if (!added) throw try_later(429, "Too many images wait for an answer.");
}

/// On one of the threads for requests that take long.
void Routes::work(Workers& threads, const Abandoned& abandoned, const Done& done,
                  std::function<Response(int thread)> answer) {
    const bool added = threads.add([abandoned, done, answer = std::move(answer)](int thread) {
        done(response_of([&] {
            throw_if(abandoned);
            return answer(thread);
        }));
    });
    if (!added) throw try_later(429, "Too many requests wait for an answer.");
}

/// Throws Problem.
PictureAnswers Routes::answers_to(std::string_view picture, bool many, int thread,
                                  const Abandoned& abandoned) {
    if (!reads_pictures_) throw Problem(501, no_pictures);
    PictureAnswers answers = model_.frame;
    answers.pages = many;
    PictureAnswer& one = answers.pictures.emplace_back();
    one.file = "-";  // as `classify -`
    try {
        FoundDigits found = decoders_.at(static_cast<std::size_t>(thread)).read(picture, many, abandoned);
        one.rows = found.rows;
        one.cols = found.cols;
        for (DigitImage& digit : found.digits)
            one.digits.emplace_back().image = std::move(digit);
    } catch (const NoCodecs& error) {
        print_line_to_stderr(std::string("error: ") + error.what());
        throw Problem(501, no_pictures);
    } catch (const DataError& error) {
        throw Problem(422, std::string("The picture ") + error.what() + '.');
    }
    const std::vector<Answer*> digits = digits_to_search(answers.pictures, model_.rejects);
    if (digits.size() > max_marks)
        throw Problem(422, "The picture has " + with_commas(std::ssize(digits)) +
                               " marks and parts of marks that may be digits; expected at most " +
                               with_commas(max_marks) + ".");
    throw_if(abandoned);
    if (!digits.empty()) {
        model_.search(digits);
        model_.choose(answers.pictures);
    }
    metrics_.count_digits(std::ssize(one.digits));
    return answers;
}

void Routes::classify(Request request, const Done& done) {
    const Parameters given(request.head.query, {"many", "neighbors", "limit"});
    const bool many = given.flag("many"), neighbors = given.flag("neighbors");
    const int limit = given.number("limit", 1, 100, 0);
    work(*workers_, request.abandoned, done,
         [this, many, neighbors, limit, picture = std::move(request.body),
          abandoned = request.abandoned](int thread) -> Response {
             return {200, "application/json",
                     classify_body(answers_to(picture, many, thread, abandoned), limit, neighbors)};
         });
}

void Routes::mistakes(Request request, const Done& done) {
    const Parameters given(request.head.query, {"true", "predicted", "first", "count"});
    const int truth = given.number("true", 0, 255, -1), predicted = given.number("predicted", 0, 255, -1);
    const int first = given.number("first", 0, 1'000'000'000, 0),
              count = given.number("count", 1, 100, usual_mistakes);
    work(*test_worker_, request.abandoned, done, [=, this](int) -> Response {
        const TestAnswers& test = test_answers();
        const Evaluation& evaluation = *test.evaluation;
        const std::vector<std::int64_t> all = mistakes_of(evaluation, truth, predicted);
        const auto begin = std::min<std::int64_t>(first, std::ssize(all));
        const auto end = std::min<std::int64_t>(begin + count, std::ssize(all));
        const std::vector<std::int64_t> shown(all.begin() + begin, all.begin() + end);
        test.complete(shown);
        return {200, "application/json", mistakes_body(evaluation, shown, std::ssize(all))};
    });
}

void Routes::confusion(Request request, const Done& done) {
    const Parameters none(request.head.query, {});
    work(*test_worker_, request.abandoned, done, [this](int) -> Response {
        return {200, "application/json", confusion_body(*test_answers().evaluation)};
    });
}

/// Classifies the test set first, unless that is done; what made it fail may have passed. Throws Problem, Interrupted.
TestAnswers& Routes::test_answers() {
    try {
        if (!test_answers_) test_answers_ = model_.classify_test_set();
        return *test_answers_;
    } catch (const DataError& error) {
        print_line_to_stderr(std::string("error: ") + error.what());
        throw Problem(404, "The test set cannot be classified; the server's own messages say why.");
    }
}

bool Access::is_loopback(const std::string& address) {
    return address == "::1" || (is_numeric(AF_INET, address) && address.starts_with("127."));
}

Access::Access(const std::string& address, int port, std::string token)
    : address_(address),
      any_address_(address == "0.0.0.0" || address == "::"),
      loopback_(is_loopback(address)),
      port_(std::to_string(port)),
      token_(std::move(token)) {}

bool Access::is_own(const std::string& host) const {
    const std::size_t colon = host.rfind(':');
    const bool has_port = colon != host.npos && host.find(']', colon) == host.npos;
    if ((has_port ? host.substr(colon + 1) : "80") != port_) return false;
    std::string name = host.substr(0, has_port ? colon : host.npos);
    const bool bracketed = name.size() > 2 && name.front() == '[' && name.back() == ']';
    if (bracketed) name = name.substr(1, name.size() - 2);
    if (!is_numeric(bracketed ? AF_INET6 : AF_INET, name))
        return lower_case(name) == "localhost" && (loopback_ || any_address_);
    return any_address_ || name == address_;
}

void Access::check_origin(const Head& head) const {
    if (!is_own(head.host))
        throw Problem(403,
                      "The server is not known by this name; expected its numeric address, or localhost, "
                      "with the port " +
                          port_ + ".");
    const bool own = head.origin.empty() || lower_case(head.origin) == "http://" + lower_case(head.host);
    const bool own_site =
        head.fetch_site.empty() || head.fetch_site == "same-origin" || head.fetch_site == "none";
    if (!own || !own_site) throw Problem(403, "The request comes from a page of another site.");
}

void Access::check_token(const Head& head) const {
    constexpr std::string_view scheme = "bearer ";
    std::string_view given;
    if (begins(head.authorization, scheme))
        given = std::string_view(head.authorization)
                    .substr(std::min(head.authorization.find_first_not_of(' ', scheme.size()),
                                     head.authorization.size()));
    if (!token_.empty() && !equal(given, token_))
        throw Problem(401, "The request has no token, or a wrong one.", "WWW-Authenticate", "Bearer");
}

}  // namespace knn::web
