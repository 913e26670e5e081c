#pragma once
/// Vectors for experiments: the same bytes for the same options with every compiler, machine and number of threads.
///
///   clusters  class = row mod C. A column of a row is that of its class's center, uniform in [0, 1), plus spread · z, where z is the
///             sum of four numbers uniform in [−½, ½), times √3: nearly normal, of variance 1, never beyond 3.5
///   uniform   class likewise; each column uniform in [0, 1)
///   singh     as the generator of Singh, 2014 (appendix B.1, random.random() printed by "%.3f"): uniform in [0, 1], rounded to three
///             decimals; the rows of a class follow one another, n / C of each
///
/// Columns of uint8 are these numbers times 255, rounded, at least 0 and at most 255.
///
/// Row r draws its columns in order from SplitMix64 with the state m(m(seed) + 2³² + r), center c from that with m(m(seed) + c), where m
/// is the mixing function of SplitMix64: a uniform number is the upper 32 bits, the four of z are 16 bits each, in the middle of
/// their step. All in double precision, each operation rounded by itself.

#include <cstdint>

#include "data/core/element_type.h"
#include "data/core/names.h"

namespace knn {

enum class VectorKind { clusters, uniform, singh };
template <>
inline constexpr std::array name_list<VectorKind>{"clusters", "uniform", "singh"};

struct GenerateSettings {
    VectorKind kind = VectorKind::clusters;
    std::int64_t n = 10'000;
    std::int64_t dim = 64;
    int clusters = 10;      ///< classes, at most 256
    double spread = 0.1;    ///< of `clusters` alone
    std::int64_t skip = 0;  ///< rows before the first: further rows of the same clusters
    std::uint64_t seed = 1;
    ElementType type = ElementType::float32;
};

/// Rows first .. first + count - 1 of them: count × dim elements to `out`, not int8. Threads may call it for different rows.
void generate_rows(const GenerateSettings& settings, std::int64_t first, std::int64_t count,
                   std::uint8_t* out);

/// The class of a row.
int class_of_row(const GenerateSettings& settings, std::int64_t row);

}  // namespace knn
