#include "core/decide/claimants.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "core/decide/size_planner.hpp"
#include "core/decide/slot_reservations.hpp"
#include "core/decide/state_wait.hpp"
#include "core/place/slot_claims.hpp"
#include "core/state/measured/type_records.hpp"

namespace tidepool::core {
namespace {

// What a job in line lacks of what the plan gives it, if slots are all that keeps it from having it.
bool lacks_slots_alone(DecisionDraft& draft, const TargetedJob& entry) {
  const Job& job = *entry.job;
  const int size = entry.target->size;
  if (size <= job.size() || draft.alters(job.id)) return false;
  if (job.state() != JobState::kPending) return can_change(draft, job) && !growth_barred(draft, job, size);
  return !waits_for_state(draft, job) && !draft.above_cap(job, job.spec.elastic.sizes.front());
}

// In the order in which they are taken; those of a worker count once, where it is found first.
std::vector<GivenSlots> given_slots(DecisionDraft& draft, const IdSet<JobId>& releasing) {
  std::vector<GivenSlots> given{{.slots = std::max(0, static_cast<int>(draft.free_slots().free()))}};
  IdSet<WorkerId> counted;
  const auto give = [&](WorkerId id, JobId from, JobId for_job = {}) {
    const Worker& worker = *draft.state().find_worker(id);
    const bool comes = !worker.is_gone() && draft.state().find_node(worker.node)->takes_workers();
    if (!comes || !counted.insert(id)) return;
    const auto slots = static_cast<int>(worker.slots.size());
    given.push_back({.from = from, .node = worker.node, .slots = slots, .for_job = for_job});
  };
  for (const WorkerId worker : on_their_way_out(draft.state(), releasing)) give(worker, {});
  for (const PlannedIntent& planned : draft.plan()) {
    const auto* shrink = std::get_if<ShrinkIntent>(&planned.intent);
    if (shrink == nullptr) continue;
    for (const WorkerId worker : shrink->leaving_workers) give(worker, shrink->job);
  }
  for (const PlannedIntent& planned : draft.plan()) {
    const auto* preempts = std::get_if<PreemptIntent>(&planned.intent);
    if (preempts == nullptr) continue;
    for (const WorkerId worker : draft.state().find_job(preempts->job)->membership.workers) {
      give(worker, {}, preempts->for_job);
    }
  }
  for (const WorkerId worker : draft.leaving_workers()) give(worker, {});
  return given;
}

}  // namespace

void record_claimants(DecisionDraft& draft, const std::vector<TargetedJob>& line, const IdSet<JobId>& releasing) {
  const Plan& plan = draft.plan();
  const bool shrinks = std::any_of(plan.begin(), plan.end(), [](const PlannedIntent& planned) {
    return std::holds_alternative<ShrinkIntent>(planned.intent);
  });
  if (!shrinks) return;
  std::vector<LackingJob> lacking;
  for (const TargetedJob& entry : line) {
    if (!lacks_slots_alone(draft, entry)) continue;
    const Job& job = *entry.job;
    const bool has_types = draft.free_slots().has_several_types();
    lacking.push_back({.job = &job,
                       .slots = (entry.target->size - job.size()) * job.spec.gpus_per_worker,
                       .type = has_types ? bound_type(draft.state(), job) : std::nullopt});
  }
  if (!lacking.empty()) draft.record_claimants(claimants_of(draft.state(), given_slots(draft, releasing), lacking));
}

std::vector<TargetedJob> order_behind_claimants(std::vector<TargetedJob> line) {
  struct Giver {
    const TargetedJob* entry;
    ReleasedSlots slots;
  };
  std::map<JobId, std::vector<Giver>> givers;  // by claimant, the last in line first
  for (auto entry = line.rbegin(); entry != line.rend(); ++entry) {
    if (entry->target->size <= entry->job->size()) continue;
    for (const ReleasedSlots& slots : entry->job->preemption.released_slots)
      givers[slots.for_job].push_back({&*entry, slots});
  }
  if (givers.empty()) return line;
  std::vector<TargetedJob> from_the_last;
  IdSet<JobId> put;
  const std::function<void(const TargetedJob&)> put_before = [&](const TargetedJob& entry) {
    const Job& job = *entry.job;
    if (!put.insert(job.id)) return;
    const auto found = givers.find(job.id);
    if (found != givers.end() && entry.target->size > job.size()) {
      for (const Giver& giver : found->second) {
        if (still_lacks(job, giver.slots)) put_before(*giver.entry);
      }
    }
    from_the_last.push_back(entry);
  };
  for (auto entry = line.rbegin(); entry != line.rend(); ++entry) put_before(*entry);
  return {from_the_last.rbegin(), from_the_last.rend()};
}

std::optional<JobId> claimant_still_owed(const DecisionDraft& draft, const Job& job) {
  for (const ReleasedSlots& slots : job.preemption.released_slots) {
    const Job* claimant = draft.state().find_job(slots.for_job);
    const Target* target = claimant == nullptr ? nullptr : draft.planned_target(*claimant);
    const bool wants = target != nullptr && target->size > claimant->size() && !draft.changed(claimant->id);
    if (wants && still_lacks(*claimant, slots)) return claimant->id;
  }
  return std::nullopt;
}

}  // namespace tidepool::core
