#include <filesystem>

#include "app/cli/command_line.h"
#include "app/commands/loading.h"
#include "app/console/console.h"
#include "app/report/json.h"
#include "app/report/text.h"
#include "classifier/inventory.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/set/cache.h"
#include "data/synthetic/synthetic.h"

namespace knn {

int info(const Options& options, Clock::time_point) {
    if (options.clear_cache) {
        if (options.given.size() > 1)
            throw UsageError("--clear-cache: does nothing else; expected no other option beside it");
        const std::string folder = cache_folder().string();
        const double bytes = static_cast<double>(clear_cache());
        print(folder.empty() ? "there is no cache folder\n"
                             : "removed " + fixed(bytes / 1e6, 1) + " MB from " + harmless(folder) + '\n');
        return 0;
    }
    if (const std::string& folder = options.write_synthetic; !folder.empty()) {
        if (!options.output.json.empty())
            throw UsageError("--write-synthetic " + folder + " and --json " + options.output.json +
                             ": --write-synthetic does nothing else; expected one of them");
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

}  // namespace knn
