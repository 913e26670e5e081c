#include "classifier/inventory.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/report/json.h"
#include "app/report/text.h"
#include "data/core/format.h"
#include "version.h"

namespace knn {

namespace {

using Lines = std::vector<std::vector<std::string>>;

constexpr const char* no_nccl_needed = "; not used: ranks exchange by MPI, devices of a process by CUDA";

/// A heading and rows with aligned first cells.
std::string section(const std::string& title, const Lines& rows) {
    std::size_t cells = 0;
    for (const auto& row : rows)
        cells = std::max(cells, row.size());
    Table table(std::vector<Align>(cells, Align::left));
    for (const auto& row : rows)
        table.add(row);
    return title + '\n' + table.text() + '\n';
}

bool is_available(const Engine& engine, const Inventory& inventory) {
    return engine.open != nullptr && (!engine.on_gpu || !inventory.gpus.empty());
}

bool is_mnist(const Inventory& inventory) {
    return !inventory.checksums.empty() &&
           std::all_of(inventory.checksums.begin(), inventory.checksums.end(),
                       [](const FileChecksum& file) { return file.is_mnist(); });
}

std::string build_section(const Inventory& inventory) {
    const std::string cuda = build_cuda, opencv = build_opencv;
    std::string cards = build_cuda_architectures;
    std::replace(cards.begin(), cards.end(), ';', ' ');
    return section(std::string("mnist-knn ") + program_version,
                   {{"build", build_type},
                    {"compiler", build_compiler},
                    {"CUDA", cuda.empty() ? "none: built without nvcc, the GPU engines are missing"
                                          : cuda + " for " + cards},
                    {"OpenCV", opencv.empty() ? "none: built without it, pictures are missing" : opencv},
                    {"MPI", inventory.mpi.empty() ? "none: " + inventory.why_no_mpi : inventory.mpi},
                    {"NCCL", inventory.nccl.empty() ? "none: " + inventory.why_no_nccl + no_nccl_needed
                                                    : inventory.nccl + no_nccl_needed}});
}

std::string link_text(const DeviceLink& link) {
    if (!link.direct) return "no peer access: copies go through host memory";
    return std::string("peer access by ") + (link.native_atomics ? "NVLink" : "PCI Express") +
           ", performance rank " + std::to_string(link.performance_rank);
}

/// One row if all pairs of GPUs are linked alike.
std::string links_section(const Inventory& inventory) {
    const std::vector<DeviceLink>& links = inventory.links;
    if (links.empty()) return "";
    const bool alike = std::all_of(links.begin(), links.end(), [&](const DeviceLink& link) {
        return link_text(link) == link_text(links.front());
    });
    if (alike && links.size() > 1)
        return section("links between GPUs",
                       {{"all " + std::to_string(links.size()) + " pairs", link_text(links.front())}});
    Lines rows;
    for (const DeviceLink& link : links)
        rows.push_back({"gpu:" + std::to_string(link.from) + "," + std::to_string(link.to), link_text(link)});
    return section("links between GPUs", rows);
}

std::string devices_section(const Inventory& inventory) {
    Lines rows;
    for (const Device& gpu : inventory.gpus)
        rows.push_back({"gpu:" + std::to_string(gpu.number),
                        gpu.name + ", compute capability " + gpu.compute_capability + ", " +
                            gibibytes(gpu.memory_bytes) + ", CUDA driver " + gpu.driver + ", runtime " +
                            gpu.runtime});
    if (rows.empty()) rows.push_back({"gpu", "none: " + inventory.why_no_gpu});
    const int threads = inventory.threads;
    rows.push_back({"cpu", inventory.cpu.name + ", " + counted(threads, "thread")});
    return section("devices (--device)", rows);
}

std::string engines_section(const Inventory& inventory) {
    Lines rows;
    for (const Engine& engine : engines())
        rows.push_back({engine.name, std::string(engine.summary) +
                                         (is_available(engine, inventory) ? "" : " (not on this machine)")});
    rows.push_back({"auto", "the fastest of them that answers the problem on the device"});
    return section("engines (--engine)", rows);
}

std::string strategies_section(const std::string& title, const std::vector<Strategy>& strategies) {
    if (strategies.empty()) return "";
    Lines rows;
    for (const Strategy& strategy : strategies)
        rows.push_back({strategy.name, strategy.summary});
    return section(title, rows);
}

std::string data_section(const Inventory& inventory) {
    Lines rows;
    if (!inventory.data_problem.empty()) rows.push_back({"problem", harmless(inventory.data_problem)});
    if (inventory.found) {
        rows.push_back({"would use", harmless(inventory.found->source)});
        for (const std::string& place : inventory.found->looked_in)
            rows.push_back({"looked in", harmless(place)});
        for (const std::string& place : inventory.found->incomplete)
            rows.push_back({"incomplete", harmless(place)});
    }
    rows.push_back({"cache", inventory.cache.empty()
                                 ? "none: neither XDG_CACHE_HOME nor HOME names a folder"
                                 : harmless(inventory.cache) + ", " +
                                       fixed(double(inventory.cache_bytes) / (1 << 20), 1) +
                                       " MiB, made by earlier runs; may be deleted"});
    std::string text = section("data set (--data)", rows);
    text.pop_back();
    Table files({Align::left, Align::left, Align::left});
    for (const FileChecksum& file : inventory.checksums)
        files.add({harmless(file.file.filename().string()), "sha256 " + file.sha256.substr(0, 16),
                   file.is_mnist() ? "as in MNIST" : "not MNIST's"});
    text += files.text();
    if (is_mnist(inventory)) return text + "  all checksums match MNIST\n";
    if (!inventory.fetch_script.empty())
        return text + "  MNIST: " + harmless(inventory.fetch_script) +
               " downloads it to a folder that this program searches, and checks it\n";
    return text + "  MNIST: tools/fetch_mnist.sh downloads it into data/mnist and checks it\n";
}

using Json = nlohmann::ordered_json;

Json build_json() {
    Json build = {{"type", build_type}, {"compiler", build_compiler}};
    if (*build_cuda != '\0') build["cuda"] = build_cuda;
    if (*build_cuda != '\0') build["cuda_architectures"] = build_cuda_architectures;
    if (*build_opencv != '\0') build["opencv"] = build_opencv;
    return build;
}

Json devices_json(const Inventory& inventory) {
    Json devices = Json::array();
    for (const Device& gpu : inventory.gpus) {
        devices.push_back(json_device(gpu));
        devices.back()["number"] = gpu.number;
    }
    devices.push_back(json_device(inventory.cpu));
    devices.back()["threads"] = inventory.threads;
    return devices;
}

Json links_json(const Inventory& inventory) {
    Json list = Json::array();
    for (const DeviceLink& link : inventory.links)
        list.push_back({{"from", link.from},
                        {"to", link.to},
                        {"direct", link.direct},
                        {"native_atomics", link.native_atomics},
                        {"performance_rank", link.performance_rank}});
    return list;
}

Json library_json(const char* name, const std::string& version, const std::string& why_none) {
    if (version.empty()) return {{"name", name}, {"missing", why_none}};
    return {{"name", name}, {"version", version}};
}

Json engines_json(const Inventory& inventory) {
    Json list = Json::array();
    for (const Engine& engine : engines())
        list.push_back({{"name", engine.name},
                        {"summary", engine.summary},
                        {"available", is_available(engine, inventory)}});
    return list;
}

Json strategies_json(const std::vector<Strategy>& strategies) {
    Json list = Json::array();
    for (const Strategy& strategy : strategies)
        list.push_back({{"name", strategy.name}, {"summary", strategy.summary}});
    return list;
}

Json data_json(const Inventory& inventory) {
    Json data = Json::object();
    if (!inventory.data_problem.empty()) data["problem"] = inventory.data_problem;
    if (!inventory.found) return data;
    data["source"] = inventory.found->source;
    data["synthetic"] = inventory.found->synthetic;
    data["looked_in"] = inventory.found->looked_in;
    data["incomplete"] = inventory.found->incomplete;
    data["files"] = Json::array();
    for (const FileChecksum& file : inventory.checksums)
        data["files"].push_back(
            {{"file", report_path(file.file)}, {"sha256", file.sha256}, {"mnist", file.is_mnist()}});
    data["mnist"] = is_mnist(inventory);
    return data;
}

}  // namespace

std::string inventory_text(const Inventory& inventory) {
    return build_section(inventory) + devices_section(inventory) + links_section(inventory) +
           engines_section(inventory) +
           strategies_section("distance kernels (--distance)", distance_kernels()) +
           strategies_section("selectors (--select)", selectors()) +
           strategies_section("kernels of --engine tensor (--distance)", tensor_kernels()) +
           data_section(inventory);
}

std::string inventory_json(const Inventory& inventory) {
    Json json = json_head("mnist-knn/info/1");
    json["build"] = build_json();
    json["devices"] = devices_json(inventory);
    if (inventory.gpus.empty()) json["why_no_gpu"] = inventory.why_no_gpu;
    if (!inventory.links.empty()) json["links"] = links_json(inventory);
    json["libraries"] = {library_json("mpi", inventory.mpi, inventory.why_no_mpi),
                         library_json("nccl", inventory.nccl, inventory.why_no_nccl)};
    if (!inventory.mpi.empty()) json["build"]["mpi"] = inventory.mpi;
    json["engines"] = engines_json(inventory);
    json["distances"] = strategies_json(distance_kernels());
    json["selectors"] = strategies_json(selectors());
    json["tensor_kernels"] = strategies_json(tensor_kernels());
    json["dataset"] = data_json(inventory);
    json["cache"] = {{"folder", inventory.cache}, {"bytes", inventory.cache_bytes}};
    return json_text(json);
}

}  // namespace knn
