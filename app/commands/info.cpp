#include <filesystem>
#include <ostream>

#include "app/commands/command.h"
#include "app/output.h"
#include "app/report/inventory.h"
#include "data/errors.h"
#include "data/idx.h"
#include "data/synthetic.h"

namespace knn {

int info(const Options& options, Clock::time_point) {
    if (const std::string& folder = options.info.write_synthetic; !folder.empty()) {
        check_output_folder(folder);
        const Dataset digits = synthetic_digits();
        write_dataset(folder, digits);
        print("wrote " + std::to_string(digits.train.count) + " training and " +
              std::to_string(digits.test.count) + " test images to " + folder + '\n');
        return 0;
    }
    const std::string& json = options.info.json;
    if (!json.empty()) check_output_file(json);
    const Inventory inventory = take_inventory(options.data);
    if (!json.empty()) write_output(json, [&](std::ostream& out) { out << inventory_json(inventory); });
    if (json != "-") print(inventory_text(inventory));
    // What the user named and what cannot be used is an error, but not before all else has been told.
    if (!inventory.data_problem.empty()) throw DataError(inventory.data_problem);
    return 0;
}

}  // namespace knn
