#include "data/vectors/generate.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <ostream>

#include "app/cli/command_line.h"
#include "app/cli/values.h"
#include "app/console/console.h"
#include "app/report/text.h"
#include "classifier/host.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/file/atomic_file.h"
#include "data/file/transfer.h"
#include "data/vectors/vectors.h"
#include "data/vectors/write.h"

namespace knn {

namespace {

constexpr std::int64_t generated_bytes = 8 << 20;  // made together by all threads

GenerateSettings checked_settings(const Options& options) {
    GenerateSettings settings = options.generate.settings;
    const std::string& out = options.generate.out;
    if (!options.given.contains("out")) throw UsageError("generate: writes a file; expected --out FILE");
    if (!can_write_vectors(out))
        throw UsageError("--out " + out + ": its name says no format; expected one that ends with " +
                         written_endings);
    const std::optional<ElementType> needed = written_type(out);
    if (needed && options.given.contains("type") && settings.type != *needed)
        throw UsageError("--type " + std::string(name(settings.type)) + ": " + out + " holds " +
                         name(*needed) + "; expected that type, or another ending");
    settings.type = needed.value_or(settings.type);
    if (options.given.contains("spread") && settings.kind != VectorKind::clusters)
        throw UsageError("--spread: only --kind clusters has one; expected --kind clusters with it");
    return settings;
}

void write_vectors(const GenerateSettings& settings, const std::string& file, std::ostream& out, int threads,
                   const ProgressToken& token) {
    const std::int64_t row_bytes = settings.dim * size_of(settings.type),
                       rows = std::clamp<std::int64_t>(generated_bytes / row_bytes, 1, settings.n);
    VectorWriter writer(out, file, settings.n, settings.dim, settings.type);
    std::vector<std::uint8_t> piece(static_cast<std::size_t>(rows * row_bytes));
    for (std::int64_t first = 0; first < settings.n; first += rows) {
        const std::int64_t n = std::min(rows, settings.n - first);
        constexpr std::int64_t rows_together = 64;
        for_rows(n, rows_together, threads, token.stop, [&](std::int64_t begin, std::int64_t end) {
            generate_rows(settings, first + begin, end - begin, piece.data() + begin * row_bytes);
        });
        writer.add({piece.data(), n, settings.dim, settings.type});
        if (!out.good()) return;
        token.step(first + n, settings.n);
    }
}

/// Throws DataError if the disk of a file of binary numbers has no space for it, and for its labels where they are beside it.
void check_space(const GenerateSettings& settings, const std::string& file) {
    if (is_no_file(file) || lower_case(file).ends_with(".csv")) return;
    std::error_code error;
    const std::filesystem::path place = follow_links(file),
                                folder = std::filesystem::absolute(place, error).parent_path();
    const std::filesystem::space_info space = std::filesystem::space(folder, error);
    const auto available = static_cast<std::int64_t>(
        std::min<std::uintmax_t>(space.available, std::numeric_limits<std::int64_t>::max()));
    const std::int64_t rows = settings.n * settings.dim * size_of(settings.type),
                       with_labels = rows + (place == file ? settings.n : 0);
    if (error || with_labels <= available) return;
    throw DataError(file +
                    (rows > available ? ": takes " + with_commas(rows)
                                      : ": with its labels takes " + with_commas(with_labels)) +
                    " bytes, more than the " + with_commas(available) +
                    " bytes that its disk has free; expected space, or fewer rows or columns");
}

void write_labels(const GenerateSettings& settings, const std::string& file, std::ostream& out) {
    constexpr std::size_t piece_bytes = 1 << 20;
    const bool is_npy = file.ends_with(".npy");
    if (is_npy) put_npy_header(out, std::array{settings.n}, npy_type(ElementType::uint8));
    std::string text;
    for (std::int64_t row = 0; row < settings.n; ++row) {
        const int label = class_of_row(settings, row);
        text += is_npy ? std::string(1, static_cast<char>(label)) : std::to_string(label) + '\n';
        if (text.size() < piece_bytes) continue;
        throw_if_stopped();
        out << text;
        text.clear();
    }
    out << text;
}

}  // namespace

int generate(const Options& options, Clock::time_point) {
    const GenerateSettings settings = checked_settings(options);
    const std::string &file = options.generate.out, labels = labels_beside(file).string();
    check_outputs(output_places(options), {});
    check_space(settings, file);
    OutputFiles files;
    with_progress(options.output, "writing  ", [&](const ProgressToken& token) {
        write_vectors(settings, file, files.open(file), threads_or_all(options.request.threads), token);
    });
    write_labels(settings, labels, files.open(labels));
    files.commit();
    if (options.output.quiet) return 0;
    print(
        facts_text({{"vectors", counted(settings.n, "row") + " of " + with_commas(settings.dim) + ' ' +
                                    name(settings.type) + ' ' + noun(settings.dim, "column") + ", " +
                                    counted(std::min<std::int64_t>(settings.n, settings.clusters), "class") +
                                    ", in " + harmless(file)},
                    {"labels", harmless(labels)},
                    {"kind", name(settings.kind) + std::string(", seed ") + std::to_string(settings.seed)}}));
    return 0;
}

}  // namespace knn
