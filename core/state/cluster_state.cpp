#include "core/state/cluster_state.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tidepool::core {

const char* to_text(JobState state) {
  switch (state) {
    case JobState::kPending: return "pending";
    case JobState::kStarting: return "starting";
    case JobState::kRunning: return "running";
    case JobState::kResizing: return "resizing";
    case JobState::kSuspending: return "suspending";
    case JobState::kSuspended: return "suspended";
    case JobState::kSucceeded: return "succeeded";
    case JobState::kFailed: return "failed";
    case JobState::kCancelled: return "cancelled";
  }
  return "unknown";
}

const char* to_text(WorkerPhase phase) {
  switch (phase) {
    case WorkerPhase::kStarting: return "starting";
    case WorkerPhase::kReady: return "ready";
    case WorkerPhase::kMember: return "member";
    case WorkerPhase::kLeaving: return "leaving";
  }
  return "unknown";
}

const char* to_text(NoticeAnswer answer) {
  switch (answer) {
    case NoticeAnswer::kNone: return "none";
    case NoticeAnswer::kSaving: return "saving";
    case NoticeAnswer::kDone: return "done";
    case NoticeAnswer::kUntil: return "until";
    case NoticeAnswer::kRefuse: return "refuse";
  }
  return "unknown";
}

Job& ClusterState::mutable_job(JobId id) {
  std::shared_ptr<const Job>& slot = jobs.edit(id);
  // Taking a reference orders what follows after the release of a reference on another thread.
  const std::shared_ptr<const Job> held = slot;
  if (held.use_count() > 2) slot = std::make_shared<Job>(*held);
  // Every job is created as a plain Job (never as a const one), so writing through is defined.
  return const_cast<Job&>(*slot);
}

int Node::slots_held() const {
  return static_cast<int>(std::count_if(owners.begin(), owners.end(), [](WorkerId owner) { return !!owner; }));
}

bool Node::is_drained() const {
  return drain && std::all_of(owners.begin(), owners.end(), [](WorkerId owner) { return !owner; });
}

int ClusterState::slots_total() const {
  int total = 0;
  for (const auto& [id, node] : nodes) {
    if (node.state == NodeState::kUp) total += static_cast<int>(node.owners.size());
  }
  return total;
}

int ClusterState::slots_free() const {
  int free = 0;
  for (const auto& [id, node] : nodes) free += node.takes_workers() ? node.slots_free() : 0;
  return free;
}

std::vector<WorkerId> unknown_workers(const ClusterState& state, NodeId node, const std::vector<WorkerId>& running) {
  std::vector<WorkerId> unknown;
  for (const WorkerId id : running) {
    const Worker* worker = state.find_worker(id);
    if (worker == nullptr || worker->node != node) unknown.push_back(id);
  }
  return unknown;
}

}  // namespace tidepool::core
