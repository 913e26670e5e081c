// `cells` of images of 28 × 28 pixels (data/rerank/distance.h).
//
// in       descriptors of queries and training images in the form for 28 × 28 (kernels.h), device memory: 14 rows × 16
//          cells × 8 bytes, the first and the last cell of a row 0
// out      n_query × candidates scores
// launch   a block of 4 warps per query; a warp takes every fourth group of 4 candidates. 8 lanes have a candidate,
//          lane j of them columns 2j and 2j + 1; lane 7 repeats lane 6.
// sum      |h - g|² = |h|² + (|g|² - 2 h·g); the least of the bracket over the 3 × 3 cells g around h
// steps    A lane streams the candidate's rows: 4 cells, their norms, and two dot products of 4 bytes for each of 3 rows
//          of the query × 2 columns × 3 neighbors. The query's 28 cells lie in 56 registers.
// exact    integers; a bracket is within ±2 · 8 · 63²
// work     about 1,000 instructions of a warp for 4 pairs

#include "gpu/rerank/pairs28.cuh"

namespace knn::gpu {

namespace {

using namespace pairs28;

constexpr int row_bytes = pitch28 * cell_bins, half_rows = side / 2;
static_assert(half_rows * row_bytes == half_bytes && side % 2 == 0);
static_assert(2 * cell_limit <= 127, "doubled bins are signed bytes");

struct Cell {
    int low, high;  ///< 4 bins each

    __device__ int dot(const Cell& other, int sum) const {
        return __dp4a(high, other.high, __dp4a(low, other.low, sum));
    }
};

/// Minus two times the query's cells.
struct CellsQuery {
    Cell cells[side][2];
    int norms = 0;

    __device__ static int doubled(int bins) {
        return static_cast<int>(__vneg4(2 * static_cast<unsigned>(bins)));
    }
    __device__ CellsQuery(const std::uint8_t* descriptor, int column) {
#pragma unroll
        for (int i = 0; i < 2 * side; ++i) {
            const Cell cell = *reinterpret_cast<const Cell*>(descriptor + i / 2 * row_bytes +
                                                             (2 * column + 1 + i % 2) * cell_bins);
            norms = cell.dot(cell, norms);
            cells[i / 2][i % 2] = {doubled(cell.low), doubled(cell.high)};
        }
    }
};

/// Compares rows first .. first + 6 of a candidate with the rows of the query around them. `least`: by the query's
/// row modulo 3; a row's is added to the sum after the last that it meets.
template <int first>
__device__ void compare_rows(const CellsQuery& query, const std::uint8_t* half, int column,
                             int (&least)[3][2], int& sum) {
#pragma unroll
    for (int r = first; r < first + half_rows; ++r) {
        const auto* row = reinterpret_cast<const int4*>(half + (r - first) * row_bytes) + column;
        const int4 left = row[0], right = row[1];  // columns 2j - 1, 2j; 2j + 1, 2j + 2
        const Cell cells[4] = {{left.x, left.y}, {left.z, left.w}, {right.x, right.y}, {right.z, right.w}};
        int norms[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            norms[i] = cells[i].dot(cells[i], 0);
#pragma unroll
        for (int y = r - 1; y <= r + 1; ++y) {
            if (y < 0 || y >= side) continue;
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                int now[3];
#pragma unroll
                for (int beside = 0; beside < 3; ++beside)
                    now[beside] = query.cells[y][i].dot(cells[i + beside], norms[i + beside]);
                int& best = least[y % 3][i];
                // The first row that a row meets; above and below the image the brackets are 0.
                const int before = y == r + 1 ? now[0] : y == 0 && r == 0 ? 0 : best;
                best = min(before, min(now[0], min(now[1], now[2])));
            }
        }
        if (r >= 1) sum += least[(r - 1) % 3][0] + least[(r - 1) % 3][1];
        if (r == side - 1) sum += min(least[r % 3][0], 0) + min(least[r % 3][1], 0);
    }
}

__global__ void __launch_bounds__(threads, min_blocks) cells28_kernel(PairTask task) {
    __shared__ Memory memories[warps];
    const Lane lane;
    Candidates candidates(task, memories[lane.warp], lane);
    if (candidates.done()) return;  // a whole warp; blocks do not synchronize
    candidates.start();
    const int column = min(lane.in_pair, lanes - 2);
    const CellsQuery query(task.d_query + blockIdx.x * std::int64_t{bytes28}, column);
#pragma unroll 1
    for (; !candidates.done(); candidates.advance()) {
        int least[3][2], sum = query.norms;
        candidates.await();
        compare_rows<0>(query, candidates.half(0), column, least, sum);
        candidates.start_next(0);
        candidates.await();
        compare_rows<half_rows>(query, candidates.half(1), column, least, sum);
        candidates.start_next(1);
        candidates.write(lane.in_pair < lanes - 1 ? sum : 0);
    }
}

}  // namespace

PairLaunch cells28() {
    load_kernels(cells28_kernel);
    return [](const PairTask& task, cudaStream_t stream) {
        require(task.candidates.k >= 1, "candidates");
        cells28_kernel<<<grid_size(task.candidates.n_query), threads, 0, stream>>>(task);
        check_launch("launching cells28");
    };
}

}  // namespace knn::gpu
