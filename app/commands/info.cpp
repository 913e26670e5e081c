#include <array>
#include <filesystem>

#include "app/cli/command_line.h"
#include "app/console/output.h"
#include "app/report/json.h"
#include "app/report/text.h"
#include "classifier/inventory.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/set/idx.h"
#include "data/set/mnist_checksums.h"
#include "data/synthetic/synthetic.h"

namespace knn {

namespace {

void write_dataset(const std::filesystem::path& folder, const Dataset& data) {
    const std::array<OutputFile, mnist_files.size()> files = {{
        {folder / mnist_files[0].name, [&](std::ostream& out) { write_idx_images(out, data.train); }},
        {folder / mnist_files[1].name, [&](std::ostream& out) { write_idx_labels(out, data.train); }},
        {folder / mnist_files[2].name, [&](std::ostream& out) { write_idx_images(out, data.test); }},
        {folder / mnist_files[3].name, [&](std::ostream& out) { write_idx_labels(out, data.test); }},
    }};
    write_outputs_together(files, folder.string());
}

}  // namespace

int info(const Options& options, Clock::time_point) {
    if (const std::string& folder = options.info.write_synthetic; !folder.empty()) {
        if (!options.output.json.empty())
            throw UsageError("--write-synthetic " + folder + " and --json " + options.output.json +
                             ": --write-synthetic does nothing else; expected one of them");
        const std::vector<std::filesystem::path> present = dataset_files(folder);
        if (!present.empty())
            throw DataError(folder + ": already has " + present[0].filename().string() +
                            "; expected a folder without a data set, which would be replaced or hidden");
        Destinations(options).check({});
        const Dataset digits = synthetic_digits();
        write_dataset(folder, digits);
        print("wrote " + std::to_string(digits.train.count) + " training and " +
              std::to_string(digits.test.count) + " test images to " + harmless(folder) + '\n');
        return 0;
    }
    const Destinations outputs(options);
    outputs.check({});
    const Inventory inventory = take_inventory(options.data);
    if (inventory.found) outputs.check(inventory.found->files());
    write_results({{options.output.json, [&](std::ostream& out) { out << inventory_json(inventory); }}},
                  inventory_text(inventory));
    // What the user named and what cannot be used is an error, but not before all else has been told.
    if (!inventory.data_problem.empty()) throw DataError(inventory.data_problem);
    return 0;
}

}  // namespace knn
