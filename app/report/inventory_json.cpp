#include <nlohmann/json.hpp>

#include "app/report/inventory.h"
#include "app/report/json.h"
#include "app/report/report_path.h"
#include "version.h"

namespace knn {

namespace {

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
        list.push_back(
            {{"name", engine.name},
             {"summary", engine.summary},
             {"available", engine.open != nullptr && (!engine.on_gpu || !inventory.gpus.empty())}});
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
    bool mnist = !inventory.checksums.empty();
    for (const FileChecksum& file : inventory.checksums) {
        data["files"].push_back(
            {{"file", report_path(file.file)}, {"sha256", file.sha256}, {"mnist", file.is_mnist()}});
        mnist = mnist && file.is_mnist();
    }
    data["mnist"] = mnist;
    return data;
}

}  // namespace

std::string inventory_json(const Inventory& inventory) {
    Json json = {{"schema", "mnist-knn/info/1"},
                 {"program", {{"name", "mnist-knn"}, {"version", program_version}}},
                 {"build", build_json()},
                 {"devices", devices_json(inventory)}};
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
