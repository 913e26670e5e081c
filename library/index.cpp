#include "library/index.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <sstream>
#include <utility>

#include "classifier/exact_distances.h"
#include "classifier/vote.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/core/sha256.h"
#include "data/file/atomic_file.h"
#include "data/file/transfer.h"
#include "data/set/locate.h"

namespace knn::library {

namespace {

/// Plans are made for as many queries; a search may have any number.
constexpr std::int64_t planned_queries = 10'000;

/// Rows behind those of an index, beyond this share, are worth opening all again.
constexpr std::int64_t rows_per_rest = 4;

template <class Enum>
void read_name(const char* field, const char* text, Enum& value) {
    if (text == nullptr) return;
    const auto found = named<Enum>(text);
    if (!found)
        throw UsageError(std::string(field) + " " + text + ": is unknown" + suggestion<Enum>(text) +
                         "; expected " + joined(name_list<Enum>));
    value = *found;
}

/// "auto", "cpu", "gpu", "gpu:N" or "gpu:all".
DeviceRequest device_of(const char* text) {
    if (text == nullptr) return {};
    const std::string name = text;
    if (const auto kind = named<DeviceKind>(name)) return {.kind = *kind};
    if (name == "gpu:all") return {.kind = DeviceKind::gpu, .all = true};
    const auto number = name.starts_with("gpu:") ? number_of<int>(name.substr(4)) : std::nullopt;
    if (number.value_or(-1) < 0)
        throw UsageError("device " + name + ": is unknown" + suggestion<DeviceKind>(name) +
                         "; expected auto, cpu, gpu, gpu:N or gpu:all");
    return {.kind = DeviceKind::gpu, .number = *number};
}

/// A file for reading; a pipe is none, as nothing could end the waiting for its writer. Throws DataError.
std::ifstream opened_file(const std::string& file, const char* expected) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error) && !error)
        throw DataError(file + ": is no regular file; expected " + expected);
    std::ifstream stream(file, std::ios::binary);
    if (!stream) fail_to_read(file, errno, expected);
    return stream;
}

std::string read_text(const std::string& file) {
    constexpr const char* expected = "a name of a method, or a small file";
    std::ifstream stream = opened_file(file, expected);
    std::string text(max_method_bytes, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (stream.bad() || text.empty() || text.size() == max_method_bytes)
        throw DataError(file + ": cannot be read as a method; expected " + expected);
    return text;
}

Method method_of(const knn_settings& settings) {
    Method method;
    if (settings.method != nullptr) {
        const NamedMethod* const named = row_named(methods(), settings.method);
        require(named != nullptr || is_method_file(settings.method),
                std::string("method ") + settings.method + ": is unknown; expected " +
                    joined(methods(), [](const NamedMethod& one) { return one.name; }) + " or a file");
        method =
            named != nullptr ? named->method : parse_method_text(read_text(settings.method), settings.method);
    }
    read_name("metric", settings.metric, method.measure.metric);
    read_name("weights", settings.weights, method.vote.weights);
    read_name("tie", settings.tie, method.vote.tie);
    const bool is_lp = method.measure.metric == Metric::lp;
    require(is_lp || settings.p == 0, "p: only the metric lp has an exponent; expected 0");
    if (is_lp && (settings.p != 0 || settings.metric != nullptr)) method.measure.p = settings.p;
    if (const knn::UnsupportedReason why = knn::refuse_measure(method.measure)) throw knn::UsageError(*why);
    require(settings.k >= 0 && settings.k <= max_k, "k " + std::to_string(settings.k) +
                                                        ": is out of range; expected 1 to " +
                                                        std::to_string(max_k) + ", or 0: the method's");
    if (settings.k > 0) method.vote.k = settings.k;
    const bool class_mean = method.vote.votes == VoteKind::class_mean;
    require(!class_mean || settings.weights == nullptr,
            "weights: the method's vote class-mean weighs no votes; expected NULL");
    require(!class_mean || is_integral(method.neighbor_measure()),
            std::string("metric ") + name(method.measure.metric) +
                ": the method's vote class-mean adds up integers; expected l2 or l1");
    if (method.reranks()) {
        require(method.vote.k <= knn::max_candidates,
                "k " + std::to_string(method.vote.k) + ": the method re-ranks no more than " +
                    std::to_string(knn::max_candidates) + " candidates; expected at most as many");
        method.rerank.candidates = std::max(method.rerank.candidates, method.vote.k);
    }
    return method;
}

PlanRequest request_of(const knn_settings& settings) {
    PlanRequest request;
    request.engine = fastest_engine;
    if (settings.engine != nullptr) {
        require(
            std::string_view(settings.engine) == fastest_engine || find_engine(settings.engine) != nullptr,
            std::string("engine ") + settings.engine + ": is unknown; expected classic, tensor, cpu or auto");
        request.engine = settings.engine;
    }
    request.device = device_of(settings.device);
    require(settings.threads >= 0,
            "threads " + std::to_string(settings.threads) + ": expected 0 (all) or more");
    require(settings.memory >= 0, "memory " + std::to_string(settings.memory) + ": expected 0 or more bytes");
    request.threads = settings.threads;
    request.memory = settings.memory;
    return request;
}

/// Whether the answers for each row depend on that row alone and on the neighbors' order: then rows can be searched beside
/// others.
bool is_separable(const Method& method) {
    return !method.reranks() && method.vote.votes == VoteKind::majority && !method.transform.is_fitted();
}

/// Of images and labels: what is fitted to one set is of no use to another.
std::string digest_of(const TrainingSet& set) {
    Sha256 sha;
    const Rows& rows = set.images();
    const std::int64_t sizes[] = {rows.count, rows.dim, set.shape().rows, set.shape().cols};
    sha.add(sizes, sizeof sizes);
    sha.add(rows.pixels, static_cast<std::size_t>(rows.bytes()));
    if (!rows.are_bytes()) sha.add(name(rows.type), std::string_view(name(rows.type)).size());
    sha.add(set.labels().data(), set.labels().size());
    return sha.hex();
}

// The file of knn_index_save: lines "mnist-knn index 1", "set DIGEST", "method BYTES", "NAME BYTES" of what is fitted, "end
// DIGEST" of all that follows; then the method's text and the bytes.

constexpr std::string_view heading = "mnist-knn index 1";
using Piece = std::pair<std::string, std::span<const std::uint8_t>>;

template <class T>
void add_piece(std::vector<Piece>& pieces, const TrainingSet& set, const Method& method, Fitted what,
               std::int64_t count) {
    const std::span<const T> values = set.find<T>(what, method, count);
    if (!values.empty())
        pieces.emplace_back(
            name(what), std::span(reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()));
}

std::vector<Piece> pieces_of(const TrainingSet& set, const Method& method) {
    std::vector<Piece> pieces;
    add_piece<std::uint32_t>(pieces, set, method, Fitted::density, set.size());
    add_piece<std::int64_t>(pieces, set, method, Fitted::spread, set.size());
    add_piece<SampledAnswer>(pieces, set, method, Fitted::sample, std::ssize(strided_sample(set.size())));
    return pieces;
}

void save(const TrainingSet& set, const Method& method, const std::string& file) {
    const std::string text = method_text(method);
    std::vector<Piece> pieces = pieces_of(set, method);
    pieces.insert(pieces.begin(),
                  {"method", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}});
    Sha256 sha;
    for (const auto& [name, bytes] : pieces)
        sha.add(bytes.data(), bytes.size());
    write_file_atomically(file, [&](std::ostream& out) {
        out << heading << "\nset " << digest_of(set) << '\n';
        for (const auto& [name, bytes] : pieces)
            out << name << ' ' << std::to_string(bytes.size()) << '\n';  // the same in every locale
        out << "end " << sha.hex() << '\n';
        for (const auto& [name, bytes] : pieces)
            out.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    });
}

/// Keeps what the file has in the set; its method.
Method load(const TrainingSet& set, const std::string& file) {
    constexpr const char* expected = "a file of knn_index_save of this set";
    const auto refuse = [&](const std::string& what) {
        throw DataError(file + ": " + what + "; expected " + expected);
    };
    std::ifstream stream = opened_file(file, expected);
    std::string line;
    const auto next_line = [&] {  // a file that is none may have no line end, and no end
        char text[128];
        const bool read = bool(stream.getline(text, sizeof text));
        line = read ? text : "";
        return read;
    };
    if (!next_line() || line != heading) refuse("is no saved index");
    if (!next_line() || line != "set " + digest_of(set)) refuse("is of another set");
    std::map<std::string, std::vector<std::uint8_t>> pieces;
    std::vector<std::pair<std::string, std::size_t>> sizes;
    const std::size_t most = static_cast<std::size_t>(set.size()) * sizeof(std::int64_t) + max_method_bytes +
                             sizeof(SampledAnswer) * strided_sample(set.size()).size();
    while (next_line() && !line.starts_with("end ")) {
        std::istringstream words(line);
        std::string what;
        std::size_t size = 0;
        if (!(words >> what >> size) || size > most || sizes.size() == std::size(name_list<Fitted>) ||
            (what != "method" && !named<Fitted>(what)))
            refuse("is damaged");
        sizes.emplace_back(what, size);
    }
    Sha256 sha;
    for (const auto& [what, size] : sizes) {
        std::vector<std::uint8_t>& bytes = pieces[what];
        bytes.resize(size);
        stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
        sha.add(bytes.data(), size);
    }
    if (!stream || stream.peek() != std::ifstream::traits_type::eof() || line != "end " + sha.hex() ||
        !pieces.contains("method"))
        refuse("is damaged");
    const std::vector<std::uint8_t>& text = pieces["method"];
    const Method method = parse_method_text({reinterpret_cast<const char*>(text.data()), text.size()}, file);
    for (const Fitted what : {Fitted::density, Fitted::spread, Fitted::sample})
        if (const auto found = pieces.find(name(what)); found != pieces.end())
            set.keep<std::uint8_t>(what, method, found->second);
    return method;
}

}  // namespace

Results Opened::search(const Queries& queries, const SearchOptions& options) const {
    if (rest == nullptr) return index->search(queries, options);
    const Method& method = index->method();
    const int k = options.k > 0 ? options.k : method.vote.k;
    const std::int64_t n = queries.count(), first = index->set().size();
    SearchOptions own{.k = k, .vote = false, .keep_features = options.keep_features, .token = options.token};
    Results results = index->search(queries, own);
    own.k = static_cast<int>(std::min<std::int64_t>(k, rest->set().size()));
    own.token = options.token.waiting(n, n);
    const Neighbors behind = rest->search(queries, own).neighbors;
    std::vector<ComparedNeighbor> both;
    const auto row_of = [&](std::uint32_t row) { return snapshot->row(row); };
    for (std::int64_t q = 0; q < n; ++q) {
        const auto row = results.neighbors.row(q);
        both.assign(row.begin(), row.end());
        for (const Neighbor& one : behind.row(q))
            both.push_back(Neighbor{one.distance, one.index + static_cast<std::uint32_t>(first)});
        std::partial_sort(both.begin(), both.begin() + k, both.end(), [&](const auto& a, const auto& b) {
            return is_before(method.measure, queries.rows.slice(q, 1), row_of, a, b);
        });
        std::copy_n(both.begin(), k, row.begin());
    }
    if (!options.vote) return results;
    results.votes.resize(static_cast<std::size_t>(n));
    VotingRule rule = method.vote;
    rule.k = k;
    vote_rows(results.neighbors.rows, k, snapshot->labels(), rule, method.neighbor_measure(),
              index->plan().threads, results.votes);
    return results;
}

}  // namespace knn::library

using namespace knn::library;

void knn_index::require_can_save(const std::filesystem::path& file) const {
    const auto is_file = [&](const std::filesystem::path& input) {
        std::error_code none;
        return std::filesystem::equivalent(file, input, none);
    };
    if (is_file(method_file_) || std::ranges::any_of(set_->inputs(), is_file))
        throw knn::DataError(file.string() + ": is what the index was made from; expected another file");
    if (std::error_code none; std::filesystem::is_fifo(file, none))  // which may never be read
        throw knn::DataError(file.string() + ": is a pipe; expected a file");
    if (!knn::other_spellings(file).empty())
        throw knn::DataError(file.string() +
                             ": is a name by which a data set is read; expected another name");
}

std::shared_ptr<const knn::Index> knn_index::open_rows(const knn::TrainingSet& rows,
                                                       const knn::ProgressToken& token) {
    knn::Method method = *method_;
    method.vote.k = static_cast<int>(std::min<std::int64_t>(method.vote.k, rows.size()));
    const knn::Problem problem = method.problem(rows.view(), planned_queries);
    return std::make_shared<const knn::Index>(rows, method, planner_.resolve(problem), token);
}

std::shared_ptr<const Opened> knn_index::last() const {
    const std::lock_guard lock(mutex_);
    return opened_;
}

std::shared_ptr<const Opened> knn_index::open(bool whole, int k, const knn::ProgressToken& token) {
    const std::int64_t wanted =
        std::max(k, method_->vote.k);  // neighbors; an index that has a rest finds them alone
    const auto fits = [&](const Opened* opened, const Snapshot& now) {
        return opened != nullptr && opened->snapshot.get() == &now &&
               (opened->rest == nullptr || (!whole && opened->index->set().size() >= wanted));
    };
    if (auto opened = last(); fits(opened.get(), *set_->now())) return opened;
    const std::lock_guard one(opening_);
    const auto now = set_->now();
    const auto before = last();
    if (fits(before.get(), *now)) return before;
    auto next = std::make_shared<Opened>();
    next->snapshot = now;
    const std::int64_t have = before == nullptr ? 0 : before->index->set().size();
    const bool adds = !whole && is_separable(*method_) &&
                      have >= std::max<std::int64_t>(now->base().size(), wanted) &&
                      (now->size() - have) * rows_per_rest <= have;
    if (adds) {
        next->index = before->index;
        next->rest = open_rows(now->rest(have), token);
    } else {
        next->index = open_rows(now->whole(), token);
    }
    const std::lock_guard lock(mutex_);
    opened_ = next;
    return next;
}

std::shared_ptr<const Scoring> knn_index::scoring(const Opened& opened, const knn::ProgressToken& token) {
    const std::lock_guard one(opening_);
    if (scoring_ == nullptr || scored_ != opened.index) {
        scoring_ = nullptr;
        scoring_ = std::make_shared<const Scoring>(*opened.index, token);
        scored_ = opened.index;
    }
    return scoring_;
}

namespace {

using knn::library::call;

/// Throws if the method, which the caller knows by this name, cannot be used on such rows.
void require_suits(const knn::Method& method, const std::string& named, const knn::TrainingSet& set,
                   const Progress& progress) {
    const knn::Training& rows = set.view();
    const std::string of = "method " + named + ": ", part = method.part_for_images();
    require(part.empty() || rows.shape.rows > 1,
            of + part + ": compares images, and the set has vectors of " + std::to_string(rows.rows.dim) +
                " elements; expected image_rows and image_cols of the set, or another method");
    try {
        method.problem(rows, 1);
    } catch (const knn::UsageError& error) {
        throw knn::UsageError(of + error.what());
    }
    knn::library::require_comparable(rows.rows, method, "training set", progress.token());
}

/// Opens at once, so that errors are those of this call.
knn_index* new_index(const knn_set* set, const knn_settings* given, const char* file) {
    const knn_settings settings = given == nullptr ? knn_settings{} : read_struct(given, "settings");
    require_there(set, "set", "a set");
    const Progress progress(settings.progress, settings.data);
    if (file != nullptr)
        require(
            !settings.method && !settings.metric && !settings.weights && !settings.tie && settings.p == 0 &&
                settings.k == 0,
            "settings: choose a method beside that of the file; expected NULL and 0 for what a method has");
    const knn::Method method = file == nullptr ? method_of(settings) : load(set->rows->now()->whole(), file);
    const bool is_file = settings.method != nullptr && row_named(knn::methods(), settings.method) == nullptr;
    auto index = std::make_unique<knn_index>(
        set->rows, method, request_of(settings),
        is_file ? std::filesystem::absolute(settings.method) : std::filesystem::path());
    require_suits(index->method(), file == nullptr ? text_of(settings.method) : file,
                  set->rows->now()->whole(), progress);
    index->open(true, 1, progress.token());
    return index.release();
}

}  // namespace

extern "C" {

knn_status knn_index_create(const knn_set* set, const knn_settings* settings, knn_index** index) {
    return call([&] {
        require_there(index, "index", "where the handle goes");
        *index = nullptr;
        *index = new_index(set, settings, nullptr);
    });
}

knn_status knn_index_open(const knn_set* set, const char* file, const knn_settings* settings,
                          knn_index** index) {
    return call([&] {
        require_there(index, "index", "where the handle goes");
        *index = nullptr;
        require_there(file, "file", "a name");
        *index = new_index(set, settings, file);
    });
}

knn_status knn_index_save(knn_index* index, const char* file) {
    return call([&] {
        require_there(index, "index", "an index");
        require_there(file, "file", "a name");
        index->require_can_save(file);
        const auto opened = index->open(true, 1, {});
        if (opened->snapshot->has_labels()) index->scoring(*opened, {});
        save(opened->index->set(), index->method(), file);
    });
}

knn_status knn_index_get_info(const knn_index* index, knn_index_info* info) {
    return call([&] {
        require_there(index, "index", "an index");
        const auto opened = index->last();
        const knn::Plan& plan = opened->index->plan();
        const knn::Method& method = index->method();
        const auto* const engine = knn::find_engine(plan.engine);
        knn_index_info known{.struct_size = 0,
                             .count = opened->size(),
                             .method = knn::name_of(method).data(),
                             .engine = engine == nullptr ? "" : engine->name,
                             .device = "",
                             .k = method.vote.k,
                             .reserved = 0,
                             .metric = knn::name(method.measure.metric),
                             .candidates = method.reranks() ? method.rerank.candidates : 0};
        const std::string device = knn::device_id(plan.device);
        device.copy(known.device, sizeof known.device - 1);
        write_struct(known, info, "info");
    });
}

void knn_index_free(knn_index* index) {
    delete index;
}
}
