#pragma once
/// Interface between searches of real rows and the code for one instruction set. Files that are compiled for more than the baseline
/// include this header and kernel_body.h alone (see cpu/kernels/kernel.h for why).
///
/// All sums are those of data/core/exact_distance.h, bit for bit. Rows are padded with zeros to a stride that is a multiple of 8, which
/// adds nothing to a sum.

#include <cstddef>
#include <cstdint>

namespace knn::cpu {

/// What is added up over the elements of two rows.
enum class RealSum { squares, differences, products, powers };
inline constexpr std::size_t n_real_sums = 4;

inline constexpr std::int64_t real_lanes = 8;  ///< partial sums

/// Rows against rows. Arrays are aligned to 64 bytes.
struct RealPass {
    const double* queries;  ///< n_query × stride
    const double* rows;     ///< n_rows × stride
    std::int64_t n_query, n_rows, stride;
    /// n_query, or null. Of a pair whose sum exceeds it, which no later term lowers, the result is any number above it. Not with
    /// `products`.
    const double* limits;
    double* totals;  ///< n_query × n_rows
    // of `powers`
    unsigned whole = 0;                         ///< ⌊p⌋, if p is a multiple of ½ below 16
    bool root = false;                          ///< whether p = whole + ½
    double p = 0;                               ///< for `power`
    double (*power)(double, double) = nullptr;  ///< for any other p; else null
};

/// A row to bytes: u = (x − offset) · scale in each column, rounded to the nearest of 0 to 255.
struct QuantizeRow {
    const double* row;
    const double* offsets;
    double scale;
    std::int64_t dim;
    std::uint8_t* bytes;  ///< dim
};
/// What was lost: Σ |u − byte| and Σ (u − byte)², added in any order.
struct QuantizeLoss {
    double absolute = 0, square = 0;
};

struct RealKernel {
    const char* name;
    /// By element type: out[j] = row[j] − mean, rounded, for j < dim.
    void (*convert[4])(const void* row, std::int64_t dim, double mean, double* out);
    void (*sums[n_real_sums])(const RealPass& pass);
    double (*sum)(const double* row, std::int64_t stride);  ///< of the elements themselves
    /// Lowers least[j] and raises most[j], j < dim, to the row.
    void (*extend)(const double* row, std::int64_t dim, double* least, double* most);
    QuantizeLoss (*quantize)(const QuantizeRow& work);
};

extern const RealKernel real_plain, real_avx2, real_avx512;

/// That for the instruction set of a search. Throws UsageError (bad MNIST_KNN_ISA).
const RealKernel& chosen_real_kernel();

}  // namespace knn::cpu
