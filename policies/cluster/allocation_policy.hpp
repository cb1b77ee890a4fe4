// A policy that sizes all jobs in one go; a place stage (place/place.hpp) places their workers. Pure: no clock, no
// memory, no randomness. Every answer is checked before it is used (allocation_check.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/decide/step_budget.hpp"
#include "core/state/plan.hpp"
#include "core/state/reason.hpp"
#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::cluster {

// What a reason is based on. Where the job's measurements say more than the sizes that it may have, or than a price
// that is none, they are reported instead (size_explorer.hpp).
enum class RestsOn { kElse, kSizes, kPrice, kNoPrice };
struct GrantReason {
  core::Reason reason;
  RestsOn rests_on = RestsOn::kElse;
};

struct Grant {
  int size = 0;           // 0 = should hold nothing now
  int type = -1;          // all its slots are of this type, an index into View::types; -1 = of any type
  bool declined = false;  // it must never run: admission control. Only for a job that has held nothing yet
  core::Reason reason;
  double score = 0;                     // of this size, comparable with the scores of the sizes that lost
  std::vector<core::Alternative> lost;  // best first
  Mark mark;                            // replaces the job's own
  bool unasked = false;                 // a policy file has not been asked about it (core/state/plan.hpp)
};

struct Allocation {
  std::vector<Grant> grants;       // one per row of View::jobs, in that order
  std::vector<std::size_t> order;  // all rows, in the order in which placement serves them
  // One per row, from a policy whose objective depends on where workers are; empty = the place stage decides.
  std::vector<Placement> placements;
  // For a policy that maximizes a sum of worth: what it reached, and what no choice of sizes could exceed; else 0 and
  // 0.
  double worth = 0;
  double bound = 0;
  Mark mark;                    // replaces View::mark
  std::optional<Instant> wake;  // the policy plans to change something at this time: it must be asked again then
};

class AllocationPolicy {
 public:
  virtual ~AllocationPolicy() = default;
  // `budget` counts what was looked at; a policy that exhausts it keeps what it has found so far.
  [[nodiscard]] virtual Allocation allocate(const View& view, core::StepBudget& budget) const = 0;
};

}  // namespace tidepool::policies::cluster
