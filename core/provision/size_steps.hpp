// Steps between allowed sizes of jobs, each with the use of its slots: what more slots are worth to running jobs, and
// what is lost with fewer slots, wherever they are taken.
//
// A higher step never counts as more useful than a lower one, so that the best (or the cheapest) steps of all jobs
// together are steps that jobs can take.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state/cluster_state.hpp"

namespace tidepool::core {

class NodeRoom;

struct SizeStep {
  const Job* job = nullptr;
  int from = 0;  // workers
  int to = 0;
  double use = 0;         // use of each of its slots, relative to a slot at the job's smallest size (slot_worth.hpp)
  std::string type = {};  // for a step up: the slot type to which the job is bound; empty = any

  [[nodiscard]] int slots() const;
};
// The steps with the least useful slots first; for one job the step from its largest size first.
void sort_by_use(std::vector<SizeStep>& steps);

// The job runs, no change of it is in progress, and its policy chooses its size.
[[nodiscard]] bool runs_at_rest(const Job& job);

// Steps up of jobs that could use the slots of additional nodes of the pool, the best first. A job's gain is counted
// from `there`, when the nodes would be present, until the job's expected end.
struct SlotsMore {
  const PoolSpec& spec;
  Instant now;
  Instant there;
};
[[nodiscard]] std::vector<SizeStep> steps_up(const ClusterState& state, const SlotsMore& more);
// Whether the nodes have room for this many slots: a job with groups has room only for whole groups, each in one
// domain.
struct StepRoom {
  const NodeRoom& nodes;
  int slots = 0;
};
// The best of these steps for which there is room, with consecutive steps for each job.
[[nodiscard]] std::vector<SizeStep> best_within(const std::vector<SizeStep>& steps, const StepRoom& room);
// The room with additional nodes of the pool: the best of these steps there, and the use of each slot of the nodes
// beyond the steps for which there is room without them.
struct NodesMore {
  std::vector<SizeStep> best;
  double use = 0;
};
struct PoolNodes {
  const PoolSpec& pool;
  int count = 1;
};
[[nodiscard]] NodesMore with_nodes_more(const std::vector<SizeStep>& steps, const StepRoom& room,
                                        const PoolNodes& more);
// The number of nodes of the pool, at least one, that gives room to any single one of these steps that can run there.
[[nodiscard]] int nodes_for_a_step(const std::vector<SizeStep>& steps, const NodeRoom& room, const PoolSpec& pool);
// The total use of these steps, in slots.
[[nodiscard]] double use_of(const std::vector<SizeStep>& steps);
// Steps down of jobs that run only on slots of this type, those with the smallest loss first. Empty: of any type.
[[nodiscard]] std::vector<SizeStep> steps_down(const ClusterState& state, const std::string& slot_type);
// The step by which the job releases `workers` workers or more; none: it may not be as small as what would be left.
[[nodiscard]] std::optional<SizeStep> step_down(const Job& job, int workers);
// The smallest use, in slots, that these steps lose when they release `slots` slots; none: they cannot release as many.
[[nodiscard]] std::optional<double> lost_with(const std::vector<SizeStep>& steps, int slots);

}  // namespace tidepool::core
