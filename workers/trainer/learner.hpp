// The arithmetic of training on either device: a share's gradient, and the update by the sum over all workers. On the
// GPU, parameters, velocity and gradient stay in GPU memory; the session sums and sends them from there.
//
// Safe rule: both devices register the same blocks in the same order, and announce the same buckets over GPUs, so that
// workers of both kinds can train one job.
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

  // Call before join(): registers everything that makes up a replica, and the gradients.
  [[nodiscard]] virtual Status enlist(runtime::Session& session) = 0;

  // Computes the summed gradient of `batch`, in parts of at most `part` samples, and returns the summed loss. Throws
  // the GPU's error if the GPU fails, because training cannot continue on it.
  [[nodiscard]] virtual double compute(runtime::Session& session, const BatchView& batch, std::size_t part) = 0;
  // Computes the same and discards the result.
  virtual void waste(const BatchView& batch, std::size_t part) = 0;

  // Updates by the sum over all workers, after a reduce() that returned kCommit.
  virtual void apply(const SgdStep& step) = 0;
};

struct LearnerOptions {
  tidepool_gpu_shape shape{};
  double lr = 0.1;
  double momentum = 0.9;
};

// `model` must outlive the learner; its parameters stay in the model.
[[nodiscard]] std::unique_ptr<Learner> make_cpu_learner(Model& model, const LearnerOptions& options);
// Starts from the parameters of `initial`. Allocates GPU memory.
[[nodiscard]] Result<std::unique_ptr<Learner>> make_gpu_learner(const tidepool_gpu_api& gpu, Model& initial,
                                                                const LearnerOptions& options);

// --- shared by both kinds ---

// Floats [first, first + count) of the flat order.
struct FlatBlock {
  const char* name;
  std::size_t first;
  std::size_t count;
};
// Embedding table, W1, b1, W2, b2, in the order of gpu_api.h.
[[nodiscard]] std::array<FlatBlock, TIDEPOOL_GPU_BLOCKS> flat_blocks(const tidepool_gpu_shape& shape);

}  // namespace tidepool::trainer
