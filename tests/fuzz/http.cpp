/// Requests of HTTP as a client may send them, from the bytes of a connection to the responses, without sockets and pictures. The
/// first byte is the size of the pieces in which they arrive; the responses are the same in one piece.

#include <future>
#include <string>
#include <utility>
#include <vector>

#include "app/serve/http.h"
#include "app/serve/routes.h"
#include "tests/fuzz/input.h"

namespace {

using knn::test::require;
using namespace knn::web;

Routes& routes() {
    static Routes made(Access("127.0.0.1", 80, ""), false);
    static const bool is_open = [] {
        Model model;
        model.search = [](std::span<knn::Answer* const> digits) {
            for (knn::Answer* digit : digits)
                digit->label = digit->image.pixels[0];
        };
        model.choose = [](std::span<knn::PictureAnswer>) {};
        model.classify_test_set = []() -> TestAnswers { throw Problem(404, "no test set"); };
        made.open(std::move(model));
        return true;
    }();
    require(is_open, "the routes are open");
    return made;
}

Response answer_to(Request request) {
    const auto promise = std::make_shared<std::promise<Response>>();
    std::future<Response> answered = promise->get_future();
    routes().answer(std::move(request),
                    [promise](Response response) { promise->set_value(std::move(response)); });
    return answered.get();
}

/// What the server sends, by status and body; the metrics differ each time.
std::vector<std::pair<int, std::string>> answers_to(std::string_view bytes, std::size_t piece) {
    std::vector<std::pair<int, std::string>> answers;
    RequestReader reader;
    std::string buffer;
    bool is_checked = false;
    const auto add = [&](const Response& response, bool varies) {
        require(response.status == 200 || response.status >= 400, "the status is one of an answer");
        require(response.status != 500, "nothing fails in the server");
        require(!bytes_of(response, true, true).empty(), "it can be sent");
        answers.emplace_back(response.status, varies ? "" : response.body);
    };
    try {
        for (std::size_t at = 0; at < bytes.size(); at += piece) {
            buffer += bytes.substr(at, piece);
            for (std::size_t taken = 1; taken > 0 && !buffer.empty();) {
                taken = reader.take(buffer);
                require(taken <= buffer.size(), "it takes what there is");
                buffer.erase(0, taken);
                if (reader.stage() == RequestReader::Stage::head) continue;
                if (!std::exchange(is_checked, true)) routes().check(reader.head());
                if (reader.stage() != RequestReader::Stage::whole) continue;
                const bool varies = reader.head().path == "/metrics";
                add(answer_to(reader.release()), varies);
                is_checked = false;
            }
        }
    } catch (const Problem& problem) {
        add(problem_response(problem), false);
    }
    return answers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    // A head without an end may be refused sooner in one piece.
    const std::string bytes = std::string(reinterpret_cast<const char*>(data) + 1, size - 1) + "\r\n\r\n";
    require(answers_to(bytes, std::size_t{data[0]} + 1) == answers_to(bytes, bytes.size()),
            "pieces make no difference");
    return 0;
}
