#include <algorithm>

#include "app/report/inventory.h"
#include "data/core/format.h"
#include "data/core/words.h"
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
    rows.push_back(
        {"cpu", inventory.cpu.name + ", " + std::to_string(threads) + ' ' + noun(threads, "thread")});
    return section("devices (--device)", rows);
}

std::string engines_section(const Inventory& inventory) {
    Lines rows;
    for (const Engine& engine : engines()) {
        const bool lacking = engine.open == nullptr || (engine.on_gpu && inventory.gpus.empty());
        rows.push_back(
            {engine.name, std::string(engine.summary) + (lacking ? " (not on this machine)" : "")});
    }
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
    bool all_mnist = !inventory.checksums.empty();
    for (const FileChecksum& file : inventory.checksums) {
        files.add({harmless(file.file.filename().string()), "sha256 " + file.sha256.substr(0, 16),
                   file.is_mnist() ? "as in MNIST" : "not MNIST's"});
        all_mnist = all_mnist && file.is_mnist();
    }
    text += files.text();
    if (all_mnist) return text + "  all checksums match MNIST\n";
    if (!inventory.fetch_script.empty())
        return text + "  MNIST: " + harmless(inventory.fetch_script) +
               " downloads it to a folder that this program searches, and checks it\n";
    return text + "  MNIST: tools/fetch_mnist.sh downloads it into data/mnist and checks it\n";
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

}  // namespace knn
