// `distortion` of images of 28 × 28 pixels (data/rerank/distance.h).
//
// in       descriptors of queries and training images in the form for 28 × 28 (kernels.h), device memory: 4 planes × 14
//          rows × 8 words of two points, a point being two signed bytes; the last word of a row is 0
// out      n_query × candidates scores
// launch   a block of 4 warps per query; a warp takes every fourth group of 4 candidates. 8 lanes have a candidate,
//          lane j of them columns 2j and 2j + 1 of the grid, lane 7 the columns around: 14, 15 and -1.
// sum      with p for the query's points and c for the candidate's, Σ |p - c|² = Σ |p|² + Σ |c|² - 2 Σ p·c over the
//          context's 3 × 3 points. The first term does not depend on the displacement, the second not on the query's
//          point, only on where in the candidate the context lies. A displacement (dx, dy) is a shift by dx >> 1 and
//          dy >> 1 in plane (dy & 1, dx & 1).
// steps    A lane streams the rows of a plane and has all shifts at once. For each shift, three dot products give the
//          sums of a row of the contexts of both columns, packed in the halves of a word; three rows of them, and the
//          norms of the context, are compared with the least so far, which lies in registers for all 14 rows. Norms
//          are made once in a row and plane, of each lane's own columns, and got from the lanes beside.
// memory   the query in 42 registers, the least in 14; a candidate comes in two halves (planes (0, ·) and (1, ·)), of
//          which one is copied while the other is compared
// exact    integers. Components are at most 20: a dot product of three doubled points is within ±4,800 = bias, so a
//          biased sum over nine is below 28,800 and with the norms (at most 7,200) below 2¹⁶.
// work     about 2,900 instructions of a warp for 4 pairs
// source   Keysers et al., "Deformation models for image recognition", 2007

#include "gpu/rerank/pairs28.cuh"

namespace knn::gpu {

namespace {

using namespace pairs28;

constexpr int row_words = pitch28 / 2, plane_words = side * row_words;
static_assert(row_words == lanes);

constexpr int most = gradient_levels * 2 * 2;  // of a component
static_assert(2 * most <= 127, "doubled components are signed bytes");
constexpr int bias = 3 * 2 * 2 * most * most, packed_bias = bias * 0x10001;
static_assert(3 * 2 * bias + 9 * 2 * most * most < 1 << 16, "sums are unsigned halves of words");

__device__ unsigned bytes_of(unsigned a, unsigned b, unsigned selector) {
    return __byte_perm(a, b, selector);
}
/// (a's upper half, b's lower half): the two points between two words.
__device__ unsigned between(unsigned a, unsigned b) {
    return bytes_of(a, b, 0x5432);
}
__device__ int dot(unsigned a, unsigned b, int sum) {
    return __dp4a(static_cast<int>(a), static_cast<int>(b), sum);
}

/// Minus two times the query's points, for a lane's columns 2j and 2j + 1.
struct DistortionQuery {
    unsigned own[side];                ///< bytes of both columns
    unsigned left[side], right[side];  ///< 16-bit components of columns 2j - 1 and 2j + 2
    int norms;                         ///< Σ |p|² over all contexts of both columns

    /// -2 · bytes `first` and `first + 1` of a word.
    __device__ static unsigned halves(unsigned word, int first) {
        const auto x = static_cast<std::int8_t>(word >> 8 * first);
        const auto y = static_cast<std::int8_t>(word >> (8 * first + 8));
        return static_cast<unsigned>(-2 * x & 0xffff) | static_cast<unsigned>(-2 * y) << 16;
    }

    __device__ DistortionQuery(const unsigned* plane, int column) {
        norms = 0;
#pragma unroll
        for (int y = 0; y < side; ++y) {
            const unsigned* row = plane + y * row_words;
            const unsigned before = row[(column - 1) & 7], here = row[column], after = row[(column + 1) & 7];
            own[y] = bytes_of(halves(here, 0), halves(here, 2), 0x6420);
            left[y] = halves(before, 2);
            right[y] = halves(after, 0);
            // Each column is in the contexts of itself and of both beside it, of which two are this lane's.
            const int in_row = 2 * dot(here, here, 0) + dot(before & 0xffff0000u, before, 0) +
                               dot(after & 0xffffu, after, 0);
            norms += (y == 0 || y == side - 1 ? 2 : 3) * in_row;
        }
    }
};

/// Where a lane reads a row of a plane: its own word, and those before and after it.
struct Columns {
    const unsigned *before, *here, *after;
};
__device__ Columns columns(const std::uint8_t* half, const Lane& lane) {
    const auto* row = reinterpret_cast<const unsigned*>(half);
    return {row + ((lane.in_pair - 1) & 7), row + lane.in_pair, row + ((lane.in_pair + 1) & 7)};
}

/// The sums of one row, columns 2j and 2j + 1 in the halves: bias - 2 Σ p·c over three columns.
/// `shift` of -1, 0, 1 columns; the three words of the candidate's row and the two between them.
template <int shift>
__device__ unsigned row_sums(const DistortionQuery& query, int y, const unsigned (&words)[3],
                             const unsigned (&betweens)[2]) {
    const unsigned middle = shift == 0 ? words[1] : betweens[shift < 0 ? 0 : 1];
    const int both = dot(query.own[y], middle, bias);
    const int left = static_cast<int>(query.left[y]), right = static_cast<int>(query.right[y]);
    int first, second;
    if constexpr (shift < 0) {
        first = __dp2a_lo(left, static_cast<int>(words[0]), both);
        second = __dp2a_hi(right, static_cast<int>(words[1]), both);
    } else if constexpr (shift == 0) {
        first = __dp2a_hi(left, static_cast<int>(words[0]), both);
        second = __dp2a_lo(right, static_cast<int>(words[2]), both);
    } else {
        first = __dp2a_lo(left, static_cast<int>(words[1]), both);
        second = __dp2a_hi(right, static_cast<int>(words[2]), both);
    }
    return static_cast<unsigned>(first) + (static_cast<unsigned>(second) << 16);
}

/// Compares the query's contexts with those of one plane, for shifts from -1 to `last_dy` rows and -1 to `last_dx`
/// columns.
template <int last_dy, int last_dx>
__device__ void compare_plane(const DistortionQuery& query, const Columns& columns, int plane,
                              unsigned (&least)[side]) {
    constexpr int n_dy = last_dy + 2, n_dx = last_dx + 2;
    unsigned sums[n_dy][n_dx][2];
#pragma unroll
    for (int i = 0; i < n_dy * n_dx; ++i)
        sums[i / n_dx][i % n_dx][0] = sums[i / n_dx][i % n_dx][1] = packed_bias;
    unsigned norms[2] = {0, 0};
    const int lane = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int r = 0; r < side + n_dy - 1; ++r) {
        const bool inside = r < side;  // a row of background otherwise
        unsigned words[3] = {}, norm = 0;
        if (inside) {
            const int at = plane * plane_words + r * row_words;
            words[0] = columns.before[at];
            words[1] = columns.here[at];
            words[2] = columns.after[at];
            const int both = dot(words[1], words[1], 0);
            const int first = dot(words[0] & 0xffff0000u, words[0], both);
            const int second = dot(words[2] & 0xffffu, words[2], both);
            norm = static_cast<unsigned>(first) + (static_cast<unsigned>(second) << 16);
        }
        const unsigned betweens[2] = {between(words[0], words[1]), between(words[1], words[2])};
        // Of the contexts around row r - 1: of this lane's columns, and one column to each side of them.
        const unsigned own = norms[0] + norms[1] + norm;
        norms[0] = norms[1];
        norms[1] = norm;
        unsigned context_norms[3];
        context_norms[0] = between(__shfl_sync(all_lanes, own, lane - 1, lanes), own);
        context_norms[1] = own;
        if constexpr (n_dx == 3)
            context_norms[2] = between(own, __shfl_sync(all_lanes, own, lane + 1, lanes));
#pragma unroll
        for (int i = 0; i < n_dy; ++i) {
            const int y = r - (i - 1);  // the query's row that meets row r
            unsigned now[n_dx];
#pragma unroll
            for (int j = 0; j < n_dx; ++j)
                now[j] = packed_bias;
            if (inside && y >= 0 && y < side) {
                now[0] = row_sums<-1>(query, y, words, betweens);
                now[1] = row_sums<0>(query, y, words, betweens);
                if constexpr (n_dx == 3) now[2] = row_sums<1>(query, y, words, betweens);
            }
#pragma unroll
            for (int j = 0; j < n_dx; ++j) {
                unsigned(&before)[2] = sums[i][j];
                if (y >= 1 && y <= side)
                    least[y - 1] =
                        __viaddmin_u16x2(before[0] + before[1] + now[j], context_norms[j], least[y - 1]);
                before[0] = before[1];
                before[1] = now[j];
            }
        }
    }
}

/// The sum of the least over a lane's points; those of lane 7 are outside.
__device__ int lane_total(const DistortionQuery& query, const unsigned (&least)[side], int column) {
    unsigned sum = 0;
#pragma unroll
    for (int y = 0; y < side; ++y)
        sum = __dp2a_lo(least[y], 0x0101u, sum);
    return column < lanes - 1 ? static_cast<int>(sum) - 2 * side * 3 * bias + query.norms : 0;
}

__global__ void __launch_bounds__(threads, min_blocks) distortion28_kernel(PairTask task) {
    __shared__ Memory memories[warps];
    const Lane lane;
    Candidates candidates(task, memories[lane.warp], lane);
    if (candidates.done()) return;  // a whole warp; blocks do not synchronize
    const DistortionQuery query(
        reinterpret_cast<const unsigned*>(task.d_query + blockIdx.x * std::int64_t{bytes28}), lane.in_pair);
    candidates.start();
#pragma unroll 1
    for (; !candidates.done(); candidates.advance()) {
        unsigned least[side];
#pragma unroll
        for (int y = 0; y < side; ++y)
            least[y] = 0xffffffffu;
        candidates.await();
        compare_plane<1, 1>(query, columns(candidates.half(0), lane), 0, least);
        compare_plane<1, 0>(query, columns(candidates.half(0), lane), 1, least);
        candidates.start_next(0);
        candidates.await();
        compare_plane<0, 1>(query, columns(candidates.half(1), lane), 0, least);
        compare_plane<0, 0>(query, columns(candidates.half(1), lane), 1, least);
        candidates.start_next(1);
        candidates.write(lane_total(query, least, lane.in_pair));
    }
}

}  // namespace

PairLaunch distortion28() {
    load_kernels(distortion28_kernel);
    return [](const PairTask& task, cudaStream_t stream) {
        require(task.candidates.k >= 1, "candidates");
        distortion28_kernel<<<grid_size(task.candidates.n_query), threads, 0, stream>>>(task);
        check_launch("launching distortion28");
    };
}

}  // namespace knn::gpu
