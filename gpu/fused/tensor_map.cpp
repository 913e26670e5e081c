#include "gpu/fused/tensor_map.h"

#include <cudaTypedefs.h>

#include <string>

#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

/// cuTensorMapEncodeTiled, looked up at run time, so that the program starts without a driver.
PFN_cuTensorMapEncodeTiled_v12000 map_encoder() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                           &found),
          "looking up cuTensorMapEncodeTiled");
    if (found != cudaDriverEntryPointSuccess)
        throw DeviceError("GPU: the driver has no tensor maps; expected one for CUDA 12 or later");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

}  // namespace

CUtensorMap tensor_map(const ByteRows& rows, int box_rows) {
    CUtensorMap map{};
    const cuuint64_t size[] = {static_cast<cuuint64_t>(rows.cols), static_cast<cuuint64_t>(rows.n)};
    const cuuint64_t pitch[] = {static_cast<cuuint64_t>(rows.pitch_bytes)};
    const cuuint32_t box[] = {map_cols, static_cast<cuuint32_t>(box_rows)}, step[] = {1, 1};
    const CUresult status =
        map_encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, rows.d_data, size, pitch, box, step,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS)
        throw DeviceError("GPU: encoding a tensor map failed with code " + std::to_string(status));
    return map;
}

}  // namespace knn::gpu
