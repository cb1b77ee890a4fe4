// Machines of the fleet: they come, go and break.
#include <algorithm>
#include <utility>

#include "core/state/membership.hpp"
#include "sim/fleet.hpp"

namespace tidepool::sim {
namespace {

constexpr double kNoisyStddev = 0.3;            // noise of a step's compute time on a noisy machine
constexpr std::int64_t kStuckAfterMs = 10'000;  // until an agent says so

using core::contains;

}  // namespace

// A worker on slower slots takes as much longer as a slow worker.
RankPace Fleet::usual_pace(const NodeKind& kind) {
  return {.slowdown = 1 / kind.speed};
}

// Nothing of a restartable worker is left either: what is kept of it was on that machine.
void Fleet::remove(int node, Instant now) {
  cut_off(node, true, now);
  std::vector<WorkerId> lost;
  for (const auto& [id, process] : at(node).processes) lost.push_back(id);
  for (const WorkerId id : lost) release(id, now);
  at(node).gone = true;
}

void Fleet::on(const NodeReturns& event, Instant now) {
  Node& node = at(event.node);
  if (node.gone) return;
  node.reachable = true;
  if (!node.agent.runs()) switch_on(event.node, now);
  if (node.notice) feed(event.node, *node.notice, now);
  std::set<JobId> jobs;
  for (const auto& [id, process] : node.processes) jobs.insert(process.job);
  for (const JobId job : jobs) {
    TrainingRun& run = runs_.at(job);
    if (run.next) {
      move_on(run, now);
    } else if (!run.stepping && !run.finished && run.generation > 0 && all_present(run.members) && all_run(run)) {
      resume(run, now);
    }
  }
}

void Fleet::on(const NodeReclaimed& event, Instant now) {
  if (at(event.node).gone) return;
  at(event.node).notice->at.reset();
  if (!at(event.node).reachable) return;  // it broke before
  cut_off(event.node, true, now);
  setup_.later(now + event.lasts, NodeReturns{event.node});
}

void Fleet::on(const NodeRecovers& event, Instant) {
  at(event.node).pace = usual_pace(at(event.node).kind);
}

void Fleet::break_something(const Fault& fault, Instant now) {
  const std::vector<int> there = present();
  const bool hits_node = fault.kind == FaultKind::kNodeCrash || fault.kind == FaultKind::kNodeCutOff ||
                         fault.kind == FaultKind::kNodeSlow || fault.kind == FaultKind::kNodeNoisy ||
                         fault.kind == FaultKind::kNodeReclaim;
  if (hits_node) {
    if (!there.empty()) break_node(there[fault.which % there.size()], fault, now);
    return;
  }
  std::vector<WorkerId> alive;
  for (const Node& node : nodes_) {
    for (const auto& [id, process] : node.processes) alive.push_back(id);
  }
  if (alive.empty()) return;
  strike(fault, alive[fault.which % alive.size()], now);
}

void Fleet::break_node(int node, const Fault& fault, Instant now) {
  if (fault.kind == FaultKind::kNodeReclaim) return reclaim(node, fault, now);
  if (fault.kind == FaultKind::kNodeCrash || fault.kind == FaultKind::kNodeCutOff) {
    if (!at(node).reachable) return;
    cut_off(node, fault.kind == FaultKind::kNodeCrash, now);
    setup_.later(now + fault.lasts, NodeReturns{node});
    return;
  }
  at(node).pace =
      fault.kind == FaultKind::kNodeSlow ? RankPace{.slowdown = fault.slowdown} : RankPace{.noise = kNoisyStddev};
  at(node).pace.slowdown *= usual_pace(at(node).kind).slowdown;
  setup_.later(now + fault.lasts, NodeRecovers{node});
}

std::vector<int> Fleet::present() const {
  std::vector<int> there;
  for (int node = 0; node < nodes(); ++node) {
    if (!at(node).gone) there.push_back(node);
  }
  return there;
}

void Fleet::reclaim(int node, const Fault& fault, Instant now) {
  if (!at(node).reachable || (at(node).notice && at(node).notice->at)) return;
  give_notice(node, now + fault.notice, now);
  setup_.later(now + fault.notice, NodeReclaimed{node, fault.lasts});
}

void Fleet::give_notice(int node, Instant ends, Instant now) {
  at(node).notice = agent::ReclaimLooked{ends};
  feed(node, *at(node).notice, now);
}

void Fleet::strike(const Fault& fault, WorkerId victim, Instant now) {
  Process& process = *find(victim);
  TrainingRun& run = runs_.at(process.job);
  switch (fault.kind) {
    case FaultKind::kWorkerDeath: kill(victim, now); break;
    case FaultKind::kWorkerSlow: process.slowdown = fault.slowdown; break;
    case FaultKind::kWorkerIgnores: process.ignores_notice = true; break;
    case FaultKind::kWorkerStuck:
      if (process.is_seat) break;  // not noticed: a program without a pulse looks as it always does
      process.stuck = true;
      if (contains(run.members, victim) || (run.next && contains(run.next->members, victim))) halt(run, now);
      // Pulses would only repeat this one; how long the computation may last is the agent's to watch.
      feed(where_.at(victim),
           agent::WorkerPulseReceived{victim, {run.step, api::PulsePhase::kComputing, kStuckAfterMs}}, now);
      break;
    case FaultKind::kTwoDeaths: {
      const std::vector<WorkerId> members = run.members;
      kill(victim, now);
      for (const WorkerId other : members) {
        if (other == victim || find(other) == nullptr) continue;
        kill(other, now);
        break;
      }
      break;
    }
    case FaultKind::kNodeCrash:
    case FaultKind::kNodeCutOff:
    case FaultKind::kNodeReclaim:
    case FaultKind::kNodeSlow:
    case FaultKind::kNodeNoisy: break;
  }
}

void Fleet::cut_off(int index, bool crashed, Instant now) {
  Node& node = at(index);
  std::set<JobId> jobs;
  for (const auto& [id, process] : node.processes) {
    TrainingRun& run = runs_.at(process.job);
    const bool matters = contains(run.members, id) || (run.next && contains(run.next->members, id));
    if (matters) jobs.insert(process.job);
  }
  for (const JobId job : jobs) halt(runs_.at(job), now);
  node.reachable = false;
  if (!crashed) return;
  node.agent.crash();
  std::vector<WorkerId> lost;
  for (auto& [id, process] : node.processes) {
    if (!process.is_seat) lost.push_back(id);
    process.runs = 0;
    process.stopping = false;
  }
  for (const WorkerId id : lost) release(id, now);
}

}  // namespace tidepool::sim
