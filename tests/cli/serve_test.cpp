/// What `serve` answers.
#include <sys/stat.h>

#include "tests/cli/served.h"

#include "tests/cli/pictures.h"
#include "tests/support/npy_bytes.h"

namespace knn::test {
namespace {

const std::string as_bytes = "Content-Type: application/octet-stream\r\n";
const std::string as_pgm = "Content-Type: image/x-portable-graymap\r\n";

Words data_of(const Digits& digits) {
    return "--device cpu --threads 2 --data " + digits.folder.path().string();
}

/// Without what only the server adds.
json as_classified(json digit) {
    for (const char* name : {"pixels", "width", "height", "lines", "file"})
        digit.erase(name);
    return digit;
}

}  // namespace

TEST_CASE("serve answers pictures as classify does") {
    if (!has_opencv) return skip(no_opencv);
    const Digits digits;
    const Served server(data_of(digits) + "--method raw");
    Page page(200, 600);
    for (int i = 0; i < 5; ++i)
        page.draw(digits, i, 40, 20 + 110 * i, 3);
    write(digits.folder / "page.pgm", page.pgm());
    const json many = digits.answers("page.pgm --many --method raw --device cpu")[0];
    const json answer = server.post("/v1/classify?many=1", page.pgm(), as_pgm).json();
    CHECK(answer["schema"] == "mnist-knn/classify/2");
    const json& picture = answer["pictures"][0];
    CHECK(picture["width"] == 600);
    CHECK(picture["height"] == 200);
    CHECK(picture["lines"].size() >= 1);
    REQUIRE(picture["digits"].size() == many["digits"].size());
    for (std::size_t i = 0; i < many["digits"].size(); ++i)
        CHECK(as_classified(picture["digits"][i]) == as_classified(many["digits"][i]));

    for (int i = 0; i < 6; ++i) {
        digits.write_photo("a.pgm", i);
        const json one = digits.answers("a.pgm --method raw --device cpu --pixels")[0];
        const json same =
            server.post("/v1/classify", photo(digits, i), i % 2 == 0 ? as_pgm : "").json()["pictures"][0];
        CHECK(as_classified(same) == as_classified(one));
        const std::string pixels = from_base64(same["pixels"]);
        REQUIRE(pixels.size() == 784);
        for (std::size_t p = 0; p < pixels.size(); ++p)
            if (static_cast<unsigned char>(pixels[p]) != one["pixels"][p]) FAIL("pixel " << p);
    }
    const json near =
        server.post("/v1/classify?neighbors=1&limit=2", photo(digits, 0), as_pgm).json()["pictures"][0];
    REQUIRE(near["neighbors"].size() == 2);
    const std::string train = read_file(digits.folder / "train-images-idx3-ubyte").substr(16);
    for (const json& neighbor : near["neighbors"])
        CHECK(from_base64(neighbor["pixels"]) ==
              train.substr(neighbor["index"].get<std::size_t>() * 784, 784));
    const json blank = server.post("/v1/classify", Page(50, 50).pgm(), as_pgm).json()["pictures"][0];
    CHECK(blank["digit"].is_null());
    CHECK(contains(blank["reason"], "no ink found"));
    CHECK(server.post("/v1/classify", "P5 3 3 255\nx", as_pgm).status == 422);
    CHECK(server.post("/v1/classify", "GIF89a", as_pgm).status == 422);
    CHECK(server.post("/v1/classify", "", as_pgm).status == 422);
    CHECK(server.post("/v1/classify", "P5 20000 20000 255\n" + std::string(1000, 'x'), as_pgm).status == 422);
}

TEST_CASE("serve predicts as evaluate does, and shows its mistakes") {
    const Digits digits;
    const Words words = data_of(digits) + "--method raw --limit-train 500";
    const RunResult run = program("evaluate --report " + (digits.folder / "report") + words);
    REQUIRE(run.exit_code == 0);
    const auto rows = csv_rows(read_file(digits.folder / "report/predictions.csv"));
    const json report = json::parse(read_file(digits.folder / "report/report.json"));
    const Served server(words + "--limit-test " + std::to_string(rows.size() - 1)),
        saved(words + "--report " + (digits.folder / "report"));

    const std::size_t n = 40;
    const json predicted = server.post("/v1/predict", digits.images.substr(0, n * 784), as_bytes).json();
    REQUIRE(predicted["digits"].size() == n);
    for (std::size_t i = 0; i < n; ++i) {
        CHECK(predicted["digits"][i] == std::stoi(rows[i + 1][2]));
        CHECK(predicted["confidence"][i].get<double>() == doctest::Approx(std::stod(rows[i + 1][3])));
        CHECK(server.post("/v1/predict", digits.images.substr(i * 784, 784), as_bytes).json()["digits"][0] ==
              predicted["digits"][i]);
    }
    const std::string npy = npy_of("|u1", "(40, 28, 28)", digits.images.substr(0, n * 784));
    CHECK(server.post("/v1/predict", npy, as_bytes).json() == predicted);
    for (const char gray : {'\0', '\x80', '\xff'}) {  // no ink
        const json blank = server.post("/v1/predict", std::string(784, gray), as_bytes).json();
        CHECK(blank["rejected"][0] == true);
        CHECK(blank["confidence"][0] == 0);
    }

    for (const Served* one : {&server, &saved}) {
        const json confusion = one->get("/v1/confusion").json();
        CHECK(confusion["matrix"] == report["result"]["confusion"]);
        CHECK(confusion["correct"] == report["result"]["correct"]);
        const std::int64_t wrong =
            report["result"]["total"].get<std::int64_t>() - report["result"]["correct"].get<std::int64_t>();
        REQUIRE(wrong > 3);
        const json all = one->get("/v1/mistakes?count=100").json();
        CHECK(all["total"] == wrong);
        double before = 1;
        for (const json& digit : all["digits"]) {
            const auto& row = rows[digit["index"].get<std::size_t>() + 1];
            CHECK(digit["label"] == std::stoi(row[1]));
            CHECK(digit["predicted"] == std::stoi(row[2]));
            CHECK(digit["label"] != digit["predicted"]);
            CHECK(digit["confidence"] <= before);
            before = digit["confidence"];
            CHECK(from_base64(digit["pixels"]) ==
                  digits.images.substr(digit["index"].get<std::size_t>() * 784, 784));
            CHECK(digit["neighbors"].size() == 5);
        }
        const json second = one->get("/v1/mistakes?first=1&count=2").json();
        REQUIRE(second["digits"].size() == 2);
        CHECK(second["digits"][0] == all["digits"][1]);
        const std::string label = std::to_string(all["digits"][0]["label"].get<int>()),
                          given = std::to_string(all["digits"][0]["predicted"].get<int>());
        const json pair = one->get("/v1/mistakes?true=" + label + "&predicted=" + given).json();
        CHECK(pair["total"] == report["result"]["confusion"][std::stoul(label)][std::stoul(given)]);
        CHECK(one->get("/v1/mistakes?first=1000000").json()["digits"].empty());
        CHECK(one->get("/v1/mistakes?count=101").status == 400);
        CHECK(one->get("/v1/mistakes?true=x").status == 400);
    }
    const json info = server.get("/v1/info").json();
    CHECK(info["method"] == "raw");
    CHECK(info["dataset"]["train"] == 500);
    CHECK(info["settings"]["batch"] == 1024);
    const std::string metrics = server.get("/metrics").body;
    CHECK(contains(metrics, "mnist_knn_responses_total{route=\"/v1/predict\",status=\"200\"} 45\n"));
    CHECK(contains(metrics, "mnist_knn_digits_total 123\n"));
    CHECK(contains(metrics, "mnist_knn_ready 1\n"));
}

TEST_CASE("serve without a test set says so, and answers everything else, and it may come later") {
    const ToServe work;
    const std::string labels = work.folder / "t10k-labels-idx1-ubyte";
    REQUIRE(fs::exists(labels));
    fs::rename(labels, labels + ".away");
    const Served server(work.words);
    CHECK(server.get("/v1/mistakes").status == 404);
    CHECK(server.get("/v1/confusion").status == 404);
    CHECK(server.post("/v1/predict", std::string(784, '\0'), as_bytes).status == 200);
    fs::rename(labels + ".away", labels);
    CHECK(server.get("/v1/confusion").status == 200);
}

TEST_CASE("serve without its module of pictures says so at the start, and 501 for pictures alone") {
    if (!has_opencv) return skip(no_opencv);
    const ToServe work;
    Folder folder;
    const std::string copy = folder / "mnist-knn", module = folder / "mnist-knn-pictures.so";
    fs::copy_file(program_file(), copy);
    const std::string picture = "P5 28 28 255\n" + std::string(784, '\xff');
    for (const bool is_damaged : {false, true}) {  // what cannot be loaded shows with the first picture
        CAPTURE(is_damaged);
        if (is_damaged) std::ofstream(module) << "no library";
        Served server(work.words, {}, true, copy);
        CHECK(contains(server.output(), "note: no pictures can be read: ") == !is_damaged);
        const Answered answer = server.post("/v1/classify", picture, as_pgm);
        CHECK(answer.status == 501);
        CHECK(answer.json()["detail"] == "This server cannot read pictures; its own messages say why.");
        CHECK(server.post("/v1/predict", std::string(784, '\0'), as_bytes).status == 200);
        CHECK(server.get("/v1/info").json()["pictures"] == is_damaged);
        CHECK(server.stop(SIGTERM) == 0);
        const std::string output = server.output();
        CHECK(contains(output, module + (is_damaged ? ": cannot be loaded" : "")) == is_damaged);
        CHECK(contains(output, "mnist-knn-pictures.so: is missing") == !is_damaged);
    }
}

TEST_CASE("serve shows an address with its token on a terminal, and nowhere else") {
    const ToServe work;
    const Words words = Words{program_file(), "serve", "--port", "0", "--token", "a+b%20"} + work.words;
    for (const bool terminal : {true, false}) {
        const RunResult run = started(
            words,
            {.terminal = terminal, .signal = SIGTERM, .signal_after = std::chrono::milliseconds(1500)});
        CHECK(run.exit_code == 0);
        CHECK(contains(run.out, "http://127.0.0.1:"));
        CHECK(contains(run.out + run.err, "/#token=a%2Bb%2520") == terminal);
        CHECK(!contains(run.out + run.err, "a+b"));
    }
}

TEST_CASE_FIXTURE(ToServe, "serve: each refusal has its status") {
    check_error(program(Words{"serve", "--token", std::string(4097, 'a')} + words), 2, "not a token");
    const Served server("--token secret" + words);
    const std::string token = "Authorization: Bearer secret\r\n", length = "Content-Length: 0\r\n\r\n";
    for (const char* path : {"/", "/app.css", "/app.js", "/livez", "/readyz", "/openapi.json"}) {
        const Answered answer = server.get(path);
        CHECK(answer.status == 200);
        CHECK(
            contains(answer.fields.at("content-security-policy"), "default-src 'none'; script-src 'self';"));
        CHECK(answer.fields.at("x-content-type-options") == "nosniff");
        CHECK(answer.fields.at("referrer-policy") == "same-origin");
        CHECK(answer.fields.at("cache-control") == "no-store");
        CHECK(!answer.fields.contains("access-control-allow-origin"));
        const Answered head =
            server.send("HEAD " + std::string(path) + " HTTP/1.1\r\n" + server.host() + "\r\n", false);
        CHECK(head.status == 200);
        CHECK(head.fields.at("content-length") == answer.fields.at("content-length"));
    }
    for (const char* path : {"/metrics", "/v1/info", "/v1/mistakes", "/v1/confusion"}) {
        const Answered refused = server.get(path);
        CHECK(refused.status == 401);
        CHECK(refused.fields.at("www-authenticate") == "Bearer");
        CHECK(refused.fields.at("content-type") == "application/problem+json");
        CHECK(server.get(path, token).status == 200);
    }
    CHECK(server.post("/v1/predict", "x", as_bytes).status == 401);
    CHECK(server.post("/v1/classify", "x").status == 401);
    for (const char* path : {"/v1", "/v1/", "/v1/info/", "//", "/../etc/passwd", "/app.css/..",
                             "/%2e%2e/etc/passwd", "/V1/info", "/app.js%00", "/.git/config"})
        CHECK(server.get(path, token).status == 404);
    const auto status = [&](const std::string& start, const std::string& fields) {
        return server.send(start + " HTTP/1.1\r\n" + fields).status;
    };
    const std::string host = server.host();
    CHECK(status("DELETE /v1/info", host + token + "\r\n") == 405);
    CHECK(status("OPTIONS /v1/predict", host + "Origin: http://evil.example\r\n\r\n") == 403);
    CHECK(status("OPTIONS /v1/predict", host + "\r\n") == 405);
    CHECK(server.send("GET /v1/predict HTTP/1.1\r\n" + host + "\r\n").fields.at("allow") == "POST");
    CHECK(status("GET /livez", "Host: evil.example\r\n\r\n") == 403);
    CHECK(status("GET /livez", host + "Origin: http://evil.example\r\n\r\n") == 403);
    CHECK(status("GET /livez", host + "Sec-Fetch-Site: cross-site\r\n\r\n") == 403);
    CHECK(status("GET /livez", "\r\n") == 400);
    CHECK(status("GET /livez", host + "Content-Length: 3\r\n\r\nabc") == 400);
    CHECK(status("GET /v1/info?a=b", host + token + "\r\n") == 400);
    CHECK(status("POST /v1/predict", host + token + "\r\n") == 411);
    CHECK(status("POST /v1/predict", host + token + "Content-Type: text/html\r\n" + length) == 415);
    CHECK(status("POST /v1/predict", host + token + "Content-Type: image/png\r\n" + length) == 415);
    CHECK(status("POST /v1/predict", host + token + "Content-Type: application/octet-streams\r\n" + length) ==
          415);
    CHECK(status("POST /v1/predict", host + token + "Content-Encoding: gzip\r\n" + length) == 415);
    CHECK(status("POST /v1/predict", host + token + length) == 400);
    CHECK(status("POST /v1/predict", host + token + "Content-Encoding: identity\r\n" + length) == 400);
    CHECK(status("POST /v1/classify", host + token + "Content-Length: 20000001\r\n\r\n") == 413);
    CHECK(status("POST /v1/classify", host + token + "Content-Length: 99999999999999999999\r\n\r\n") == 400);
    // A head is judged before the length that it announces.
    const std::string too_long = "Content-Length: 20000001\r\n";
    for (const char* path : {"/", "/livez", "/metrics", "/v1/info"})
        CHECK(server.get(path, token + too_long).status == 400);
    CHECK(status("POST /v1/classify", "Host: evil.example\r\n" + too_long + "\r\n") == 403);
    CHECK(status("POST /v1/classify", host + token + "Expect: 100-continue\r\n" + too_long + "\r\n") == 413);
    Client asker(server.port());
    asker.send("HEAD / HTTP/1.1\r\n" + host + too_long + "\r\n");
    CHECK(asker.receive(false).status == 400);
    CHECK(asker.is_closed());
    CHECK(!asker.has_part());
    Client hostless(server.port());
    hostless.send("HEAD / HTTP/1.1\r\n\r\n");
    CHECK(hostless.receive(false).status == 400);
    CHECK(hostless.is_closed());
    CHECK(!hostless.has_part());
    CHECK(status("GET /livez", host + "A: " + std::string(70'000, 'a') + "\r\n\r\n") == 431);
    CHECK(server.send("nonsense\r\n\r\n").status == 400);
    // A client that asks first.
    Client client(server.port());
    const std::string body(784, '\0');
    client.send("POST /v1/predict HTTP/1.1\r\n" + host + token +
                "Expect: 100-continue\r\nContent-Length: 784\r\n\r\n");
    CHECK(client.receive().status == 100);
    client.send(body);
    CHECK(client.receive().status == 200);
}

TEST_CASE_FIXTURE(ToServe,
                  "serve takes parameters within the limits that openapi.json tells, and no others") {
    const Served server(words);
    const json description = server.get("/openapi.json").json();
    int tried = 0;
    for (const auto& [path, item] : description["paths"].items())
        for (const auto& [method, operation] : item.items())
            for (const json& parameter : operation.value("parameters", json::array())) {
                const json& schema = parameter["schema"];
                const bool listed = schema.contains("enum");
                const auto low = (listed ? schema["enum"].front() : schema.at("minimum")).get<std::int64_t>(),
                           high = (listed ? schema["enum"].back() : schema.at("maximum")).get<std::int64_t>();
                for (const std::int64_t value : {low - 1, low, high, high + 1}) {
                    const std::string target =
                        path + '?' + parameter["name"].get<std::string>() + '=' + std::to_string(value);
                    CAPTURE(target);
                    const Answered answer = method == "get" ? server.get(target)
                                                            : server.post(target, Page(50, 50).pgm(), as_pgm);
                    CHECK((answer.status == 400) == (value < low || value > high));
                    ++tried;
                }
            }
    CHECK(tried == 28);
}

TEST_CASE("serve: wrong command lines") {
    for (const auto& [words, part] : std::vector<std::pair<std::string, std::string>>{
             {"--port 0 --address 0.0.0.0", "--address 0.0.0.0: other machines can ask; expected --token T"},
             {"--port 0 --address ::", "other machines"},
             {"--address example.org", "not a numeric address"},
             {"--address localhost", "not a numeric address; expected one such as 127.0.0.1"},
             {"--port 65536", "out of range"},
             {"--port x", "not a whole number"},
             {"extra", "unexpected argument"}})
        check_error(program("serve " + words), 2, part);
    check_error(program({"serve", "--port", "0", "--token", "a b"}), 2, "no blanks");
    check_error(program("serve --report missing --port 0"), 1, "missing");
    const Work work;
    std::string names;
    for (const std::uint8_t label : work.set.train_labels)
        names += label == 1 ? "one\n" : "more\n";
    write(work.folder / "names.txt", names);
    output_of(work.plain(
        "evaluate -q --device cpu --report named --train train-images-idx3-ubyte --train-labels names.txt "
        "--test train-images-idx3-ubyte --test-labels names.txt"));
    check_error(work.plain("serve --port 0 --report named"), 1, "named/report.json: its labels have names");
    work.output("evaluate -q --report r");
    // A signal ends the wait for a report as it ends the server.
    const std::string fifo = work.folder / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    for (const int signal : {SIGINT, SIGTERM}) {
        const RunOptions options{.signal = signal,
                                 .signal_after = std::chrono::milliseconds(700),
                                 .timeout = std::chrono::seconds(10)};
        CHECK(program("serve --port 0 --report " + fifo, options).exit_code == (signal == SIGINT ? 130 : 0));
    }
    // Of another test set, and of another training set.
    const ToServe set;
    set.output("evaluate -q -k 1 --report r");
    const auto serve = [&](const Words& words) {
        return set.plain("serve --port 0 --device cpu --method raw --data" + words + "--report r");
    };
    const RunResult other = serve({ToServe(16).folder.path().string()});
    CHECK(other.exit_code == 1);
    CHECK(contains(other.err, "r/report.json: needs "));
    std::string labels = set.file("train-labels-idx1-ubyte").substr(8);
    std::ranges::rotate(labels, labels.begin() + 1);
    overwrite(set.folder / "train-labels-idx1-ubyte", 8, labels);
    const RunResult answers = serve({"."});
    CHECK(answers.exit_code == 1);
    CHECK(contains(answers.err, "r: another answer for test image "));
    fs::remove(work.folder / "t10k-labels-idx1-ubyte");
    check_error(work.plain("serve --report r --port 0"), 1, "t10k-labels-idx1-ubyte is missing");
    fs::create_directory(work.folder / "t10k-labels-idx1-ubyte");
    check_error(work.plain("serve --report r --port 0"), 1, "t10k-labels-idx1-ubyte is no regular file");
}

}  // namespace knn::test
