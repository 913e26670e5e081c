#pragma once
/// Marks functions that run on the host and, where nvcc compiles them, on the device.

#ifdef __CUDACC__
#define KNN_HOST_DEVICE __host__ __device__
#else
#define KNN_HOST_DEVICE
#endif
