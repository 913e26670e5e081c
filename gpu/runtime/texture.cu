#include "gpu/runtime/texture.h"

#include <list>
#include <mutex>

#include "gpu/runtime/event.h"

namespace knn::gpu {

namespace {

/// A texture whose kernels may still run.
struct UsedTexture {
    cudaTextureObject_t texture;
    int device;
    Event done{};
    UsedTexture(cudaTextureObject_t texture_, int device_) : texture(texture_), device(device_) {}
};

/// Never destroyed: at the end of the process the CUDA context may go before it.
std::list<UsedTexture>& used_textures() {
    static auto* all = new std::list<UsedTexture>;
    return *all;
}
std::mutex used_mutex;

int current_device() {
    int device = 0;
    check(cudaGetDevice(&device), "asking for the current device");
    return device;
}

void give_back_finished(int device) {
    used_textures().remove_if([&](const UsedTexture& used) {
        if (used.device != device || cudaEventQuery(used.done) != cudaSuccess) return false;
        cudaDestroyTextureObject(used.texture);
        return true;
    });
    cudaGetLastError();  // an event that is not ready leaves its answer there
}

cudaTextureObject_t create_texture(const FloatRows& rows) {
    cudaResourceDesc memory{};
    memory.resType = cudaResourceTypePitch2D;
    memory.res.pitch2D.devPtr = rows.d_data;
    memory.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    memory.res.pitch2D.width = static_cast<std::size_t>(rows.cols);
    memory.res.pitch2D.height = static_cast<std::size_t>(rows.n);
    memory.res.pitch2D.pitchInBytes = rows.pitch_bytes;
    cudaTextureDesc reading{};
    reading.addressMode[0] = reading.addressMode[1] = cudaAddressModeBorder;
    reading.filterMode = cudaFilterModePoint;
    reading.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &memory, &reading, nullptr), "creating a texture");
    return texture;
}

/// The limit, or what every card so far has where no device can be asked.
std::int64_t limit_or(cudaDeviceAttr attribute, std::int64_t usual) {
    int device = 0, value = 0;
    if (cudaGetDevice(&device) == cudaSuccess &&
        cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess)
        return value;
    cudaGetLastError();
    return usual;
}

}  // namespace

TextureLimits texture_limits() {
    return {limit_or(cudaDevAttrMaxTexture2DLinearWidth, 131'072),
            limit_or(cudaDevAttrMaxTexture2DLinearHeight, 65'000),
            limit_or(cudaDevAttrMaxTexture2DLinearPitch, 2'097'120)};
}

void with_texture(const FloatRows& rows, cudaStream_t stream,
                  const std::function<void(cudaTextureObject_t)>& launch) {
    const std::scoped_lock lock(used_mutex);
    const int device = current_device();
    give_back_finished(device);
    const cudaTextureObject_t texture = create_texture(rows);
    UsedTexture& used = used_textures().emplace_back(texture, device);
    launch(texture);
    used.done.record(stream);
}

}  // namespace knn::gpu
