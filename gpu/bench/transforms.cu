// Times transforms of images that are on the device.

#include "gpu/bench/bench.h"
#include "gpu/bench/runs.h"
#include "gpu/runtime/buffers.h"
#include "gpu/transform/transform.h"

namespace knn::gpu {

Trial time_transform(int device, const FittedTransform& transform, const Rows& images,
                     const TrialOptions& options, const Watch& watch, std::vector<std::uint8_t>* features) {
    check(cudaSetDevice(device), "choosing the device");
    Runs runs(watch);
    const Stream& stream = runs.stream();
    DeviceTransform on_device(transform);
    on_device.reserve(images.count);
    ImageBuffer in, out;
    in.reserve(images.count, images.dim);
    out.reserve(images.count, transform.dim_out());
    const ByteRows from = in.rows(images.count, images.dim), to = out.rows(images.count, transform.dim_out());
    enqueue_upload(images, from, stream);
    Trial trial = runs.repeated(images.count, options, [&] { on_device.enqueue(from, to, stream); });
    trial.operations = 0;
    trial.pixel_bytes = 1;
    if (features != nullptr) {
        const auto dim = static_cast<std::size_t>(to.cols), n = static_cast<std::size_t>(to.n);
        features->resize(n * dim);
        check(cudaMemcpy2D(features->data(), dim, to.d_data, to.pitch_bytes, dim, n, cudaMemcpyDeviceToHost),
              "downloading features");
    }
    return trial;
}

}  // namespace knn::gpu
