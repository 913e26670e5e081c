#pragma once
/// What `audit` found, as text, CSV, JSON, a page and a picture. `limit`: how many images, the most suspicious first.

#include <iosfwd>
#include <string>
#include <vector>

#include "classifier/audit.h"
#include "data/core/dataset.h"

namespace knn {

struct AuditReport {
    Audit audit;
    Method method;
    const char* set = "train";  ///< or "test": which images are judged
    const LabeledImages *train = nullptr, *judged = nullptr;
    std::span<const std::uint8_t> train_labels;  ///< as they were searched: some may be planted
    std::string source, created;
    double load_ms = 0, wall_ms = 0;
    std::vector<std::int64_t> planted;  ///< by index

    /// The number of images in a form of the report; `usual` unless the user gives a number.
    std::size_t count(std::int64_t limit, std::int64_t usual) const;
    /// How many of the planted labels are among the first `n` images.
    std::int64_t planted_among(std::int64_t n) const;
};

/// "60,000 training images of data/mnist, judged by the others".
std::string judged_text(const AuditReport& report);

std::string audit_text(const AuditReport& report, std::int64_t limit);
void write_audit_csv(std::ostream& out, const AuditReport& report, std::int64_t limit);
std::string audit_json(const AuditReport& report, std::int64_t limit);

/// One self-contained page in the style of the report's, with each image, its label and its neighbors.
std::string audit_page(const AuditReport& report, std::int64_t limit);

/// A PNG of at most as many images as one sheet has. Throws DataError in a build without OpenCV.
std::vector<std::uint8_t> audit_sheet(const AuditReport& report, std::int64_t limit);

}  // namespace knn
