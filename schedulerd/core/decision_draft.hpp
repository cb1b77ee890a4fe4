// One decision in the making: the state it is made from, what it has planned so far, and what the plan
// has used up. Planners read the state through it and write only here.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "schedulerd/core/engine.hpp"
#include "schedulerd/core/placement.hpp"
#include "schedulerd/core/plan.hpp"

namespace tidepool::core {

class DecisionDraft {
 public:
  DecisionDraft(const ClusterState& state, const Engine::Parts& parts, Instant now);

  [[nodiscard]] const ClusterState& state() const { return state_; }
  [[nodiscard]] ClusterView view() const { return {state_, now_}; }
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] const Engine::Parts& parts() const { return parts_; }
  [[nodiscard]] StepBudget& budget() { return budget_; }
  [[nodiscard]] const Policy& default_policy() const;
  // The policy that the job asked for, or the default one if it is not known here.
  [[nodiscard]] const Policy& policy_of(const Job& job) const;

  // An intent that says something new about its job is also its verdict.
  void conclude(const Job& job, Intent intent, const Reason& reason, std::vector<Alternative> lost = {});
  // An intent that only carries out what has been concluded before.
  void carry_out(Intent intent, Reason reason);
  // Ends a worker; a second stop of the same worker adds nothing.
  void stop(const Job& job, WorkerId worker, Duration grace, const Reason& reason);
  // What was found about the job without an intent; kept only if it is news.
  void find(const Job& job, const Reason& reason, std::vector<Alternative> lost = {});

  // Slots as this decision uses them up; built when first asked for.
  [[nodiscard]] FreeSlots& free_slots();
  [[nodiscard]] std::uint64_t& next_worker() { return next_worker_; }
  // Workers of this many slots that an empty cluster would hold.
  [[nodiscard]] int capacity(int slots_per_worker);

  // Places more workers of the job if there is room that its price cap allows: what the cap leaves is
  // shared out evenly among the new slots, and dearer nodes are left alone.
  [[nodiscard]] std::optional<std::vector<WorkerPlacement>> place_within_cap(const Job& job, GangRequest request);
  // Why `more` workers are too dear wherever they went, if they are.
  [[nodiscard]] std::optional<Reason> above_cap(const Job& job, int more);

  // Whether a job waits that could run once slots are free; growing jobs leave the slots to it.
  void set_queue_waits(bool waits) { queue_waits_ = waits; }
  [[nodiscard]] bool queue_waits() const { return queue_waits_; }

  // Numbers the decision and closes it.
  [[nodiscard]] Decision finish() &&;

 private:
  // Of the nodes that are up and not cordoned.
  [[nodiscard]] Money cheapest_slot_hour();

  const ClusterState& state_;
  const Engine::Parts& parts_;
  Instant now_;
  StepBudget budget_;
  Decision decision_;
  std::optional<FreeSlots> free_;
  std::set<WorkerId> stopped_;
  std::map<int, int> capacity_;
  std::optional<Money> cheapest_;
  std::uint64_t next_worker_;
  bool queue_waits_ = false;
};

// A finite number for a reason; ids go in as their number.
template <class Tag>
[[nodiscard]] double as_number(StrongId<Tag> id) {
  return static_cast<double>(id.number());
}

}  // namespace tidepool::core
