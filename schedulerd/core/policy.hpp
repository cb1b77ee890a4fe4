// What a policy is to the engine: pure code that ranks jobs and says which size each should have and
// why. It keeps no memory and never sees a clock: the same view gives the same answer. The engine
// alone enforces gang minimum, allowed sizes, free slots, cooldown, grace and rate limits.
#pragma once

#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "schedulerd/core/cluster_state.hpp"
#include "schedulerd/core/plan.hpp"
#include "schedulerd/core/step_budget.hpp"

namespace tidepool::core {

// What every policy sees: the state with all accepted plans carried out, and the decision's time.
// Valid during one call.
struct ClusterView {
  const ClusterState& state;
  Instant now;
};

// The size a job should have; 0 = should hold nothing now.
struct SizeWish {
  JobId job;
  int size = 0;
  Reason reason;
  std::vector<Alternative> lost;
};

class Policy {
 public:
  virtual ~Policy() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;

  // The jobs that wait, in the order in which they should start. Every pending job appears once.
  [[nodiscard]] virtual std::vector<JobId> order(const ClusterView& view, StepBudget& budget) const = 0;

  // Whether a job that does not fit keeps the ones behind it waiting (strict queue).
  [[nodiscard]] virtual bool strict_order() const = 0;

  // The size that `job` should have. Called for waiting jobs (their start size) and running ones.
  [[nodiscard]] virtual SizeWish size(const ClusterView& view, const Job& job, StepBudget& budget) const = 0;
};

}  // namespace tidepool::core
