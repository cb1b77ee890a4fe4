// Steps between allowed sizes of jobs, each with what its slots bring: what more slots are worth to running jobs, and
// what is lost with fewer, wherever they are taken.
//
// A step further up is never counted as bringing more than one below it, so that the best (or the cheapest) steps of
// all jobs together are steps that jobs can take.
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
  double use = 0;         // of each of its slots, beside one of the job's smallest size (slot_worth.hpp)
  std::string type = {};  // of a step up: the type of slot to which the job is bound; empty = any

  [[nodiscard]] int slots() const;
};
// Those whose slots are of least use first; of a job's the one from its largest size.
void sort_by_use(std::vector<SizeStep>& steps);

// It runs, nothing of it changes, and its size is the policy's to choose.
[[nodiscard]] bool runs_at_rest(const Job& job);

// Steps up of jobs to which slots of the pool's nodes more could be of use, the best first. What a job gains is counted
// from `there`, when they would be there, until the job is expected to end.
struct SlotsMore {
  const PoolSpec& spec;
  Instant now;
  Instant there;
};
[[nodiscard]] std::vector<SizeStep> steps_up(const ClusterState& state, const SlotsMore& more);
// So many slots, on these nodes: of a job with groups only whole ones have room there, each in one domain.
struct StepRoom {
  const NodeRoom& nodes;
  int slots = 0;
};
// The best of these that there is room for, of each job those that follow on each other.
[[nodiscard]] std::vector<SizeStep> best_within(const std::vector<SizeStep>& steps, const StepRoom& room);
// The room with so many nodes of the pool more: the best of these steps there, and the use of each slot of the nodes,
// beside what there is room for without them.
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
// Nodes of the pool, one at least, by which each of these steps has room that may have room there.
[[nodiscard]] int nodes_for_a_step(const std::vector<SizeStep>& steps, const NodeRoom& room, const PoolSpec& pool);
// What these bring together, in slots.
[[nodiscard]] double use_of(const std::vector<SizeStep>& steps);
// Steps down of jobs that run on slots of this type alone, those that lose least first. Empty: of any type.
[[nodiscard]] std::vector<SizeStep> steps_down(const ClusterState& state, const std::string& slot_type);
// The one by which the job gives up so many workers, or more; none: it may not have as few as would be left.
[[nodiscard]] std::optional<SizeStep> step_down(const Job& job, int workers);
// The least use, in slots, that these lose with so many slots; none: they cannot give up as many.
[[nodiscard]] std::optional<double> lost_with(const std::vector<SizeStep>& steps, int slots);

}  // namespace tidepool::core
