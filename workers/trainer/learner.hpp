// The arithmetic of training wherever it is done: a share's gradient, and the update by the sum of all. On the GPU
// parameters, velocity and gradient never leave it: the session sums and sends them from there.
//
// Safe rule: everywhere the same blocks are registered in the same order, and over GPUs the same buckets announced, so
// that workers of both kinds train one job.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "base/result.hpp"
#include "workers/runtime/session.hpp"
#include "workers/trainer/gpu/gpu_api.h"
#include "workers/trainer/model.hpp"
#include "workers/trainer/sgd.hpp"

namespace tidepool::trainer {

class Learner {
 public:
  Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  virtual ~Learner() = default;

  // Before join(): registers all that makes up a replica, and the gradients.
  [[nodiscard]] virtual Status enlist(runtime::Session& session) = 0;

  // The summed gradient of `batch`, computed in parts of at most `part` samples; returns the summed loss. A GPU that
  // fails cannot be trained on: throws what it said.
  [[nodiscard]] virtual double compute(runtime::Session& session, const BatchView& batch, std::size_t part) = 0;
  // Computes and throws away.
  virtual void waste(const BatchView& batch, std::size_t part) = 0;

  // By the sum over all workers, after a reduce() that said so.
  virtual void apply(const SgdStep& step) = 0;
};

struct LearnerOptions {
  tidepool_gpu_shape shape{};
  double lr = 0.1;
  double momentum = 0.9;
};

// `model` must outlive it; there its parameters stay.
[[nodiscard]] std::unique_ptr<Learner> make_cpu_learner(Model& model, const LearnerOptions& options);
// Begins with the parameters of `initial`. Takes GPU memory.
[[nodiscard]] Result<std::unique_ptr<Learner>> make_gpu_learner(const tidepool_gpu_api& gpu, Model& initial,
                                                                const LearnerOptions& options);

// --- what both kinds share ---

// Floats [first, first + count) of the flat order.
struct FlatBlock {
  const char* name;
  std::size_t first;
  std::size_t count;
};
// Embedding table, W1, b1, W2, b2: as gpu_api.h orders them.
[[nodiscard]] std::array<FlatBlock, TIDEPOOL_GPU_BLOCKS> flat_blocks(const tidepool_gpu_shape& shape);

}  // namespace tidepool::trainer
