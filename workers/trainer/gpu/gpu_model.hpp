// A Model whose gradients are computed on the GPU. The parameters stay where the runtime knows them, in ordinary
// memory, where they are handed over and saved; each part of a batch takes the newest ones along.
#pragma once

#include <memory>
#include <vector>

#include "base/result.hpp"
#include "workers/trainer/device.hpp"
#include "workers/trainer/gpu/gpu_api.h"
#include "workers/trainer/model.hpp"

namespace tidepool::trainer {

class GpuModel final : public Model {
 public:
  // `cpu` has the initial parameters and keeps them from now on; `shape` is its shape. Takes GPU memory.
  [[nodiscard]] static Result<std::unique_ptr<Model>> create(const tidepool_gpu_api& gpu,
                                                             const tidepool_gpu_shape& shape,
                                                             std::unique_ptr<Model> cpu);
  ~GpuModel() override;

  [[nodiscard]] std::span<float> parameters() override { return cpu_->parameters(); }
  // A GPU that fails cannot be trained on: throws what it said.
  [[nodiscard]] double add_gradient(const BatchView& batch, std::span<float> gradient) override;

 private:
  GpuModel(const tidepool_gpu_api& gpu, tidepool_gpu_net* net, std::unique_ptr<Model> cpu)
      : gpu_(gpu), net_(net), cpu_(std::move(cpu)), fetched_(cpu_->parameters().size()) {}
  void must(int code, const char* what) const;

  const tidepool_gpu_api& gpu_;
  tidepool_gpu_net* net_;
  std::unique_ptr<Model> cpu_;
  std::vector<float> fetched_;
};

// The model where its gradients shall be computed; `cpu` itself if that is the CPU. Says in the log which it is, and
// why not the GPU if one was given.
[[nodiscard]] Result<std::unique_ptr<Model>> place_model(Device device, const tidepool_gpu_shape& shape,
                                                         std::unique_ptr<Model> cpu);

}  // namespace tidepool::trainer
