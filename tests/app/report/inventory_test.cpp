#include "classifier/inventory.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "app/report/json.h"
#include "app/report/text.h"

namespace knn {

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("info: links between GPUs, one row if all are alike") {
    Inventory inventory;
    CHECK(!contains(inventory_text(inventory), "links between GPUs"));
    CHECK(!nlohmann::json::parse(inventory_json(inventory)).contains("links"));

    inventory.links = {{0, 1, true, true, 0}, {0, 2, true, true, 0}, {1, 2, true, true, 0}};
    CHECK(contains(inventory_text(inventory), "all 3 pairs  peer access by NVLink, performance rank 0"));

    inventory.links[1] = {0, 2, true, false, 1};
    inventory.links[2] = {1, 2, false, false, 0};
    const std::string text = inventory_text(inventory);
    CHECK(contains(text, "gpu:0,1  peer access by NVLink, performance rank 0"));
    CHECK(contains(text, "gpu:0,2  peer access by PCI Express, performance rank 1"));
    CHECK(contains(text, "gpu:1,2  no peer access: copies go through host memory"));
    const auto links = nlohmann::json::parse(inventory_json(inventory))["links"];
    REQUIRE(links.size() == 3);
    CHECK(links[1] == nlohmann::json::parse(R"({"from": 0, "to": 2, "direct": true, "native_atomics": false,
                                               "performance_rank": 1})"));
}

TEST_CASE("info: versions of MPI and NCCL, or why there is none") {
    Inventory inventory;
    inventory.why_no_mpi = "this build has no MPI";
    inventory.nccl = "2.28.3";
    const std::string text = inventory_text(inventory);
    CHECK(contains(text, "none: this build has no MPI"));
    CHECK(contains(text, "2.28.3; not used"));
    const auto libraries = nlohmann::json::parse(inventory_json(inventory))["libraries"];
    CHECK(libraries[0]["missing"] == "this build has no MPI");
    CHECK(libraries[1]["version"] == "2.28.3");
    CHECK(!libraries[1].contains("missing"));
}

}  // namespace knn
