// Trains a model with stochastic gradient descent on the elastic runtime. The same function runs alone
// and as one of many workers.
#pragma once

#include <functional>

#include "base/result.hpp"
#include "workers/runtime/session.hpp"
#include "workers/trainer/model.hpp"
#include "workers/trainer/settings.hpp"

namespace tidepool::trainer {

// After each committed step; the same on every worker but for the rank.
struct StepReport {
  std::int64_t steps = 0;  // committed
  double loss = 0;         // mean over the global batch, in nats
  int rank = 0;
  int size = 1;
};

// Returns how the session ended, or why it failed. `observe` may be empty.
[[nodiscard]] Result<runtime::Ending> train(runtime::Session& session, Model& model, const Settings& settings,
                                            const std::function<void(const StepReport&)>& observe);

// The model that the settings name, over the data that they name in `folder`.
[[nodiscard]] Result<std::unique_ptr<Model>> build_model(const Settings& settings, const std::string& folder);

}  // namespace tidepool::trainer
