#include "tests/faults/job.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tests/cli/commands.h"
#include "tests/cli/pictures.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace knn::test {

namespace {

constexpr std::size_t n_train = 120, n_test = 20, pixels = 28 * 28;

/// The first items of an IDX file, at most 255, as gzip or plain.
void copy_first(const std::string& from, const std::string& to, std::size_t items, std::size_t header_bytes,
                std::size_t item_bytes, bool as_gzip) {
    std::string content = read_file(from).substr(0, header_bytes + items * item_bytes);
    content.replace(4, 4, {'\0', '\0', '\0', static_cast<char>(items)});
    const gzFile file = ::gzopen(to.c_str(), as_gzip ? "wb" : "wbT");
    REQUIRE(::gzwrite(file, content.data(), static_cast<unsigned>(content.size())) > 0);
    REQUIRE(::gzclose(file) == Z_OK);
}

/// The first of the digits that the program draws.
void write_data(const std::string& folder) {
    const Digits digits;
    fs::create_directory(folder);
    for (const bool train : {true, false}) {
        const std::string name = train ? "train" : "t10k", ending = train ? ".gz" : "";
        const std::size_t n = train ? n_train : n_test;
        for (const auto& [part, header, bytes] :
             {std::tuple("-images-idx3-ubyte", 16, pixels), {"-labels-idx1-ubyte", 8, 1}})
            copy_first(digits.folder / (name + part), folder + "/" + name + part + ending, n,
                       std::size_t(header), bytes, train);
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
    CAPTURE(result.err);
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
