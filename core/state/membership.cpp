#include "core/state/membership.hpp"

#include <algorithm>
#include <iterator>

#include "base/id_set.hpp"

namespace tidepool::core {

bool is_live(const ClusterState& state, WorkerId id) {
  const Worker* worker = state.find_worker(id);
  return worker != nullptr && !worker->is_gone();
}

bool has_live_workers(const ClusterState& state, const Job& job) {
  return std::any_of(job.membership.workers.begin(), job.membership.workers.end(),
                     [&](WorkerId id) { return is_live(state, id); });
}

int size_with_joining(const Job& job) {
  const Transition* transition = job.phase.transition();
  if (transition != nullptr) return transition->to_size;
  return job.size() > 0 ? job.size() : static_cast<int>(job.membership.workers.size());
}

namespace {

bool survives(const ClusterState& state, WorkerId id) {
  return is_live(state, id) && state.find_worker(id)->phase != WorkerPhase::kLeaving;
}

}  // namespace

std::vector<WorkerId> survivors(const ClusterState& state, const Job& job) {
  std::vector<WorkerId> alive;
  std::copy_if(job.membership.members.begin(), job.membership.members.end(), std::back_inserter(alive),
               [&](WorkerId id) { return survives(state, id); });
  return alive;
}

std::size_t survivor_count(const ClusterState& state, const Job& job) {
  return static_cast<std::size_t>(std::count_if(job.membership.members.begin(), job.membership.members.end(),
                                                [&](WorkerId id) { return survives(state, id); }));
}

bool boots(const Worker& worker) {
  return (worker.phase == WorkerPhase::kStarting || worker.phase == WorkerPhase::kReady) && !worker.kill_at;
}

bool may_hold_state(const Worker& worker) {
  if (worker.kill_at || worker.is_gone()) return false;
  return worker.phase == WorkerPhase::kMember || worker.phase == WorkerPhase::kLeaving;
}

bool all_members_stay(const ClusterState& state, const Job& job) {
  return std::all_of(job.membership.members.begin(), job.membership.members.end(), [&](WorkerId id) {
    const Worker* worker = state.find_worker(id);
    return worker != nullptr && !worker->is_gone() && !worker->kill_at;
  });
}

std::optional<WorkerId> still_running(const ClusterState& state, const Job& job) {
  for (const WorkerId id : job.membership.members) {
    const Worker* worker = state.find_worker(id);
    const bool waits =
        worker != nullptr && !worker->is_gone() && !worker->kill_at && worker->joining == job.membership.generation;
    if (!waits) return id;
  }
  for (const WorkerId id : job.membership.workers) {
    const Worker& worker = *state.find_worker(id);
    if (worker.phase == WorkerPhase::kLeaving && !worker.is_gone()) return id;
  }
  return std::nullopt;
}

bool awaits_switch(const Job& job) {
  return !job.membership.members.empty() && !job.membership.switched;
}

bool has_stepped(const Job& job) {
  const auto& told_at = job.progress.reported_at;
  return told_at && (!job.last_start_at || *told_at >= *job.last_start_at);
}

bool winds_down(const Job& job) {
  return is_final(job.state()) || job.state() == JobState::kSuspending || job.progress.finished ||
         job.requests.cancel || job.recovery.misconfigured || job.recovery.restarts > job.spec.max_restarts;
}

bool is_on_its_way_out(const Job& job, const Worker& worker) {
  if (worker.is_gone()) return false;
  if (worker.phase == WorkerPhase::kLeaving || worker.kill_at) return true;
  return job.phase.transition() && contains(job.phase.transition()->leaving_workers, worker.id);
}

bool contains(const std::vector<WorkerId>& list, WorkerId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

std::vector<WorkerId> members_among(const Job& job, const std::vector<WorkerId>& workers) {
  const IdSet<WorkerId> named(workers.begin(), workers.end());
  std::vector<WorkerId> members = job.membership.members;
  std::erase_if(members, [&](WorkerId id) { return !named.contains(id); });
  return members;
}

}  // namespace tidepool::core
