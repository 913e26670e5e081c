#include "tests/faults/job.h"

#include <cstdio>

#include "tests/cli/pictures.h"
#include "tests/support/idx_bytes.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace knn::test {

namespace {

/// The first of the digits that the program draws, and two pictures; training files as gzip.
void write_data(const std::string& folder) {
    constexpr std::uint32_t n_train = 120, n_test = 20;
    const Digits digits;
    for (const bool train : {true, false}) {
        const std::uint32_t n = train ? n_train : n_test;
        for (const bool images : {true, false}) {
            const std::string name = std::string(train ? "train" : "t10k") +
                                     (images ? "-images-idx3-ubyte" : "-labels-idx1-ubyte");
            const std::string all = read_file(digits.folder / name);
            const std::string content = images ? idx_header(8, {n, 28, 28}) + all.substr(16, n * 784)
                                               : idx_header(8, {n}) + all.substr(8, n);
            train ? write(folder + '/' + name + ".gz", gzip(content)) : write(folder + '/' + name, content);
        }
    }
    for (const int i : {0, 1})
        write(folder + '/' + std::to_string(i) + ".pgm", photo(digits, i));
}

/// Without the members that say when and how fast.
void remove_times(json& value) {
    if (value.is_object())
        for (auto member = value.begin(); member != value.end();)
            if (member.key() == "timing" || member.key() == "created" || member.key().ends_with("_ms"))
                member = value.erase(member);
            else
                remove_times(*member++);
    else if (value.is_array())
        for (json& element : value)
            remove_times(element);
}

std::string lasting(const fs::path& file) {
    std::string content = read_file(file);
    if (file.extension() == ".html")
        return content.substr(content.size() - std::min<std::size_t>(content.size(), 8));
    if (file.extension() != ".json") return content;
    json value = json::parse(content, nullptr, false);
    remove_times(value);
    return value.dump();
}

bool is_unfinished(const fs::path& file) {
    return file.filename().string().starts_with(".mnist-knn-");
}

}  // namespace

Workplace::Workplace(const std::string& command)
    : job_(*std::ranges::find(commands(), command, &Command::name)),
      words_(job_.words + job_.outputs + "--threads 2") {
    write_data(folder_ / "data");
    forget();
    const RunResult result = run();
    REQUIRE(result.exit_code == 0);
    seconds_ = result.seconds;
    expected_ = outputs();
    REQUIRE(!expected_.empty());
    fs::copy(folder_ / "cache", folder_ / "kept", fs::copy_options::recursive);
    check_next_run();  // with the cache of the first
}

RunOptions Workplace::here() const {
    return {.environment = {{"XDG_CACHE_HOME", folder_ / "cache"}}, .folder = folder_ / ""};
}

RunResult Workplace::run(RunOptions options) const {
    options.folder = here().folder;
    options.environment.merge(here().environment);
    return program(words_, options);
}

bool Workplace::run_at_once(int processes) const {
    const std::string line = "for i in $(seq " + std::to_string(processes) + "); do '" MNIST_KNN_BINARY "' " +
                             words_.line() +
                             "& all=\"$all $!\"; done; for one in $all; do wait $one || exit 1; done";
    return test::run({"/bin/sh", "-c", line}, here()).exit_code == 0;
}

Contents Workplace::outputs() const {
    Contents contents;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "out"))
        if (entry.is_regular_file() && !is_unfinished(entry.path()))
            contents[fs::relative(entry.path(), folder_ / "out")] = lasting(entry.path());
    return contents;
}

void Workplace::check_next_run() const {
    const RunResult result = run();
    CHECK(result.exit_code == 0);
    CHECK(outputs() == expected_);
}

void Workplace::check_whole_or_absent() const {
    for (const auto& [name, content] : outputs()) {
        CAPTURE(name);
        const auto whole = expected_.find(name);
        const bool is_whole = whole != expected_.end() && whole->second == content;
        CHECK(is_whole);
    }
}

void Workplace::remove_unfinished() const {
    std::vector<fs::path> left;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
        if (is_unfinished(entry.path())) left.push_back(entry.path());
    for (const fs::path& file : left)
        fs::remove(file);
}

void Workplace::check_nothing_unfinished() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
        CAPTURE(entry.path().string());
        CHECK(!is_unfinished(entry.path()));
    }
}

void Workplace::forget() const {
    for (const char* name : {"out", "cache"}) {
        fs::remove_all(folder_ / name);
        fs::create_directory(folder_ / name);
    }
}

void Workplace::remember() const {
    forget();
    fs::copy(folder_ / "kept", folder_ / "cache", fs::copy_options::recursive);
}

std::vector<fs::path> Workplace::cache_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "cache"))
        if (entry.is_regular_file()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

bool try_all() {
    return std::getenv("MNIST_KNN_FAULTS") != nullptr;
}

FaultShare fault_share() {
    FaultShare share;
    const char* wanted = std::getenv("MNIST_KNN_FAULTS");
    if (wanted == nullptr || std::string(wanted) == "all") return share;
    char end = 0;
    REQUIRE(std::sscanf(wanted, "%llu/%llu%c", &share.first, &share.of, &end) == 2);
    REQUIRE(share.first >= 1);
    REQUIRE(share.first <= share.of);
    return share;
}

}  // namespace knn::test
