#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/commands/loading.h"
#include "app/console/console.h"
#include "app/report/json.h"
#include "app/report/text.h"
#include "classifier/inventory.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/picture/picture_module.h"
#include "data/set/cache.h"
#include "data/synthetic/synthetic.h"
#include "version.h"

namespace knn {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* no_nccl_needed = "; not used: ranks exchange by MPI, devices of a process by CUDA";

std::string section(const std::string& title, const Facts& facts) {
    return title + '\n' + facts_text(facts, 2) + '\n';
}

/// What an option names: the headings in the text and in the JSON.
struct Choices {
    const char *title, *key;
    std::vector<Strategy> list;
};

std::vector<Choices> all_strategies() {
    return {{"distance kernels (--distance)", "distances", distance_kernels()},
            {"selectors (--select)", "selectors", selectors()},
            {"kernels of --engine tensor (--distance)", "tensor_kernels", tensor_kernels()}};
}

bool is_available(const Engine& engine, const Inventory& inventory) {
    return engine.open != nullptr && (!engine.on_gpu || !inventory.gpus.empty());
}

bool is_mnist(const Inventory& inventory) {
    return !inventory.checksums.empty() && std::ranges::all_of(inventory.checksums, &FileChecksum::is_mnist);
}

/// Why pictures cannot be read; empty: they can.
std::string no_pictures() {
    return *build_opencv == '\0' ? "built without it, pictures are missing" : missing_picture_module();
}

std::string build_section(const Inventory& inventory) {
    const auto or_none = [](const std::string& found, const std::string& why) {
        return found.empty() ? "none: " + why : found;
    };
    const std::string cuda = build_cuda, missing = no_pictures();
    std::string cards = build_cuda_architectures;
    std::ranges::replace(cards, ';', ' ');
    return section(std::string("mnist-knn ") + program_version,
                   {{"build", build_type},
                    {"compiler", build_compiler},
                    {"CUDA", or_none(cuda.empty() ? "" : cuda + " for " + cards,
                                     "built without nvcc, the GPU engines are missing")},
                    {"OpenCV", or_none(missing.empty() ? build_opencv : "", missing)},
                    {"MPI", or_none(inventory.mpi, inventory.why_no_mpi)},
                    {"NCCL", or_none(inventory.nccl, inventory.why_no_nccl) + no_nccl_needed}});
}

/// One row if all pairs of GPUs are linked alike.
std::string links_section(const Inventory& inventory) {
    const std::vector<DeviceLink>& links = inventory.links;
    if (links.empty()) return "";
    Facts facts;
    for (const DeviceLink& link : links)
        facts.emplace_back("gpu:" + std::to_string(link.from) + "," + std::to_string(link.to),
                           !link.direct ? "no peer access: copies go through host memory"
                                        : std::string("peer access by ") +
                                              (link.native_atomics ? "NVLink" : "PCI Express") +
                                              ", performance rank " + std::to_string(link.performance_rank));
    const auto alike = std::ranges::count(facts, facts.front().second, &Facts::value_type::second);
    if (alike > 1 && alike == std::ssize(facts))
        facts = {{"all " + std::to_string(links.size()) + " pairs", facts.front().second}};
    return section("links between GPUs", facts);
}

std::string devices_section(const Inventory& inventory) {
    Facts facts;
    for (const Device& gpu : inventory.gpus)
        facts.emplace_back("gpu:" + std::to_string(gpu.number),
                           gpu.name + ", compute capability " + gpu.compute_capability + ", " +
                               gibibytes(gpu.memory_bytes) + ", CUDA driver " + gpu.driver + ", runtime " +
                               gpu.runtime);
    if (facts.empty()) facts.emplace_back("gpu", "none: " + inventory.why_no_gpu);
    facts.emplace_back("cpu", inventory.cpu.name + ", " + counted(inventory.threads, "thread"));
    return section("devices (--device)", facts);
}

std::string choices_sections(const Inventory& inventory) {
    Facts facts;
    for (const Engine& engine : engines())
        facts.emplace_back(
            engine.name,
            std::string(engine.summary) + (is_available(engine, inventory) ? "" : " (not on this machine)"));
    facts.emplace_back("auto", "the fastest of them that answers the problem on the device");
    std::string text = section("engines (--engine)", facts);
    for (const auto& [title, key, list] : all_strategies()) {
        if (list.empty()) continue;
        facts.clear();
        for (const Strategy& strategy : list)
            facts.emplace_back(strategy.name, strategy.summary);
        text += section(title, facts);
    }
    return text;
}

/// Why the cache's folder cannot be read; none if it is not there.
std::error_code cache_problem(const Inventory& inventory) {
    std::error_code error;
    const std::filesystem::directory_iterator entries(inventory.cache, error);
    return error == std::errc::no_such_file_or_directory ? std::error_code() : error;
}

std::string cache_text(const Inventory& inventory) {
    if (inventory.cache.empty())
        return "none: XDG_CACHE_HOME=/dev/null turns it off, or neither it nor $HOME is a folder's whole "
               "name";
    std::error_code error;
    if (std::filesystem::status(inventory.cache, error).type() == std::filesystem::file_type::not_found)
        return harmless(inventory.cache) + ", which is not there yet";
    if (const std::error_code problem = cache_problem(inventory))
        return harmless(inventory.cache) + ", which cannot be read: " + problem.message();
    if (!is_own_cache()) return harmless(inventory.cache) + ", which belongs to another user and is not used";
    std::string text = harmless(inventory.cache) + ", " + fixed(double(inventory.cache_bytes) / 1e6, 1) +
                       " of at most " + with_commas(std::int64_t(inventory.cache_limit / 1'000'000)) +
                       " MB, made by earlier runs; may be deleted";
    if (inventory.cache_bytes > inventory.cache_limit)
        text +=
            ": what is too much goes when a run adds a file, or all of it by 'mnist-knn info "
            "--clear-cache'";
    return text;
}

std::string data_section(const Inventory& inventory) {
    Facts facts = {{"problem", harmless(inventory.data_problem)}};
    if (inventory.found) {
        facts.emplace_back("would use", harmless(inventory.found->source));
        for (const std::string& place : inventory.found->looked_in)
            facts.emplace_back("looked in", harmless(place));
        for (const std::string& place : inventory.found->incomplete)
            facts.emplace_back("incomplete", harmless(place));
    }
    facts.emplace_back("cache", cache_text(inventory));
    Table files({Align::left, Align::left, Align::left});
    for (const FileChecksum& file : inventory.checksums)
        files.add({harmless(file.file.filename().string()),
                   file.sha256.empty() ? "too large to hash" : "sha256 " + file.sha256.substr(0, 16),
                   file.is_mnist() ? "as in MNIST" : "not MNIST's"});
    const std::string text = "data set (--data)\n" + facts_text(facts, 2) + files.text();
    if (is_mnist(inventory)) return text + "  all checksums match MNIST\n";
    if (!inventory.fetch_script.empty())
        return text + "  MNIST: " + harmless(inventory.fetch_script) +
               " downloads it to a folder that this program searches, and checks it\n";
    return text + "  MNIST: tools/fetch_mnist.sh downloads it into data/mnist and checks it\n";
}

Json library_json(const char* name, const std::string& version, const std::string& why_none) {
    if (version.empty()) return {{"name", name}, {"missing", why_none}};
    return {{"name", name}, {"version", version}};
}

Json data_json(const Inventory& inventory) {
    Json data = Json::object();
    if (!inventory.data_problem.empty()) data["problem"] = inventory.data_problem;
    if (!inventory.found) return data;
    data["source"] = report_path(inventory.found->source);
    data["synthetic"] = inventory.found->synthetic;
    data["looked_in"] = Json::array();
    for (const std::string& place : inventory.found->looked_in)
        data["looked_in"].push_back(report_path(place));
    data["incomplete"] = inventory.found->incomplete;
    data["files"] = Json::array();
    for (const FileChecksum& file : inventory.checksums)
        data["files"].push_back(
            {{"file", report_path(file.file)}, {"sha256", file.sha256}, {"mnist", file.is_mnist()}});
    data["mnist"] = is_mnist(inventory);
    return data;
}

}  // namespace

int info(const Options& options, Clock::time_point) {
    for (const char* alone : {"clear-cache", "write-synthetic"})
        if (options.given.contains(alone) && options.given.size() > 1)
            throw UsageError(std::string("--") + alone +
                             ": does nothing else; expected no other option beside it");
    if (options.info.clear_cache) {
        const std::string folder = cache_folder().string();
        const double bytes = static_cast<double>(clear_cache());
        std::error_code none;
        print(!std::filesystem::is_directory(folder, none)
                  ? "there is no cache folder\n"
                  : "removed " + fixed(bytes / 1e6, 1) + " MB from " + harmless(folder) + '\n');
        return 0;
    }
    if (const std::string& folder = options.info.write_synthetic; !folder.empty()) {
        const std::vector<std::filesystem::path> present = dataset_files(folder);
        if (!present.empty())
            throw DataError(folder + ": already has " + present[0].filename().string() +
                            "; expected a folder without a data set, which would be replaced or hidden");
        check_outputs(output_places(options), {});
        const Dataset digits = synthetic_digits();
        std::vector<OutputFile> files = idx_files(folder, digits.train);
        for (OutputFile& file : idx_files(folder, digits.test, true))
            files.push_back(std::move(file));
        write_outputs_together(files, folder);
        print(with_commas(digits.train.count) + " training and " + with_commas(digits.test.count) +
              " test images are in " + harmless(folder) + '\n');
        return 0;
    }
    const Inventory inventory = take_inventory(options.data);
    check_outputs(output_places(options),
                  inventory.found ? inventory.found->inputs() : std::vector<std::filesystem::path>());
    write_results({{options.output.json, [&](std::ostream& out) { out << inventory_json(inventory); }}},
                  inventory_text(inventory));
    // What the user named and what cannot be used is an error, but not before all else has been told.
    if (!inventory.data_problem.empty()) throw DataError(inventory.data_problem);
    return 0;
}

std::string inventory_text(const Inventory& inventory) {
    return build_section(inventory) + devices_section(inventory) + links_section(inventory) +
           choices_sections(inventory) + data_section(inventory);
}

std::string inventory_json(const Inventory& inventory) {
    Json json = json_head("mnist-knn/info/1");
    Json& build = json["build"] = {{"type", build_type}, {"compiler", build_compiler}};
    if (*build_cuda != '\0') build["cuda"] = build_cuda;
    if (*build_cuda != '\0') build["cuda_architectures"] = build_cuda_architectures;
    if (*build_opencv != '\0') build["opencv"] = build_opencv;
    if (!inventory.mpi.empty()) build["mpi"] = inventory.mpi;
    json["devices"] = Json::array();
    for (const Device& gpu : inventory.gpus) {
        json["devices"].push_back(json_device(gpu));
        json["devices"].back()["number"] = gpu.number;
    }
    json["devices"].push_back(json_device(inventory.cpu));
    json["devices"].back()["threads"] = inventory.threads;
    if (inventory.gpus.empty()) json["why_no_gpu"] = inventory.why_no_gpu;
    for (const DeviceLink& link : inventory.links)
        json["links"].push_back({{"from", link.from},
                                 {"to", link.to},
                                 {"direct", link.direct},
                                 {"native_atomics", link.native_atomics},
                                 {"performance_rank", link.performance_rank}});
    const std::string missing = no_pictures();
    json["libraries"] = {library_json("mpi", inventory.mpi, inventory.why_no_mpi),
                         library_json("nccl", inventory.nccl, inventory.why_no_nccl),
                         library_json("opencv", missing.empty() ? build_opencv : "", missing)};
    for (const Engine& engine : engines())
        json["engines"].push_back({{"name", engine.name},
                                   {"summary", engine.summary},
                                   {"available", is_available(engine, inventory)}});
    for (const auto& [title, key, list] : all_strategies()) {
        json[key] = Json::array();
        for (const Strategy& strategy : list)
            json[key].push_back({{"name", strategy.name}, {"summary", strategy.summary}});
    }
    json["dataset"] = data_json(inventory);
    json["cache"] = {{"folder", report_path(inventory.cache)},
                     {"bytes", inventory.cache_bytes},
                     {"max_bytes", inventory.cache_limit}};
    if (cache_problem(inventory)) json["cache"].erase("bytes");  // unknown
    return json_text(json);
}

}  // namespace knn
