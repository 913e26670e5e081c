#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/cli/command_line.h"
#include "app/commands/loading.h"
#include "app/commands/saved_evaluation.h"
#include "app/console/console.h"
#include "app/report/json.h"
#include "app/serve/routes.h"
#include "classifier/host.h"
#include "data/core/errors.h"
#include "data/picture/picture_file.h"
#include "data/picture/picture_module.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

/// What requests are answered with; must outlive the routes.
struct Opened {
    std::optional<LoadedTraining> training;
    std::optional<DigitSearch> search;
};

/// The address that opens the page with its token, in which all but letters and digits is escaped.
std::string with_token(const std::string& address, const std::string& token) {
    constexpr const char* hex = "0123456789ABCDEF";
    std::string text = address + "#token=";
    for (const char letter : token) {
        const auto byte = static_cast<unsigned char>(letter);
        if (std::isalnum(byte) != 0)
            text += letter;
        else
            (text += '%').append({hex[byte / 16], hex[byte % 16]});
    }
    return text;
}

Json info_of(const LoadedTraining& training, const Options& options, const Plan& plan) {
    Json info = json_head("mnist-knn/serve-info/1");
    const Method& method = options.method;
    info["method"] = name_of(method);
    info["settings"] = settings_json(method, plan);
    info["device"] = json_device(plan.device);
    const Training& set = training.set.view();
    info["dataset"] = {{"train", set.rows.count}, {"rows", set.shape.rows}, {"cols", set.shape.cols}};
    info["limits"] = {{"body_bytes", web::max_body_bytes}, {"pixels", max_picture_pixels}};
    info["pictures"] = missing_picture_module().empty();
    return info;
}

/// Those of the report, or of a test set that is classified now.
web::TestAnswers test_answers(const Options& options, const std::optional<SavedReport>& report) {
    Options own = options;
    own.view.from = options.serve.report;
    const auto made = std::make_shared<ShownEvaluation>(own, report, Clock::now());
    return {&made->evaluation(), [made](const auto& images) { made->complete(images); }};
}

/// Loads the training set, opens the index, and makes one search, after which all is in memory.
web::Model open_model(Opened& opened, const Options& options, const std::optional<SavedReport>& report) {
    const DataLocation location = locate_training(options.data);
    note(data_notice(location, true));
    LoadedTraining& training = opened.training.emplace(load_for_digits(location, options));
    constexpr std::int64_t batch = web::Batcher::max_batch;
    const DigitSearch& search = opened.search.emplace(training, options, batch);
    // As many as it takes to make all that later searches use.
    std::vector<Answer> first(64);
    std::vector<Answer*> digits;
    for (Answer& answer : first)
        digits.push_back(&answer);
    Plan plan = search.answer(digits, {}).plan;
    plan.batch =
        options.request.batch > 0 ? std::min(options.request.batch, batch) : batch;  // of later ones, at most

    web::Model model;
    model.frame.train = training.set.images();
    model.frame.labels = training.set.labels();
    model.frame.method = options.method;
    model.frame.calibrated = !training.sample.empty();
    model.rejects = options.classify.reject.has_value();
    model.search = [&search](std::span<Answer* const> some) { search.answer(some, {}); };
    model.choose = [&search](std::span<PictureAnswer> pictures) { search.choose(pictures, {}); };
    model.info = info_of(training, options, plan);
    model.info["dataset"]["synthetic"] = location.synthetic;
    model.classify_test_set = [options] { return test_answers(options, std::nullopt); };
    if (!report) return model;
    // One of another data set ends the server now: its test set by a checksum, its training set by the first answers.
    const web::TestAnswers shown = test_answers(options, report);
    std::vector<std::int64_t> mistakes = web::mistakes_of(*shown.evaluation, -1, -1);
    mistakes.resize(std::min<std::size_t>(mistakes.size(), web::usual_mistakes));
    shown.complete(mistakes);
    model.classify_test_set = [shown] { return shown; };
    return model;
}

/// Requests are answered meanwhile; later ones in a fraction of the time: nothing of their candidates must be computed, and sketches
/// spare most distances.
void prepare_for_many(const Opened& opened, const Options& options) {
    const LoadedTraining& training = *opened.training;
    const RerankSpec& rerank = options.method.rerank;
    const int threads = threads_or_all(options.request.threads);
    try {
        if (rerank.has_descriptors()) training.set.descriptors(rerank, threads, &signal_flag(), true);
        if (training.drawn) training.drawn->descriptors(rerank, threads, &signal_flag(), true);
        opened.search->expect(web::Batcher::max_waiting, {.progress = nullptr, .stop = &signal_flag()});
    } catch (const Interrupted&) {  // the server stops as at any other time
    } catch (const std::bad_alloc&) {
        note("not enough memory to prepare for many requests, which take longer", options.output);
    }
}

/// Until a signal ends it. Throws Interrupted before its socket listens.
void serve_until_signal(const Options& options) {
    const ServeOptions& given = options.serve;
    std::optional<SavedReport> report;
    if (!given.report.empty()) {
        report = read_image_report(given.report);
        if (!report->evaluation.score.classes.empty())
            throw DataError(report->file + ": its labels have names; expected numbers, as digits have");
        location_of(*report, options);  // what is not there is noticed before it listens
    }
    web::Server server(given.address, given.port);
    if (!web::Access::is_loopback(server.address()) && given.token.empty())
        throw UsageError("--address " + given.address +
                         ": other machines can ask; expected --token T with it");
    limit_codecs();
    const std::string no_pictures = missing_picture_module();
    if (!no_pictures.empty()) note("no pictures can be read: " + no_pictures);
    Opened opened;
    web::Routes routes(web::Access(server.address(), server.port(), given.token), no_pictures.empty());
    const std::string address = "http://" + server.host() + ':' + std::to_string(server.port()) + '/';
    print(address + '\n');
    // For eyes alone: a log, or a program that reads the address, does not get the token.
    if (!given.token.empty() && ::isatty(STDERR_FILENO) != 0)
        note("with its token: " + with_token(address, given.token), options.output);

    std::atomic<bool> stop = false;
    std::thread network([&] { server.run(routes, stop); });
    std::exception_ptr failure;
    try {
        routes.open(open_model(opened, options, report));
        finish_work_first();
        note("ready", options.output);
        prepare_for_many(opened, options);
        wait_for_signal();
    } catch (const Interrupted&) {  // while it loads: as later
    } catch (...) {
        failure = std::current_exception();
    }
    stop = true;
    network.join();
    end_work();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

int serve(const Options& options, Clock::time_point) {
    try {
        serve_until_signal(options);
    } catch (const Interrupted&) {
    }
    return stop_signal() == SIGINT ? 130 : 0;
}

}  // namespace knn
