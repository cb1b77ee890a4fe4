#include "workers/trainer/gpu/gpu_model.hpp"

#include <cstdlib>
#include <stdexcept>

#include "base/check.hpp"
#include "workers/runtime/log.hpp"
#include "workers/trainer/gpu/gpu_library.hpp"

namespace tidepool::trainer {

Result<std::unique_ptr<Model>> GpuModel::create(const tidepool_gpu_api& gpu, const tidepool_gpu_shape& shape,
                                                std::unique_ptr<Model> cpu) {
  tidepool_gpu_net* net = nullptr;
  if (gpu.open(&shape, &net) != 0) return gpu_error(gpu, "the model does not fit this GPU");
  TP_CHECK(gpu.parameter_count(net) == cpu->parameters().size(), "CPU and GPU agree on what the parameters are");
  return std::unique_ptr<Model>(new GpuModel(gpu, net, std::move(cpu)));
}

GpuModel::~GpuModel() {
  gpu_.close(net_);
}

double GpuModel::add_gradient(const BatchView& batch, std::span<float> gradient) {
  const tidepool_gpu_batch part{.numbers = batch.numbers.data(),
                                .tokens = batch.tokens.data(),
                                .classes = batch.classes.data(),
                                .samples = static_cast<int>(batch.samples())};
  double loss = 0;
  must(gpu_.set_parameters(net_, cpu_->parameters().data()), "sending the parameters to the GPU");
  must(gpu_.clear_gradient(net_), "a gradient on the GPU");
  must(gpu_.add_gradient(net_, &part, &loss), "a gradient on the GPU");
  must(gpu_.get_gradient(net_, fetched_.data()), "fetching the gradient from the GPU");
  for (std::size_t i = 0; i < fetched_.size(); ++i) gradient[i] += fetched_[i];
  return loss;
}

void GpuModel::must(int code, const char* what) const {
  if (code != 0) throw std::runtime_error(gpu_error(gpu_, what).message);
}

Result<std::unique_ptr<Model>> place_model(Device device, const tidepool_gpu_shape& shape, std::unique_ptr<Model> cpu) {
  const char* given = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool has_gpu = given != nullptr && *given != '\0';
  if (device == Device::kCpu || (device == Device::kAuto && !has_gpu)) return cpu;
  const auto gpu = load_gpu_library();
  if (gpu.ok()) {
    runtime::log_info("gradients are computed on the GPU");
    return GpuModel::create(**gpu, shape, std::move(cpu));
  }
  if (device == Device::kGpu) return gpu.error();
  runtime::log_info("this worker has a GPU but computes on the CPU: " + gpu.error().message);
  return cpu;
}

}  // namespace tidepool::trainer
