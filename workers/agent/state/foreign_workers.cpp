// Workers that the present daemon does not know: workers of another cluster, and workers of a lost timeline, if the
// daemon's journal was restored from an older copy and assigns their ids again. A worker is identified by its id and
// its start.
#include <algorithm>
#include <csignal>
#include <utility>

#include "workers/agent/state/agent_state.hpp"

namespace tidepool::agent {
namespace {

// The name becomes a folder's name.
bool is_cluster_name(const std::string& text) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), legal);
}

}  // namespace

// False: workers of another cluster are being ended first; after that the agent contacts the daemon again.
bool AgentState::belongs_to(const std::string& cluster) {
  if (cluster == history_.cluster) return true;
  if (!is_cluster_name(cluster)) {
    act(CloseLink{"the daemon's cluster is \"" + cluster.substr(0, 80) +
                  "\"; it must have 1 to 64 letters, digits or '-'"});
    return false;
  }
  if (!history_.cluster.empty()) {
    std::erase_if(live_workers_, [](const auto& entry) {
      return entry.second.restartable && !entry.second.restartable->has_program();
    });
    for (const auto& [worker, ignored] : live_workers_) act(SignalWorker{worker, SIGKILL});
    if (!live_workers_.empty()) {
      act(CloseLink{std::to_string(live_workers_.size()) + " workers of cluster " + history_.cluster +
                    " belong to no daemon here and are ended first; then this node joins cluster " + cluster});
      return false;
    }
    act(ForgetRecords{history_.cluster});
    const std::string before = std::exchange(history_, {}).cluster;
    finished_.clear();
    audits_.clear();
    outbox_.clear();
    lost_.clear();
    for (const WorkerId worker : state_waits_.held()) take_steps(state_waits_.let_go(worker));
    state_waits_.clear();
    if (told_ended_) {
      act(CloseLink{"the ends of workers of cluster " + before + " were told to cluster " + cluster +
                    ", to which they mean nothing; this node joins it anew"});
      return false;
    }
  }
  history_.cluster = cluster;
  act(RecordCluster{cluster});
  return true;
}

// Records and orders of earlier versions contain no start: the id alone counts.
bool AgentState::names_another(const api::StartWorker& order) const {
  const auto known = history_.starts.find(order.worker);
  return order.started_at && known != history_.starts.end() && known->second != *order.started_at;
}

// Sends the daemon nothing more about the worker, because the daemon would attribute it to another worker.
void AgentState::lose(WorkerId worker) {
  const auto of_it = [worker](const api::FromWorkerReport& report) { return report.worker == worker; };
  outbox_.forget(worker);
  std::erase_if(audits_, of_it);
  finished_.erase(worker);
  if (lost_.contains(worker)) return;
  const auto found = live_workers_.find(worker);
  const bool has_process =
      found != live_workers_.end() && (!found->second.restartable || found->second.restartable->has_program());
  if (!has_process) {
    live_workers_.erase(worker);
    return forget(worker);
  }
  found->second.kill_at.reset();
  found->second.heart.reset();
  lost_.emplace(worker, Lost{});
  act(SignalWorker{worker, SIGKILL});
}

void AgentState::forget(WorkerId worker) {
  state_waits_.worker_ended(worker);
  history_.forget(worker);
  act(ForgetWorker{worker});
}

void AgentState::lost_has_ended(WorkerId worker) {
  live_workers_.erase(worker);
  Lost lost = std::move(lost_.extract(worker).mapped());
  forget(worker);
  if (!lost.next && !lost.stopped) return;
  if (lost.stopped || quitting_) return refuse_start(worker, "stopped before it was started on this node");
  handle(*lost.next);
}

}  // namespace tidepool::agent
