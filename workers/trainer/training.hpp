// Trains a model with stochastic gradient descent on the elastic runtime. The same function is used by a lone worker
// and by one of many.
#pragma once

#include <functional>
#include <memory>

#include "base/result.hpp"
#include "workers/runtime/session.hpp"
#include "workers/trainer/data_set.hpp"
#include "workers/trainer/learner.hpp"
#include "workers/trainer/model.hpp"
#include "workers/trainer/settings.hpp"

namespace tidepool::trainer {

// A model and its data. Task contains everything that makes up a replica, so it must outlive the session: however
// train() ends, the session reads from it until the session is destroyed.
struct Task {
  std::unique_ptr<DataSet> data;
  std::unique_ptr<Model> model;  // the initial parameters; on the CPU also the current ones
  tidepool_gpu_shape shape{};    // of the model
  std::unique_ptr<Learner> learner;
};

// Passed to `observe` after each committed step; the same on every worker, except for the rank.
struct StepReport {
  std::int64_t steps = 0;     // committed
  double loss = 0;            // mean over this step's samples, in nats
  std::uint64_t samples = 0;  // of this step, over all workers
  int rank = 0;
  int size = 1;
};

// Creates the task that the settings name, with the data in `folder`.
[[nodiscard]] Result<Task> build_task(const Settings& settings, const std::string& folder);

// Sets the session's options that follow from the settings: samples, batch and its rule, seed and steps.
void apply_settings(const Settings& settings, const DataSet& data, runtime::SessionOptions& options);

// Returns how the session ended, or why it failed. `observe` may be empty.
[[nodiscard]] Result<runtime::Ending> train(runtime::Session& session, Task& task, const Settings& settings,
                                            const std::function<void(const StepReport&)>& observe);

}  // namespace tidepool::trainer
